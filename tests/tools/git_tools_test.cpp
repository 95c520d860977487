#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"
#include "tools/git_diff.h"
#include "tools/git_status.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(git_tools)

namespace {

struct Repository {
  explicit Repository(const std::string& below = "") : workspace(folder.path() / below) {
    make_repository(folder.path());
    fs::create_directories(workspace);
    files.emplace(Fd(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  }
  void write(const std::string& name, std::string_view content) const {
    fs::create_directories((workspace / name).parent_path());
    write_file(workspace / name, content);
  }
  std::string status(HiddenPaths hidden = {}) const {
    GitStatus tool(*files, workspace, clock, {.hidden = std::move(hidden)});
    return tool.run(Json::object(), {}).text;
  }
  /// What `git status` says, in our words: the sections of staged, unstaged and untracked paths.
  std::string by_git() const {
    std::string staged;
    std::string unstaged;
    std::string untracked;
    const std::string said = git(workspace, {"status", "--porcelain", "--no-renames", "."});
    for (const auto line : split_lines(said)) {
      const std::string path(line.substr(3));
      if (line.starts_with("??")) {
        untracked += path + "\n";
      } else if (line.substr(0, 2) == "UU") {
        unstaged += "U " + path + "\n";
      } else {
        if (line[0] != ' ') staged += std::string(1, line[0]) + " " + path + "\n";
        if (line[1] != ' ') unstaged += std::string(1, line[1]) + " " + path + "\n";
      }
    }
    return section("staged", staged) + section("unstaged", unstaged) +
           section("untracked", untracked);
  }
  static std::string section(const std::string& title, const std::string& lines) {
    if (lines.empty()) return "";
    return title + " (" + std::to_string(std::count(lines.begin(), lines.end(), '\n')) + "):\n" +
           lines;
  }

  TemporaryFolder folder;
  fs::path workspace;
  std::optional<DiskFiles> files;
  FakeClock clock;
};

std::string sections_of(const std::string& status) {
  std::size_t begin = status.size();
  for (const char* title : {"staged (", "unstaged (", "untracked ("})
    begin = std::min(begin, status.find(title));
  const std::size_t end = status.find("last commits:");
  return begin >= end ? "" : status.substr(begin, end - begin);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_status_names_branch_changes_and_commits_as_git_does) {
  const Repository repository;
  for (const char* name : {"same", "edited", "deleted", "mode", "staged", "both", "d/f", "link"})
    repository.write(name, "one\n");
  repository.write(".gitignore", "*.o\nbuild/\n");
  repository.write("kept.o", "x\n");
  git(repository.workspace, {"add", "-f", "."});
  commit_all(repository.workspace);
  repository.write("edited", "two\n");
  fs::remove(repository.workspace / "deleted");
  fs::permissions(repository.workspace / "mode", fs::perms::owner_all);
  repository.write("staged", "two\n");
  repository.write("both", "two\n");
  repository.write("new", "new\n");
  git(repository.workspace, {"add", "staged", "both", "new"});
  repository.write("both", "three\n");
  fs::remove(repository.workspace / "link");
  fs::create_symlink("same", repository.workspace / "link");
  repository.write("untracked", "x\n");
  repository.write("folder/a/x", "x\n");
  repository.write("folder/y", "x\n");
  repository.write("d/untracked", "x\n");
  repository.write("ignored.o", "x\n");
  repository.write("build/x", "x\n");
  repository.write("kept.o", "y\n");
  fs::create_directories(repository.workspace / "empty");
  // Written anew with what it had.
  repository.write("same", "one\n");

  const std::string status = repository.status();

  BOOST_TEST(status.starts_with("branch: main\n"));
  BOOST_TEST(sections_of(status) == repository.by_git());
  BOOST_TEST(status.find("last commits:\n") != std::string::npos);
  const std::string id = git(repository.workspace, {"rev-parse", "HEAD"}).substr(0, 10);
  BOOST_TEST(status.find("\n" + id + " 20") != std::string::npos, status);
}

BOOST_AUTO_TEST_CASE(a_folder_of_a_repository_has_its_own_paths_only) {
  const Repository repository("services/web");
  write_file(repository.folder / "outside", "x\n");
  repository.write("a", "one\n");
  commit_all(repository.folder.path());
  write_file(repository.folder / "outside", "y\n");
  repository.write("a", "two\n");
  repository.write("b", "x\n");

  BOOST_TEST(sections_of(repository.status()) == "unstaged (1):\nM a\nuntracked (1):\nb\n");
}

BOOST_AUTO_TEST_CASE(unborn_detached_and_conflicted_states_are_told) {
  const Repository repository;
  BOOST_TEST(repository.status() == "branch: main\nno commit yet\nnothing is changed\n");
  repository.write("f", "one\n");
  commit_all(repository.workspace);
  git(repository.workspace, {"checkout", "-q", "-b", "other"});
  repository.write("f", "two\n");
  commit_all(repository.workspace);
  git(repository.workspace, {"checkout", "-q", "main"});
  repository.write("f", "three\n");
  commit_all(repository.workspace);
  run_program({"git", "merge", "other"}, repository.workspace);

  const std::string merging = repository.status();
  BOOST_TEST(merging.find("in the middle of a merge\n") != std::string::npos, merging);
  BOOST_TEST(sections_of(merging) == "unstaged (1):\nU f\n");

  git(repository.workspace, {"reset", "-q", "--hard"});
  git(repository.workspace, {"checkout", "-q", "--detach"});
  BOOST_TEST(repository.status().starts_with("HEAD is detached at "));
}

BOOST_AUTO_TEST_CASE(nothing_that_a_repository_configures_is_run) {
  const Repository repository;
  repository.write("f", "one\n");
  repository.write(".gitattributes", "* filter=evil diff=evil\n");
  commit_all(repository.workspace);
  const std::string trap = "touch " + (repository.folder.path() / "trapped").string() + "; cat";
  for (const char* key : {"filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
                          "core.fsmonitor", "diff.evil.textconv", "diff.external", "core.pager"})
    git(repository.workspace, {"config", key, trap});
  repository.write("f", "two\n");

  BOOST_TEST(sections_of(repository.status()) == "unstaged (1):\nM f\n");
  BOOST_TEST(!fs::exists(repository.folder / "trapped"));
}

BOOST_AUTO_TEST_CASE(hidden_paths_are_not_named_and_long_lists_are_cut) {
  const Repository repository;
  repository.write("secret", "x\n");
  for (int i = 0; i < 300; ++i) repository.write("n" + std::to_string(1000 + i), "x\n");

  const std::string status =
      repository.status([](const fs::path& path) { return path == "secret"; });

  BOOST_TEST(status.find("secret") == std::string::npos);
  BOOST_TEST(status.find("untracked (300):\nn1000\n") != std::string::npos);
  BOOST_TEST(status.find("n1199\n… and 100 more\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_diff_is_shown_whole_or_by_path) {
  Diff diff;
  diff.base = "start";
  diff.text =
      "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-diff --git a\n+b\n"
      "diff --git a/src/b.c b/src/b.c\nnew file mode 100644\n--- /dev/null\n+++ b/src/b.c\n"
      "@@ -0,0 +1 @@\n+x\n";
  diff.files = {{.path = "a.txt", .added_lines = 1, .deleted_lines = 1},
                {.path = "src/b.c", .kind = ChangedPath::Kind::added, .added_lines = 1}};
  GitDiff tool([&] { return diff; }, "/w");
  const auto show = [&](const char* arguments) { return tool.run(parse_json(arguments), {}); };

  BOOST_TEST(show("{}").text == diff.text);
  BOOST_TEST(show("{}").head ==
             "2 files changed since the start of the run:\nM a.txt +1 -1\nA src/b.c +1 -0\n");
  BOOST_TEST(show(R"({"path":"src"})").text ==
             diff.text.substr(diff.text.find("diff --git a/src")));
  BOOST_TEST(show(R"({"path":"none"})").text == "Nothing is changed in none.\n");
  BOOST_CHECK_THROW(tool.actions(parse_json(R"({"path":"../x"})")), ToolError);
  GitDiff failing([]() -> Diff { throw Error("too large: x"); }, "/w");
  BOOST_CHECK_THROW(failing.run(Json::object(), {}), ToolError);
  GitDiff hiding([&] { return diff; }, "/w", [](const fs::path& path) { return path == "a.txt"; });
  BOOST_TEST(hiding.run(Json::object(), {}).text.find("a.txt") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
