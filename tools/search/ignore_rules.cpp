#include "tools/search/ignore_rules.h"

#include <algorithm>

namespace sortie {
namespace {

constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::size_t kMostRules = 20'000;

/// Without blanks at the end, but for those behind a backslash.
std::string_view without_trailing_blanks(std::string_view line) {
  while (line.ends_with(' ')) {
    std::size_t slashes = 0;
    while (slashes + 1 < line.size() && line[line.size() - 2 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 1) break;
    line.remove_suffix(1);
  }
  return line;
}

std::size_t index_of(IgnoreRules::Kind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

IgnoreFile::IgnoreFile(std::string_view text) {
  text = text.substr(0, kMostBytes);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty() && rules_.size() < kMostRules) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void IgnoreFile::add(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with('#')) return;
  line = without_trailing_blanks(line);
  const bool keeps = line.starts_with('!');
  if (keeps) line.remove_prefix(1);
  const bool folders_only = line.ends_with('/');
  if (folders_only) line.remove_suffix(1);
  if (line.empty()) return;
  try {
    rules_.push_back({NameGlob(line), folders_only, keeps});
  } catch (const PatternError&) {  // git has no message for it either
  }
}

IgnoreVerdict IgnoreFile::judge(std::string_view path, std::string_view name,
                                bool is_folder) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if ((is_folder || !rule->folders_only) && rule->glob.matches(path, name))
      return rule->keeps ? IgnoreVerdict::kept : IgnoreVerdict::ignored;
  return IgnoreVerdict::nothing;
}

void IgnoreRules::add_outer(Kind kind, std::string prefix, std::string_view text) {
  IgnoreFile file(text);
  if (!file.empty()) levels_[index_of(kind)].push_back({"", std::move(prefix), std::move(file)});
}

void IgnoreRules::add(Kind kind, std::string folder, std::string_view text) {
  IgnoreFile file(text);
  if (!file.empty()) levels_[index_of(kind)].push_back({std::move(folder), "", std::move(file)});
}

void IgnoreRules::leave(std::string_view folder) {
  for (auto& levels : levels_)
    while (!levels.empty() && levels.back().prefix.empty() && levels.back().folder == folder)
      levels.pop_back();
}

IgnoreVerdict IgnoreRules::judge(std::string_view path, std::string_view name,
                                 bool is_folder) const {
  for (const auto& levels : levels_) {
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
      IgnoreVerdict verdict = IgnoreVerdict::nothing;
      if (!level->prefix.empty()) {
        verdict = level->file.judge(level->prefix + "/" + std::string(path), name, is_folder);
      } else {
        const std::size_t skipped = level->folder.empty() ? 0 : level->folder.size() + 1;
        verdict = level->file.judge(path.substr(skipped), name, is_folder);
      }
      if (verdict != IgnoreVerdict::nothing) return verdict;
    }
  }
  return IgnoreVerdict::nothing;
}

IgnoreRules outer_rules(const std::vector<OuterIgnoreFile>& files) {
  using Kind = IgnoreRules::Kind;
  IgnoreRules rules;
  for (const OuterIgnoreFile& file : files)
    rules.add_outer(file.kind == OuterIgnoreFile::Kind::exclude ? Kind::exclude : Kind::gitignore,
                    file.prefix, file.text);
  return rules;
}

}  // namespace sortie
