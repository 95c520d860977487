#include "tests/support/document_blocks.h"

#include <fstream>

#include "core/config/yaml.h"

namespace sortie::test {

namespace fs = std::filesystem;

namespace {

const std::string kFence = "```";
const std::string kMarker = "<!-- test: ";

std::string file_of(const DocumentBlock& block) {
  if (block.marker.starts_with("file ")) return block.marker.substr(5);
  const std::string first = block.text.substr(0, block.text.find('\n'));
  if (!first.starts_with("# ") || first.find(' ', 2) != std::string::npos) return {};
  return first.ends_with(".yaml") || first.ends_with(".yml") ? first.substr(2) : std::string();
}

/// A text, or the lines of a list.
std::string lines_of(const YamlNode& node) {
  std::string lines = node.text;
  for (const YamlNode& item : node.items) lines += item.text + "\n";
  return lines;
}

void collect_scripts(const YamlNode& node, std::vector<std::string>& scripts) {
  for (const YamlNode& item : node.items) collect_scripts(item, scripts);
  for (const YamlMember& member : node.members) {
    const std::string& key = member.key.text;
    if (key == "run" || key == "script" || key == "args") scripts.push_back(lines_of(member.value));
    collect_scripts(member.value, scripts);
  }
}

}  // namespace

std::vector<std::string> scripts_of(const DocumentBlock& block) {
  if (block.language == "sh") return {block.text};
  std::vector<std::string> scripts;
  if (block.language == "yaml") {
    Diagnostics findings;
    const YamlNode root = read_yaml(findings.add_source(block.place, block.text), findings);
    // `run` of a task is another one's.
    if (root.find("version") == nullptr) collect_scripts(root, scripts);
  }
  const std::string quotes = "'''";
  const std::size_t begin = block.text.find("sh " + quotes);
  if (block.language == "groovy" && begin != std::string::npos) {
    const std::size_t at = begin + 3 + quotes.size();
    scripts.push_back(block.text.substr(at, block.text.find(quotes, at) - at));
  }
  return scripts;
}

std::vector<DocumentBlock> blocks_of(const std::string& document) {
  std::ifstream lines(fs::path(SORTIE_SOURCE_DIR) / document);
  std::vector<DocumentBlock> blocks;
  std::string section;
  std::string before;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("## ")) section = line.substr(3);
    if (line.starts_with(kFence)) {
      DocumentBlock block{.place = document + ":" + std::to_string(number + 1),
                          .section = section,
                          .language = line.substr(kFence.size())};
      if (before.starts_with(kMarker))
        block.marker = before.substr(kMarker.size(), before.rfind(" -->") - kMarker.size());
      for (; std::getline(lines, line) && line != kFence; block.text += line + "\n") ++number;
      ++number;
      block.file = file_of(block);
      blocks.push_back(std::move(block));
    }
    before = line;
  }
  return blocks;
}

void write_files(const std::vector<DocumentBlock>& blocks, const fs::path& folder) {
  for (const DocumentBlock& block : blocks) {
    if (block.file.empty()) continue;
    fs::create_directories((folder / block.file).parent_path());
    std::ofstream(folder / block.file) << block.text;
  }
}

}  // namespace sortie::test
