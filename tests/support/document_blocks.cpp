#include "tests/support/document_blocks.h"

#include <fstream>
#include <sstream>

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

}  // namespace

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
