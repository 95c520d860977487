// Diffs of random changes and of commits, given back to the real git.
//
// SORTIE_TREES and SORTIE_COMMITS say how many of them, SORTIE_SEED the first change; SORTIE_HISTORY
// names another repository than the project's own, such as one of tests/support/debian_history.sh.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <sstream>

#include "core/base/hash.h"
#include "tests/core/workspace/changed_copy.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using test::Bench;
using test::Tree;
namespace fs = std::filesystem;

namespace {

int count_of(const char* variable, int usual) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? usual : std::atoi(value);
}

bool is_one_of(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// All that is in a folder, with modes, sizes, times and digests.
std::map<std::string, std::string> state_of(const fs::path& folder) {
  std::map<std::string, std::string> state;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat status {};
    ::lstat(entry.path().c_str(), &status);
    std::ostringstream text;
    text << status.st_mode << ' ' << status.st_size << ' ' << status.st_mtim.tv_sec << '.'
         << status.st_mtim.tv_nsec;
    if (S_ISREG(status.st_mode)) text << ' ' << sha256_hex(read_file(entry.path()));
    state[entry.path().string()] = text.str();
  }
  return state;
}

/// Applies to an index of its own; no object gets into the repository.
test::Said apply_to_index(const Bench& bench, std::string_view text, const std::string& from) {
  const fs::path git = bench.root / ".git";
  const fs::path objects = bench.folder / "objects";
  fs::create_directories(objects);
  test::put_file(bench.folder / "changes.diff", text);
  const std::map<std::string, std::string> environment = {
      {"GIT_INDEX_FILE", (bench.folder / "index").string()},
      {"GIT_OBJECT_DIRECTORY", objects.string()},
      {"GIT_ALTERNATE_OBJECT_DIRECTORIES", (git / "objects").string()}};
  fs::remove(bench.folder / "index");
  if (from == "index")
    fs::copy_file(git / "index", bench.folder / "index");
  else
    test::run_program({"git", "read-tree", "HEAD"}, bench.root, environment);
  auto said = test::run_program({"git", "apply", "--cached", "--allow-empty", "--whitespace=nowarn",
                                 bench.folder / "changes.diff"},
                                bench.root, environment);
  if (said.status == 0)
    said.output = test::run_program({"git", "write-tree"}, bench.root, environment).output;
  return said;
}

/// Whether git's own diff of the change can't be applied either: it looks for each new path, and a
/// link above it leads to itself.
bool git_refuses(const fs::path& start, const std::string& path) {
  struct stat status {};
  return ::lstat((start / path).c_str(), &status) != 0 && errno == ELOOP;
}

/// The start with all that the run did, the ignored aside, and then that, too.
Tree applied(const Bench& bench, Tree start, const Tree& after, const Diff& diff) {
  for (const std::string& path : diff.ignored_changes) start.erase(path);
  const fs::path copy = bench.folder / "copy";
  fs::create_directory(copy);
  test::become(copy, {}, start);
  test::put_file(bench.folder / "changes.diff", diff.text);
  const auto said = test::run_program(
      {"git", "apply", "--allow-empty", "--whitespace=nowarn", bench.folder / "changes.diff"}, copy,
      {{"GIT_CEILING_DIRECTORIES", bench.folder.path().string()}});
  BOOST_TEST(said.status == 0, said.output << diff.text);
  Tree made = test::read_tree(copy);
  for (const std::string& path : diff.ignored_changes)
    if (const auto found = after.find(path); found != after.end()) made.insert(*found);
  return made;
}

const std::vector<std::string> kIgnoreRules = {
    "", "*.txt\n", "d/\nbuild/\n", "*\n!*.cpp\n!*/\n", "/a\n/src\n", "b.bin\n!src/b.bin\n"};

void check_random_change(unsigned seed, Isolation isolation) {
  Bench bench;
  test::RandomTrees random(seed);
  Tree committed = random.make(12);
  if (const auto& rules = kIgnoreRules[seed % kIgnoreRules.size()]; !rules.empty())
    test::put(committed, ".gitignore", {0100644, rules});
  test::become(bench.root, {}, committed);
  test::make_repository(bench.root);
  const bool tracks_ignored = seed % 2 == 0;
  test::git(bench.root, {"add", "-A", tracks_ignored ? "-f" : "--"});
  test::git(bench.root, {"commit", "-q", "--allow-empty", "-m", "start"});
  const Tree start = seed % 3 == 0 ? random.change(committed, 3) : committed;
  test::become(bench.root, committed, start);
  const Tree after = random.change(start, 10);
  const auto repository = state_of(bench.root / ".git");
  bench.options.isolation = isolation;
  const auto workspace = open_workspace(bench.options);

  Diff diff;
  const std::string refused = test::in_view(
      *workspace, [&](const fs::path& root) { test::become(root, start, after); },
      [&](const Files& view) {
        diff = make_diff(*workspace, view, bench.root, {.products = Products::include});
      });

  BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
  BOOST_TEST(test::difference(test::read_tree(bench.root), start) == "");
  Tree wanted = after;
  for (const LeftOut& one : diff.left_out) {
    BOOST_TEST(name_of(one.why) == "link-loop");
    BOOST_TEST(git_refuses(bench.root, one.path), one.path);
    wanted.erase(one.path);
  }
  BOOST_TEST((state_of(bench.root / ".git") == repository));
  BOOST_TEST(is_one_of(diff.applies_to, "start"));
  BOOST_TEST(test::difference(applied(bench, start, after, diff), wanted) == "");
  for (const std::string base : {"head", "index"}) {
    if (!is_one_of(diff.applies_to, base)) continue;
    const auto said = apply_to_index(bench, diff.text, base);
    BOOST_TEST(said.status == 0, base << ": " << said.output);
  }
}

