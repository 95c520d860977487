#include "core/agent/checks/mentioned_paths.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/agent/checks/prose.h"
#include "core/base/error.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostPaths = 50;
constexpr std::size_t kLongest = 200;

/// Extensions of files: a name with one of them counts as a path even without a folder.
constexpr std::string_view kCommon[] = {
    "py",   "pyi",  "ipynb", "js",   "mjs", "cjs", "jsx", "ts",   "tsx", "vue",  "go",  "rs",
    "java", "kt",   "cpp",   "cc",   "cxx", "hpp", "rb",  "php",  "sh",  "md",   "rst", "txt",
    "json", "yaml", "yml",   "toml", "ini", "cfg", "csv", "html", "css", "scss", "sql", "proto"};
/// Besides, where a folder is named.
constexpr std::string_view kMore[] = {
    "c",     "m",     "mm",   "kts",   "scala",  "pl",         "pm",     "bash",   "zsh",  "fish",
    "ps1",   "bat",   "lua",  "swift", "cs",     "ex",         "exs",    "erl",    "hs",   "ml",
    "clj",   "dart",  "jl",   "zig",   "nim",    "graphql",    "thrift", "mdx",    "adoc", "jsonc",
    "json5", "jsonl", "conf", "xml",   "htm",    "sass",       "less",   "svg",    "png",  "jpg",
    "gif",   "tsv",   "lock", "cmake", "gradle", "properties", "tf",     "tfvars", "mk",   "patch",
    "diff",  "snap",  "tpl",  "j2",    "svelte"};
/// System headers look the same.
constexpr std::string_view kHeaders[] = {"h", "hh", "hxx", "hpp", "inl"};
/// Attributes of objects end like these: `response.json`.
constexpr std::string_view kAttributes[] = {"json", "html", "css",  "sql", "md",  "txt",  "ini",
                                            "cfg",  "toml", "yaml", "yml", "csv", "proto"};
constexpr std::string_view kOwners[] = {
    "self",  "this", "cls", "res",  "resp", "response", "req",   "request",  "r",      "e",   "ev",
    "event", "ctx",  "obj", "args", "body", "flask",    "axios", "document", "window", "page"};
/// With ".js" behind: not files but libraries.
constexpr std::string_view kLibraries[] = {
    "node",   "vue",    "react",    "next",     "nuxt",    "express",   "three",   "d3",
    "chart",  "p5",     "ember",    "backbone", "angular", "moment",    "ethers",  "web3",
    "alpine", "solid",  "video",    "pdf",      "hls",     "highlight", "prism",   "underscore",
    "lodash", "jquery", "require",  "discord",  "deno",    "knockout",  "leaflet", "mocha",
    "socket", "bull",   "passport", "nest",     "plotly",  "tensorflow"};
/// What builds make comes and goes.
constexpr std::string_view kBuilt[] = {
    "node_modules", "dist",          "build",  "target", "out",  ".git",     "__pycache__", "venv",
    ".venv",        "site-packages", "vendor", ".cache", ".tox", "coverage", "bin",         "obj"};
constexpr std::string_view kPlaceholders[] = {
    "foo",  "bar",     "baz",       "qux",     "xxx",    "file",     "filename", "path",
    "name", "example", "your_file", "my_file", "myfile", "yourfile", "something"};

bool is_path_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || (static_cast<unsigned char>(c) & 0x80) ||
         c == '_' || c == '.' || c == '/' || c == '-' || c == '+' || c == '@';
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from <= path.size()) {
    const std::size_t slash = std::min(path.find('/', from), path.size());
    if (slash > from) parts.push_back(path.substr(from, slash - from));
    from = slash + 1;
  }
  return parts;
}

std::string extension_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? ""
                                              : ascii_lower(std::string_view(name).substr(dot + 1));
}

std::string stem_of(const std::string& name) { return ascii_lower(name.substr(0, name.find('.'))); }

bool has_extension(const std::string& name) {
  const std::string extension = extension_of(name);
  return is_one_of(extension, kCommon) || is_one_of(extension, kMore) ||
         is_one_of(extension, kHeaders);
}

bool is_domain(const std::string& part) {
  static const Pattern pattern = Pattern::expression(
      R"((?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|edu|gov|co|ai|app|me|in|de|uk|eu))",
      LetterCase::ignored);
  return pattern.matches(part);
}

