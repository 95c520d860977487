#include "tools/files/search_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/files/open_beneath.h"
#include "core/text/git_quote.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"
#include "tools/files/searched_text.h"
#include "tools/search/line_search.h"
#include "tools/search/ordered_work.h"
#include "tools/search/tree_walk.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxGlobs = 64;
constexpr std::size_t kMostKept = 16u << 10;  ///< bytes; a longer text with a match is read again
constexpr std::size_t kMaxNamed = 5;          ///< unsearched files that the note names

std::string shown_path(std::string_view path) { return git_quoted_for_reading(path); }

/// "a{b,c}d" as "abd" and "acd": gitignore(5) has no braces, models write them.
void expand_braces(const std::string& glob, std::vector<std::string>& globs) {
  const std::size_t open = glob.find('{');
  const std::size_t close = open == glob.npos ? glob.npos : glob.find('}', open);
  if (close == glob.npos) {
    globs.push_back(glob);
    return;
  }
  for (std::size_t at = open + 1; at <= close;) {
    const std::size_t end = std::min(glob.find(',', at), close);
    if (globs.size() >= kMaxGlobs) throw ToolError("Invalid glob: too many alternatives");
    expand_braces(glob.substr(0, open) + glob.substr(at, end - at) + glob.substr(close + 1), globs);
    at = end + 1;
  }
}

/// Decides by the glob which files of the tree are searched.
class FileFilter {
 public:
  explicit FileFilter(std::string glob) {
    if (glob.starts_with("./")) glob.erase(0, 2);
    excludes_ = glob.starts_with('!');
    if (excludes_) glob.erase(0, 1);
    if (glob.empty()) return;
    if (glob.ends_with('/')) glob += "**";
    names_dots_ = !excludes_ && (glob.starts_with('.') || glob.find("/.") != glob.npos ||
                                 glob.find("{.") != glob.npos || glob.find(",.") != glob.npos);
    std::vector<std::string> expanded;
    expand_braces(glob, expanded);
    try {
      for (const auto& one : expanded)
        if (!one.empty()) globs_.emplace_back(one);
    } catch (const PatternError& error) {
      throw ToolError("Invalid glob: " + std::string(error.what()));
    }
  }
  bool passes(std::string_view path) const {
    if (globs_.empty()) return true;
    const std::size_t slash = path.rfind('/');
    const auto name = slash == path.npos ? path : path.substr(slash + 1);
    const bool any = std::any_of(globs_.begin(), globs_.end(),
                                 [&](const NameGlob& glob) { return glob.matches(path, name); });
    return any != excludes_;
  }

  /// Whether the glob names a dot name, and so asks for such names.
  bool names_dots() const { return names_dots_; }

 private:
  std::vector<NameGlob> globs_;
  bool excludes_ = false;
  bool names_dots_ = false;
};

