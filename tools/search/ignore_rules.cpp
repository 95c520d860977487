#include "tools/search/ignore_rules.h"

#include <algorithm>

namespace sortie {
namespace {

constexpr std::string_view kSpecialInGlobs = "*?[\\";

/// Appended to a glob and to the paths it is compared with: Pattern's globs also match everything
/// below a path, which is not wanted here.
constexpr char kEnd = '\x01';

bool is_plain(std::string_view text) { return text.find_first_of(kSpecialInGlobs) == text.npos; }

/// Whether a set is not closed: for git such a glob matches nothing.
bool has_open_set(std::string_view glob) {
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\') {
      ++i;
    } else if (glob[i] == '[') {
      i = glob.find(']', i + 2);
      if (i == glob.npos) return true;
    }
  }
  return false;
}

/// Replaces each `**` that is not alone between slashes by `*`, which it means there.
std::string with_single_stars(std::string_view glob) {
  std::string text;
  for (std::size_t i = 0; i < glob.size();) {
    std::size_t end = i;
    while (end < glob.size() && glob[end] == '*') ++end;
    if (end == i) {
      text += glob[i];
      if (glob[i] == '\\' && i + 1 < glob.size()) text += glob[++i];
      ++i;
      continue;
    }
    const bool alone = (i == 0 || glob[i - 1] == '/') && (end == glob.size() || glob[end] == '/');
    text += alone && end - i > 1 ? "**" : "*";
    i = end;
  }
  return text;
}

constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::size_t kMostRules = 20'000;

/// The line without trailing blanks, except those after a backslash.
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

NameGlob::NameGlob(std::string_view glob) {
  const bool in_path = glob.find('/') != glob.npos;
  if (glob.starts_with('/')) glob.remove_prefix(1);
  if (has_open_set(glob)) throw PatternError("a set that does not end: [");
  if (is_plain(glob)) {
    form_ = in_path ? Form::path : Form::name;
    text_ = glob;
  } else if (!in_path && glob.front() == '*' && is_plain(glob.substr(1))) {
    form_ = Form::name_end;
    text_ = glob.substr(1);
  } else if (in_path) {
    form_ = Form::path_glob;
    pattern_ = Pattern::path_glob(with_single_stars(glob) + kEnd);
  } else {
    form_ = Form::name_glob;
    pattern_ = Pattern::word_glob(glob);
  }
}

bool NameGlob::matches(std::string_view path, std::string_view name) const {
  switch (form_) {
    case Form::name:
      return name == text_;
    case Form::name_end:
      return name.ends_with(text_);
    case Form::path:
      return path == text_;
    case Form::name_glob:
      return pattern_->matches(name);
    case Form::path_glob:
      return pattern_->matches(std::string(path) + kEnd);
  }
  return false;
}

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
  } catch (const PatternError&) {  // git ignores it silently, too
  }
}

IgnoreVerdict IgnoreFile::verdict(std::string_view path, std::string_view name,
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

IgnoreVerdict IgnoreRules::verdict(std::string_view path, std::string_view name,
                                   bool is_folder) const {
  for (const auto& levels : levels_) {
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
      IgnoreVerdict verdict = IgnoreVerdict::nothing;
      if (!level->prefix.empty()) {
        verdict = level->file.verdict(level->prefix + "/" + std::string(path), name, is_folder);
      } else {
        const std::size_t skipped = level->folder.empty() ? 0 : level->folder.size() + 1;
        verdict = level->file.verdict(path.substr(skipped), name, is_folder);
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
