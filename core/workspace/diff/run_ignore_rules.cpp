#include "core/workspace/diff/run_ignore_rules.h"

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/workspace/start_record.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr const char* kRules = ".gitignore";
constexpr std::uint64_t kMostRules = 1u << 20;

bool is_rule_file(const std::string& path) {
  return path == kRules || path.ends_with(std::string("/") + kRules);
}

}  // namespace

RunIgnoreRules::RunIgnoreRules(const Files& view, const StartState& start,
                               const std::vector<ChangedPath>& changes)
    : view_(view), start_(start) {
  for (const ChangedPath& change : changes)
    if (is_rule_file(change.path) && change.own != ChangedPath::Own::changed)
      changed_.insert(change.path);
}

RunIgnoreRules::~RunIgnoreRules() {
  repository_.reset();
  if (!folder_.empty()) remove_tree(folder_);
}

/// A copy of the start's record without its index: rules alone.
void RunIgnoreRules::open() {
  const fs::path start = start_.rules_folder();
  const fs::path folder = make_temporary_folder("sortie-rules-");
  folder_ = folder;
  std::error_code error;
  for (const char* name : {"objects", "refs", "info"})
    fs::create_directories(folder / ".git" / name, error);
  write_record(folder / ".git/HEAD", "ref: refs/heads/main\n");
  for (const char* name : {"config", "info/exclude"}) {
    const auto text = read_bytes_file(start / ".git" / name, kMostRules);
    if (!text.text.empty()) write_record(folder / ".git" / name, text.text);
  }
  check_git(git_repository_open_ext(GitOut(repository_), folder.c_str(),
                                    GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr),
            "the ignore rules of the run", ExitCode::environment);
}

/// git reads regular files alone, and none of an implausible size.
std::optional<std::string> RunIgnoreRules::rules_of(const std::string& file) const {
  if (!changed_.contains(file)) return std::nullopt;
  try {
    const auto status = view_.status(file);
    if (!status || status->kind != FileStatus::Kind::file) return "";
    return view_.read(file, kMostRules).value_or("");
  } catch (const ToolError&) {
    return "";
  }
}

/// Copies the rule files on the way to a path, each once.
void RunIgnoreRules::add_rules(const std::string& path) {
  fs::path folder = fs::path(start_.prefix());
  const auto add = [&](const std::string& own) {
    const fs::path file = folder / kRules;
    if (!added_.insert(file.native()).second) return;
    const auto changed = own.empty() ? std::nullopt : rules_of(own);
    const std::string text =
        changed ? *changed : read_bytes_file(start_.rules_folder() / file, kMostRules).text;
    if (text.empty()) return;
    std::error_code error;
    fs::create_directories(folder_ / folder, error);
    write_rules(folder_ / file, text);
  };
  fs::path above;
  std::swap(above, folder);
  for (const fs::path& part : above) {
    if (part.empty()) continue;
    add("");
    folder /= part;
  }
  fs::path own;
  for (const fs::path& part : fs::path(path)) {
    add((own / kRules).native());
    own /= part;
    folder /= part;
  }
}

bool RunIgnoreRules::ignored(const std::string& path) {
  if (folder_.empty()) open();
  (void)start_.ignored(path);  // collects the start's rules on the way
  add_rules(path);
  int ignored = 0;
  check_git(
      git_ignore_path_is_ignored(&ignored, repository_.get(), (start_.prefix() + path).c_str()),
      "ignore rules: " + path_text(path));
  return ignored != 0;
}

}  // namespace sortie