void add_count(std::string& text, std::uint64_t count, const char* one, const char* many) {
  if (count == 0) return;
  if (!text.empty()) text += ", ";
  text += std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string counted(std::uint64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// One search: the request, and the results so far.
class Search {
 public:
  Search(const Json& arguments, const Clock& clock, const HiddenPaths& hidden,
         const SearchFilesOptions& options, const std::stop_token& stop)
      : lines_(pattern_of(arguments)),
        filter_(arguments.string_at("glob")),
        context_(static_cast<std::size_t>(arguments.integer_at("context", 0))),
        most_(static_cast<std::uint64_t>(arguments.integer_at("max_matches", 100))),
        hidden_(hidden),
        max_output_(options.max_output),
        clock_(clock),
        deadline_(clock.steady() + options.time_limit),
        stop_(stop),
        largest_(options.largest_file),
        reader_(options.largest_file) {}

  /// What a look at a file has found; most files have no match.
  struct Found {
    enum class Kind { excluded, read, no_match, match, unfinished };
    Kind kind = Kind::unfinished;
    SearchedText::Kind file = SearchedText::Kind::nothing;  ///< if `read`: why it is not searched
    const char* why = nullptr;
    std::optional<std::string> text{};  ///< of a match, unless it is long
  };
  /// A look of one thread: whether the file has a match. It changes nothing here.
  std::function<Found(const WalkedFile&)> look(const std::function<bool()>& is_over) const;
  /// Counts the file, and writes its matches. In the order of the paths.
  /// @return  false if the search has to end
  bool take(const WalkedFile& file, Found& found);
  /// Searches a file that the call names: neither globs nor ignore files exclude it.
  void search_named(const WalkedFile& file) {
    last_path_ = file.path;
    search_again(file);
  }
  bool may_go_on();
  bool is_hidden(std::string_view path) const { return hidden_ && hidden_(fs::path(path)); }
  /// Whether the glob asks for names that begin with a dot.
  bool names_dots() const { return filter_.names_dots(); }
  ToolResult result(const WalkCounts& counts, const std::string& where) const;

 private:
  enum class End { none, matches, output, time, stopped };

  static LineSearch pattern_of(const Json& arguments) {
    try {
      return LineSearch(arguments.string_at("pattern"));
    } catch (const PatternError& error) {
      throw ToolError(
          "Invalid pattern (RE2 syntax: no look-around, no back references; escape special "
          "characters with a backslash): " +
          std::string(error.what()));
    }
  }
  End why_to_end() const;
  void search_again(const WalkedFile& file);
  void count_unsearched(SearchedText::Kind kind, const char* why, std::string_view path);
  void note_unread(const char* why, std::string_view path);
  void search(std::string_view text, std::string_view path);
  std::string why_it_ended() const;

  LineSearch lines_;
  FileFilter filter_;
  std::size_t context_;
  std::uint64_t most_;
  const HiddenPaths& hidden_;
  std::size_t max_output_;
  const Clock& clock_;
  std::chrono::steady_clock::time_point deadline_;
  const std::stop_token& stop_;
  std::uint64_t largest_;

  SearchedText::Reader reader_;
  std::string text_;
  std::vector<std::string> not_read_;  ///< "PATH (why)", the first few
  std::string last_path_;
  struct Counts {
    std::uint64_t matches = 0;
    std::uint64_t files_with_matches = 0;
    std::uint64_t searched = 0;
    std::uint64_t passed_over = 0;  ///< files that the glob excludes
    std::uint64_t binary = 0;
    std::uint64_t failed = 0;
  } counts_;
  End end_ = End::none;
};

Search::End Search::why_to_end() const {
  if (stop_.stop_requested()) return End::stopped;
  return clock_.steady() >= deadline_ ? End::time : End::none;
}

bool Search::may_go_on() {
  if (end_ == End::none) end_ = why_to_end();
  return end_ == End::none;
}

void Search::note_unread(const char* why, std::string_view path) {
  if (is_hidden(path)) return;
  ++counts_.failed;
  if (not_read_.size() < kMaxNamed) not_read_.push_back(shown_path(path) + " (" + why + ")");
}

void Search::search(std::string_view text, std::string_view path) {
  MatchText shown(text, context_, text_);
  bool any = false;
  lines_.search(
      text,
      [&](const LineMatch& match) {
        // Checked only when there is something to show: most files have no match.
        if (!any && is_hidden(path)) return false;
        if (!any && std::memchr(text.data(), 0, text.size()) != nullptr) {
          --counts_.searched;
          ++counts_.binary;
          return false;
        }
        if (counts_.matches >= most_ || text_.size() >= max_output_) {
          end_ = counts_.matches >= most_ ? End::matches : End::output;
          return false;
        }
        if (!any) text_ += (text_.empty() ? "" : "\n") + shown_path(path) + "\n";
        any = true;
        ++counts_.matches;
        shown.add(match);
        return true;
      },
      [this] { return may_go_on(); });
  if (!any) return;
  shown.finish();
  ++counts_.files_with_matches;
}

std::function<Search::Found(const WalkedFile&)> Search::look(
    const std::function<bool()>& is_over) const {
  const auto reader = std::make_shared<SearchedText::Reader>(largest_);
  return [this, is_over, reader](const WalkedFile& file) -> Found {
    const auto goes_on = [&] { return !is_over() && why_to_end() == End::none; };
    if (!goes_on()) return {};
    if (!filter_.passes(file.path)) return {.kind = Found::Kind::excluded};
    const SearchedText read = reader->read(file);
    if (read.kind != SearchedText::Kind::text)
      return {.kind = Found::Kind::read, .file = read.kind, .why = read.why};
    bool any = false;
    const auto on_match = [&any](const LineMatch&) {
      any = true;
      return false;
    };
    if (!lines_.search(read.text, on_match, goes_on)) return {};
    Found found{.kind = any ? Found::Kind::match : Found::Kind::no_match};
    if (any && read.text.size() <= kMostKept) found.text = read.text;
    return found;
  };
}

void Search::count_unsearched(SearchedText::Kind kind, const char* why, std::string_view path) {
  if (kind == SearchedText::Kind::binary) ++counts_.binary;
  if (kind == SearchedText::Kind::unread) note_unread(why, path);
}

void Search::search_again(const WalkedFile& file) {
  const SearchedText read = reader_.read(file);
  if (read.kind != SearchedText::Kind::text)
    return count_unsearched(read.kind, read.why, file.path);
  ++counts_.searched;
  search(read.text, file.path);
}

bool Search::take(const WalkedFile& file, Found& found) {
  if (end_ != End::none) return false;  // the walk was ended
  if ((counts_.searched + counts_.passed_over) % 64 == 0 && !may_go_on()) return false;
  last_path_ = file.path;
  switch (found.kind) {
    case Found::Kind::excluded:
      ++counts_.passed_over;
      break;
    case Found::Kind::read:
      count_unsearched(found.file, found.why, file.path);
      break;
    case Found::Kind::no_match:
      ++counts_.searched;
      break;
    case Found::Kind::match:
      if (!found.text) {
        search_again(file);
        break;
      }
      ++counts_.searched;
      search(*found.text, file.path);
      break;
    case Found::Kind::unfinished:
      if (may_go_on()) search_again(file);
      break;
  }
  return end_ == End::none;
}

std::string Search::why_it_ended() const {
  const std::string where = last_path_.empty() ? "" : ", in " + shown_path(last_path_);
  switch (end_) {
    case End::none:
      return "";
    case End::matches:
      return "; there are more: the search ended at max_matches" + where;
    case End::output:
      return "; there may be more: the search ended at " + size_in_words(max_output_) +
             " of output" + where;
    case End::time:
      return "; there may be more: the search ended at its time limit" + where;
    case End::stopped:
      return "; there may be more: the search was stopped" + where;
  }
  return "";
}

ToolResult Search::result(const WalkCounts& counts, const std::string& where) const {
  ToolResult result;
  result.head = counts_.matches == 0
                    ? "No line matches" + where
                    : counted(counts_.matches, "line matches", "lines match") + where + ", in " +
                          counted(counts_.files_with_matches, "file", "files");
  result.head += why_it_ended() + "\n";
  result.text = text_;
  std::string left_out;
  add_count(left_out, counts.ignored, "ignored name", "ignored names");
  add_count(left_out, counts.dot_names, "name that begins with a dot",
            "names that begin with a dot");
  add_count(left_out, counts_.binary, "binary file", "binary files");
  add_count(left_out, counts.links, "link", "links");
  add_count(left_out, counts.special, "pipe, socket or device", "pipes, sockets and devices");
  add_count(left_out, counts.closed_folders, "unreadable folder", "unreadable folders");
  add_count(left_out, counts.deep_folders, "folder too deep", "folders too deep");
  add_count(left_out, counts_.passed_over, "file excluded by the glob",
            "files excluded by the glob");
  result.note = "searched " + counted(counts_.searched, "file", "files");
  if (!left_out.empty()) result.note += "; left out: " + left_out;
  if (counts_.failed > 0) {
    result.note += "; not searched:";
    for (const auto& one : not_read_) result.note += " " + one;
    if (counts_.failed > not_read_.size())
      result.note += " and " + std::to_string(counts_.failed - not_read_.size()) + " more";
  }
  return result;
}

}  // namespace

SearchFiles::SearchFiles(const DiskFiles& files, fs::path workspace, const Clock& clock,
                         HiddenPaths hidden, SearchFilesOptions options)
    : files_(files),
      workspace_(std::move(workspace)),
      clock_(clock),
      hidden_(std::move(hidden)),
      options_(std::move(options)) {
  spec_.name = "search_files";
  spec_.description =
      "Searches text files for lines that match a regular expression (RE2 syntax; (?i) ignores "
      "case). Skips files that .gitignore, .ignore or .git/info/exclude list, binary files and "
      "links, unless `path` names them, and names that begin with a dot, unless git tracks them or "
      "`path` or `glob` names them. Results are sorted by path; below each path its lines: "
      "12:match, 13-context.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {
      "pattern": {"type": "string", "minLength": 1, "maxLength": 4096,
                  "description": "Regular expression, matched against each line separately."},
      "path": {"type": "string", "description": "File or folder to search. Default: the workspace."},
      "glob": {"type": "string", "maxLength": 1024,
               "description": "Search only these files: '*.py', '*.{h,cpp}', 'src/**/*.ts'. '!*.min.js' excludes files."},
      "context": {"type": "integer", "minimum": 0, "maximum": 20,
                  "description": "Lines of context around each match. Default: 0."},
      "max_matches": {"type": "integer", "minimum": 1, "maximum": 2000,
                      "description": "Maximum number of matching lines. Default: 100."}
    },
    "required": ["pattern"],
    "additionalProperties": false
  })");
}