/// The project's own history, or another one.
fs::path history() {
  const char* const other = std::getenv("SORTIE_HISTORY");
  return other != nullptr ? other : SORTIE_SOURCE_DIR;
}

/// Commits with one parent, the newest first.
std::vector<std::string> commits_of(const fs::path& repository, int most) {
  const auto said =
      test::run_program({"git", "-c", "safe.directory=*", "-C", repository, "rev-list",
                         "--no-merges", "--min-parents=1", "-n", std::to_string(most), "HEAD"},
                        repository);
  std::istringstream lines(said.status == 0 ? said.output : "");
  std::vector<std::string> commits;
  for (std::string line; std::getline(lines, line);) commits.push_back(line);
  return commits;
}

void check_commit(const Bench& bench, const std::string& commit, const fs::path& out,
                  Isolation isolation) {
  test::git(bench.root, {"checkout", "-q", "-f", commit + "^"});
  test::git(bench.root, {"clean", "-q", "-f", "-d", "-x"});
  const std::string change =
      test::git(bench.root, {"diff", "--binary", "--full-index", commit + "^", commit});
  test::put_file(bench.folder / "theirs.diff", change);
  const auto repository = state_of(bench.root / ".git");
  WorkspaceOptions options = bench.options;
  options.out = out;
  options.state = out / "state";
  options.isolation = isolation;
  const auto workspace = open_workspace(options);

  Diff diff;
  const std::string refused = test::in_view(
      *workspace,
      [&](const fs::path& root) {
        test::run_program({"git", "apply", "--whitespace=nowarn", bench.folder / "theirs.diff"},
                          root, {{"GIT_CEILING_DIRECTORIES", root.parent_path().string()}});
      },
      [&](const Files& view) {
        diff = make_diff(*workspace, view, bench.root,
                         {.include = {"*"}, .products = Products::include});
      });

  BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
  BOOST_TEST((state_of(bench.root / ".git") == repository));
  BOOST_TEST(diff.base == "head");
  const auto said = apply_to_index(bench, diff.text, "head");
  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(said.output == test::git(bench.root, {"rev-parse", commit + "^{tree}"}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(real_git)

BOOST_AUTO_TEST_CASE(git_makes_of_the_diff_of_a_random_change_what_the_run_made) {
  const std::vector<Isolation> isolations = test::isolations();
  const int count = count_of("SORTIE_TREES", 40);
  for (int i = 0; i < count; ++i) {
    const unsigned seed = static_cast<unsigned>(count_of("SORTIE_SEED", 7000) + i);
    const Isolation isolation = isolations[seed / 2 % isolations.size()];
    BOOST_TEST_CONTEXT(test::name_of_isolation(isolation) << " " << seed)
    check_random_change(seed, isolation);
  }
}

BOOST_AUTO_TEST_CASE(git_makes_of_the_diff_of_a_commits_change_the_commits_tree) {
  const auto commits = commits_of(history(), count_of("SORTIE_COMMITS", 4));
  if (commits.empty()) {
    BOOST_TEST_MESSAGE("skipped: no history here");
    return;
  }
  Bench bench;
  fs::remove(bench.root);
  test::run_program(
      {"git", "-c", "safe.directory=*", "clone", "-q", "--no-checkout", history(), bench.root},
      bench.folder.path());
  const std::vector<Isolation> isolations = test::isolations();
  const auto seed = static_cast<unsigned>(count_of("SORTIE_SEED", 0));
  unsigned done = 0;
  for (const std::string& commit : commits) {
    ++done;
    BOOST_TEST_CONTEXT(commit)
    check_commit(bench, commit, bench.folder / ("out" + std::to_string(done)),
                 isolations[(seed + done) % isolations.size()]);
  }
  BOOST_TEST_MESSAGE(done << " commits");
}

BOOST_AUTO_TEST_SUITE_END()
