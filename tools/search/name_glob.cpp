#include "tools/search/name_glob.h"

namespace sortie {
namespace {

constexpr std::string_view kSpecialInGlobs = "*?[\\";

/// Stands at the end of a glob and of the paths it is compared with: Pattern's globs match all that
/// is below a path too, which is not meant here.
constexpr char kEnd = '\x01';

bool is_plain(std::string_view text) { return text.find_first_of(kSpecialInGlobs) == text.npos; }

/// Whether a set is begun and not ended: git lets such a glob match nothing.
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

/// `**` means folders where it stands alone between slashes; anywhere else it is a `*`.
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

}  // namespace sortie