std::vector<Action> SearchFiles::actions(const Json& arguments) const {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  if (path == ".") return {ReadPath{path}};
  return {ReadPath{path}, ReadPath{files_.resolve(path)}};
}

IgnoreRules SearchFiles::rules_above(const fs::path& folder) {
  std::call_once(outer_ignore_files_once_, [this] {
    if (options_.outer_ignore_files) outer_ignore_files_ = options_.outer_ignore_files();
  });
  IgnoreRules rules = outer_rules(outer_ignore_files_);
  if (folder == ".") return rules;
  fs::path above;
  for (const auto& part : folder) {
    const Fd on_the_way =
        open_beneath(files_.root(), above.empty() ? "." : above.string(), O_PATH | O_DIRECTORY);
    if (on_the_way) add_rules_of(on_the_way.get(), above.string(), rules);
    above /= part;
  }
  return rules;
}

bool SearchFiles::is_kept_dot_name(std::string_view path) {
  std::call_once(dot_names_once_, [this] {
    if (options_.dot_names) dot_names_ = options_.dot_names();
  });
  return dot_names_.contains(path);
}

ToolResult SearchFiles::run(const Json& arguments, std::stop_token stop) {
  Search search(arguments, clock_, hidden_, options_, stop);
  const fs::path path = workspace_path(arguments.string_at("path"), workspace_);
  const fs::path start = path == "." ? path : files_.resolve(path);
  const auto status = files_.status(start);
  if (!status) throw ToolError(missing_path(files_, path, hidden_));
  if (status->kind == FileStatus::Kind::other || status->kind == FileStatus::Kind::symlink)
    throw ToolError(path.string() + ": not a file or folder");
  const bool is_folder = status->kind == FileStatus::Kind::folder;
  const fs::path folder = is_folder ? start : start.has_parent_path() ? start.parent_path() : ".";
  Fd open = open_beneath(files_.root(), folder.string(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!open) throw ToolError(path.string() + ": " + errno_text(errno));
  const std::string where = path == "." ? "" : " in " + shown_path(path.string());
  if (!is_folder) {
    const std::string name = start.filename().string();
    const std::string whole = start.string();
    search.search_named({std::make_shared<const Fd>(std::move(open)), name.c_str(), whole});
    return search.result({}, where);
  }

  WalkOptions walk_options;
  walk_options.dot_names = search.names_dots();
  walk_options.keeps_dot_name = [this](std::string_view name) { return is_kept_dot_name(name); };
  walk_options.goes_on = [&search] { return search.may_go_on(); };
  TreeWalk walk(
      rules_above(start), [&](const std::string& below) { return !search.is_hidden(below); },
      std::move(walk_options));
  const OrderedWork<Search::Found>* work = nullptr;
  OrderedWork<Search::Found> files(
      [&] { return search.look([&work] { return work != nullptr && work->is_over(); }); },
      [&](const WalkedFile& file, Search::Found& found) { return search.take(file, found); });
  work = &files;
  walk.run(std::move(open), start == "." ? "" : start.string(),
           [&](const WalkedFile& file) { return files.add(file); });
  files.finish();
  return search.result(walk.counts(), where);
}

}  // namespace sortie
