#include "core/git/config/git_config_text.h"

#include <algorithm>
#include <string_view>

#include "core/text/text.h"

namespace sortie {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_key_char(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

//   file    = { blank | comment | section | setting }
//   section = "[" name [ blanks '"' subsection '"' ] "]"     name: letters, digits, "-", "."
//   setting = letter { letter | digit | "-" } [ blanks "=" value ] newline
//   value   = to the end of the line; "\" joins lines and quotes, '"' quotes, "#" and ";" comment
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
  }

  std::optional<std::vector<GitSetting>> read() {
    std::string section;
    for (;;) {
      const char c = next();
      if (c == '\n') {
        if (ended_) return settings_;
      } else if (c == '#' || c == ';') {
        while (next() != '\n') {
        }
        if (ended_) return settings_;
      } else if (c == '[') {
        section.clear();
        if (!read_section(section)) return std::nullopt;
        section += '.';
      } else if (is_letter(c)) {
        if (!read_setting(section + ascii_lower(c))) return std::nullopt;
      } else if (!is_space(c)) {
        return std::nullopt;
      }
    }
  }

 private:
  /// Returns a newline at the end of the file, even if there is none; CR LF is one newline.
  char next() {
    if (at_ >= text_.size()) {
      ended_ = true;
      return '\n';
    }
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    return text_[at_++];
  }

  bool read_section(std::string& name) {
    for (;;) {
      const char c = next();
      if (ended_) return false;
      if (c == ']') return true;
      if (is_space(c)) return read_subsection(name, c);
      if (!is_key_char(c) && c != '.') return false;
      name += ascii_lower(c);
    }
  }

  bool read_subsection(std::string& name, char c) {
    while (is_space(c)) {
      if (c == '\n') return false;
      c = next();
    }
    if (c != '"') return false;
    name += '.';
    for (;;) {
      c = next();
      if (c == '\n') return false;
      if (c == '"') return next() == ']';
      if (c == '\\') c = next();
      if (c == '\n') return false;
      name += c;
    }
  }

  bool read_setting(std::string key) {
    char c = next();
    for (; !ended_ && is_key_char(c); c = next()) key += ascii_lower(c);
    while (c == ' ' || c == '\t') c = next();
    std::string value;
    const bool bare = c == '\n';
    if (!bare && (c != '=' || !read_value(value))) return false;
    settings_.push_back({std::move(key), std::move(value), bare});
    return true;
  }

  bool read_value(std::string& value) {
    bool quoted = false;
    std::size_t blanks = 0;
    for (;;) {
      char c = next();
      if (c == '\n') return !quoted;
      if (is_space(c) && !quoted) {
        blanks += value.empty() ? 0 : 1;
        continue;
      }
      if (!quoted && (c == '#' || c == ';')) {
        while (next() != '\n') {
        }
        return true;
      }
      value.append(blanks, ' ');
      blanks = 0;
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (c == '\\') {
        c = next();
        if (c == '\n') continue;
        if (c == 't')
          c = '\t';
        else if (c == 'b')
          c = '\b';
        else if (c == 'n')
          c = '\n';
        else if (c != '\\' && c != '"')
          return false;
      }
      value += c;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ended_ = false;
  std::vector<GitSetting> settings_;
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\b')
      result += "\\b";
    else
      (c == '"' || c == '\\' ? result += '\\' : result) += c;
  }
  return result;
}

/// The line "[section]" for a key. In a subsection only quotes and backslashes are escaped.
std::string section_line(std::string_view key) {
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  std::string line = "[" + std::string(key.substr(0, first));
  if (last > first) {
    line += " \"";
    for (const char c : key.substr(first + 1, last - first - 1)) {
      if (c == '"' || c == '\\') line += '\\';
      line += c;
    }
    line += '"';
  }
  return line + "]\n";
}

/// Extensions that do not affect reading: they tell where objects come from or must not be removed,
/// name another configuration file, or tell how worktrees refer to each other. start_libgit2()
/// lists them too.
constexpr std::string_view kHarmlessExtensions[] = {"noop", "partialclone", "worktreeconfig",
                                                    "preciousobjects", "relativeworktrees"};

std::string obstacle_of(std::string_view extension, const std::string& value, bool counts) {
  if (extension == "objectformat")
    return value == "sha1" ? "" : "its object ids are " + value + ", not sha1";
  if (extension == "refstorage")
    return value == "files" ? "" : "its references are stored as " + value + ", not as files";
  const auto* const known =
      std::find(std::begin(kHarmlessExtensions), std::end(kHarmlessExtensions), extension);
  // In format 0 git ignores unknown extensions.
  if (!counts || known != std::end(kHarmlessExtensions)) return "";
  return "it has the extension " + std::string(extension);
}

}  // namespace

std::string write_git_config(const std::vector<GitSetting>& settings) {
  std::string text;
  std::string section;
  for (const GitSetting& setting : settings) {
    // A key without a dot comes before the first section, which git accepts.
    const std::size_t last = setting.key.rfind('.');
    const std::string line = last == std::string::npos ? "" : section_line(setting.key);
    if (line != section) text += section = line;
    text += '\t' + setting.key.substr(last + 1);
    if (!setting.bare) text += " = \"" + escaped(setting.value) + '"';
    text += '\n';
  }
  return text;
}

std::optional<std::vector<GitSetting>> parse_git_config(std::string_view text) {
  return Reader(text).read();
}

std::string unsupported_format(const std::vector<GitSetting>& settings) {
  constexpr std::string_view kPrefix = "extensions.";
  std::string version = "0";
  for (const GitSetting& setting : settings)
    if (setting.key == "core.repositoryformatversion") version = setting.value;
  if (version != "0" && version != "1") return "its format is version " + version;
  for (const GitSetting& setting : settings) {
    if (!setting.key.starts_with(kPrefix)) continue;
    const std::string_view name = std::string_view(setting.key).substr(kPrefix.size());
    std::string obstacle = obstacle_of(name, ascii_lower(setting.value), version == "1");
    if (!obstacle.empty()) return obstacle;
  }
  return "";
}

}  // namespace sortie