/// Without "./", ":12:3", "#L4" and what punctuation and brackets stand around it.
std::string bare(std::string_view word) {
  constexpr std::string_view kBefore = "([{<\"'`_,:";
  constexpr std::string_view kBehind = ")]}>\"'`_,;:.!?";
  while (!word.empty() && kBefore.find(word.front()) != std::string_view::npos)
    word.remove_prefix(1);
  while (!word.empty() && kBehind.find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  static const Pattern place =
      Pattern::expression(R"((?::\d+(?:[-:]\d+)*|#L?\d+(?:-L?\d+)?|\(\d+\)?)$)");
  if (const auto at = place.find(word)) word = word.substr(0, at->first);
  while (word.starts_with("./")) word.remove_prefix(2);
  return std::string(word);
}

bool is_file_name(const std::string& name) {
  const std::string extension = extension_of(name);
  const std::string stem = stem_of(name);
  if (!is_one_of(extension, kCommon) || extension == "hpp") return false;
  if (extension == "js" && is_one_of(stem, kLibraries)) return false;
  if (is_one_of(extension, kAttributes) && is_one_of(stem, kOwners)) return false;
  return stem != "self" && stem != "this";
}

/// @param marked  it stood in backticks or quotes
std::optional<MentionedPath> as_path(std::string_view word, bool marked) {
  const std::string path = bare(word);
  const bool usable = !path.empty() && path.size() <= kLongest && path.front() != '@' &&
                      path.front() != '-' && path.find("//") == std::string::npos &&
                      path.find("..") == std::string::npos &&
                      std::all_of(path.begin(), path.end(), is_path_character);
  if (!usable) return std::nullopt;
  const auto parts = parts_of(path);
  if (parts.empty() || path.starts_with("path/to")) return std::nullopt;
  for (const auto& part : parts)
    if (is_one_of(part, kBuilt) || is_one_of(stem_of(part), kPlaceholders)) return std::nullopt;
  if (path.find('/') == std::string::npos) {
    if (is_file_name(path)) return MentionedPath{path, false};
    return std::nullopt;
  }
  if (is_domain(parts.front())) return std::nullopt;
  // "README.md/CHANGELOG.md" are two.
  if (std::any_of(parts.begin(), parts.end() - 1, has_extension)) return std::nullopt;
  if (has_extension(parts.back()))
    return MentionedPath{path, is_one_of(extension_of(parts.back()), kHeaders)};
  if (!marked || parts.size() < 2) return std::nullopt;
  return MentionedPath{path, true};
}

/// The words alone: what stands in a path says nothing of it.
std::string without_paths(const std::string& sentence) {
  std::string words;
  std::size_t from = 0;
  while (from < sentence.size()) {
    const std::size_t end = std::min(sentence.find(' ', from), sentence.size());
    const std::string word = sentence.substr(from, end - from);
    const std::size_t mark = word.find_first_of("./");
    const bool is_path = mark != std::string::npos && word.find_last_not_of("./,:;!?)`\"") > mark;
    if (!is_path || word == "e.g.") words += word + " ";
    from = end + 1;
  }
  return words;
}

/// The sentence says that it isn't there, or what is in it is no path of this tree.
bool speaks_of_what_is_not(const std::string& sentence) {
  static const Pattern pattern = Pattern::expression(
      R"(n't\b|\b(?:not|no|never|nor|without|lacks?|missing|absent|gone|none|nonexistent|if|would)"
      R"(|e\.g\.|such as|for example|for instance|gitignored?|ignored?|branch(?:es)?|tags?|remotes?)"
      R"(|commits?|urls?|endpoints?|routes?|packages?|registry|images?|previously|formerly|used to)"
      R"(|future|later|upstream|could)\b)",
      LetterCase::ignored);
  return pattern.find(without_paths(sentence)).has_value();
}

/// What stands before the path says that it comes, goes or went.
bool comes_or_goes(const std::string& before) {
  static const Pattern anywhere = Pattern::expression(
      R"(\b(?:creat\w*|generat\w*|writ\w+|wrote|sav(?:e|es|ed|ing)|renam\w*|mov(?:e|es|ed|ing))"
      R"(|cop(?:y|ies|ied|ying)|extract\w*|split\w*|scaffold\w*|outputs?|produc\w*|delet\w*)"
      R"(|redirect\w*|put(?:s|ting)?|plac(?:e|ed|ing)|new|dump\w*|stor(?:e|es|ed|ing)|convert\w*)\b)",
      LetterCase::ignored);
  static const Pattern close = Pattern::expression(
      R"(\b(?:add\w*|introduc\w*|remov\w*|drop\w*|replac\w*|mak\w+|made|call\w*|nam\w+|includ\w*)"
      R"(|it|like|as)\b(?:\s+(?:a|an|the|file|files|module|script|folder|directory|test|tests|and)"
      R"(|it|as|also|named|called|both|small|separate|own|second|another|config|configuration))*)"
      R"(\s*[`"'(]*$)",
      LetterCase::ignored);
  return anywhere.find(without_paths(before)) || close.find(before);
}

class Finder {
 public:
  std::vector<MentionedPath> run(std::string_view message) {
    for (const auto& sentence : sentences_of(message))
      if (!speaks_of_what_is_not(sentence)) look_in(sentence);
    return std::move(found_);
  }

 private:
  /// Words, and what stands in backticks or quotes as a whole.
  void look_in(const std::string& sentence) {
    std::size_t at = 0;
    while (at < sentence.size()) {
      const char c = sentence[at];
      if (c == ' ') {
        ++at;
        continue;
      }
      const bool marked = c == '`' || c == '"';
      const std::size_t begin = marked ? at + 1 : at;
      std::size_t end = marked ? sentence.find(c, begin) : sentence.find(' ', begin);
      if (marked && end == std::string::npos) return;
      end = std::min(end, sentence.size());
      add(sentence.substr(begin, end - begin), marked, sentence.substr(0, at));
      at = end + 1;
    }
  }

  void add(const std::string& word, bool marked, const std::string& before) {
    // A word that leads into backticks: "(`a.py`)", "[text](docs/a.md)".
    const std::size_t inner = marked ? std::string::npos : word.find_first_of("`(");
    if (inner != std::string::npos && inner > 0 && inner + 1 < word.size() && word[inner] == '(' &&
        word[inner - 1] == ']')
      return add(word.substr(inner + 1), true, before);
    if (inner == 0 && word.size() > 2)
      return add(word.substr(1, word.find_last_not_of("`).,;:!?")), true, before);
    const auto path = as_path(word, marked);
    if (!path || found_.size() == kMostPaths || comes_or_goes(before)) return;
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const MentionedPath& one) {
      return one.path == path->path;
    });
    if (!known) found_.push_back(*path);
  }

  std::vector<MentionedPath> found_;
};

}  // namespace

std::vector<MentionedPath> mentioned_paths(std::string_view message) {
  return Finder().run(message);
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 8u << 20;  ///< of all paths: about 100,000 of them

bool is_skipped(const std::string& name) { return name == ".git" || name == "node_modules"; }

}  // namespace

bool PathLookup::may_exist(const std::string& mentioned) {
  fs::path path = fs::path(mentioned).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.is_absolute()) {
    path = path.lexically_relative(workspace_);
    if (path.empty() || *path.begin() == "..") return true;
  }
  if (path.empty() || path == "." || is_hidden_(workspace_ / path) || exists_at(path)) return true;
  list();
  const std::string end = "/" + path.string();
  return !complete_ || std::any_of(tree_.begin(), tree_.end(),
                                   [&](const std::string& one) { return one.ends_with(end); });
}

bool PathLookup::exists_at(const fs::path& path) const {
  try {
    return view_.status(path).has_value();
  } catch (const ToolError&) {
    return true;  // something is there, or on the way to it, that can't be read
  }
}

void PathLookup::list() {
  if (listed_) return;
  listed_ = complete_ = true;
  tree_.clear();
  std::size_t bytes = 0;
  std::vector<fs::path> folders = {"."};
  while (!folders.empty()) {
    const fs::path folder = folders.back();
    folders.pop_back();
    try {
      for (const FolderEntry& entry : view_.list(folder)) {
        const fs::path path = (folder / entry.name).lexically_normal();
        bytes += path.native().size();
        if (bytes > kMostBytes) {
          complete_ = false;
          return;
        }
        tree_.push_back("/" + path.string());
        if (entry.kind == FileStatus::Kind::folder && !is_skipped(entry.name))
          folders.push_back(path);
      }
    } catch (const ToolError&) {
      complete_ = false;
    }
  }
}

}  // namespace sortie
