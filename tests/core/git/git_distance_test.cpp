
#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>

#include "core/files/files.h"
#include "core/git/git_repository.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A repository of commits that git fast-import makes of a script.
struct History {
  explicit History(const std::string& script) {
    make_repository(folder.path());
    git(folder.path(), {"config", "core.logAllRefUpdates", "false"});
    write_file(folder / "script", script);
    const Said said = run_program({"sh", "-c", "git fast-import --quiet < script"}, folder.path());
    if (said.status != 0) throw std::runtime_error(said.output);
    start_libgit2();
    found = find_repository(folder.path());
  }
  git_oid id_of(const std::string& name) const {
    git_oid id;
    check_git(git_reference_name_to_id(&id, found.handle.get(), ("refs/heads/" + name).c_str()),
              name);
    return id;
  }
  std::optional<GitDistance> distance(const std::string& first, const std::string& second,
                                      const std::function<void()>& pace = {}) const {
    return git_distance(*found.handle, id_of(first), id_of(second), pace);
  }
  std::string in_words(const std::string& first, const std::string& second) const {
    const auto apart = distance(first, second);
    if (!apart) return "unknown";
    return std::to_string(apart->ahead) + "\t" + std::to_string(apart->behind) + "\n";
  }

  TemporaryFolder folder;
  FoundRepository found;
};

/// A commit of a script, at this second, with these marks as its parents.
std::string commit(int mark, int second, const std::string& branch, std::vector<int> parents) {
  std::string text = "commit refs/heads/" + branch + "\nmark :" + std::to_string(mark) +
                     "\ncommitter n <n@x> " + std::to_string(1'700'000'000 + second) +
                     " +0000\ndata 0\n";
  for (std::size_t i = 0; i < parents.size(); ++i)
    text += (i == 0 ? "from :" : "merge :") + std::to_string(parents[i]) + "\n";
  return text + "\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(git_distances)

BOOST_AUTO_TEST_CASE(commits_are_counted_as_git_counts_them) {
  // Branches that merge each other, a root of its own, many commits of one second.
  std::string script = commit(1, 0, "base", {});
  script += commit(2, 10, "left", {1}) + commit(3, 20, "right", {1});
  script += commit(4, 30, "left", {2, 3}) + commit(5, 30, "right", {3, 2});
  script += commit(6, 30, "left", {4}) + commit(7, 30, "left", {6}) + commit(8, 40, "right", {5});
  script += commit(9, 5, "other", {}) + commit(10, 50, "other", {9});
  script += commit(11, 60, "joined", {7, 10}) + commit(12, 61, "joined", {11, 8});
  const History history(script);
  const std::vector<std::string> names = {"base", "left", "right", "other", "joined"};
  for (const auto& first : names)
    for (const auto& second : names) BOOST_TEST_CONTEXT(first << "..." << second) {
        BOOST_TEST(history.in_words(first, second) ==
                   git(history.folder.path(),
                       {"rev-list", "--left-right", "--count", first + "..." + second}));
      }
}

BOOST_AUTO_TEST_CASE(a_commit_that_is_not_there_makes_it_unknown) {
  const History history(commit(1, 0, "left", {}) + commit(2, 1, "left", {1}) +
                        commit(3, 2, "right", {1}));
  // Of a shallow clone.
  const TemporaryFolder folder;
  git(folder.path(), {"clone", "-q", "--depth", "1", "--no-single-branch",
                      "file://" + history.folder.path().string(), "clone"});
  const FoundRepository clone = find_repository(folder / "clone");
  const git_oid left = history.id_of("left");
  const git_oid right = history.id_of("right");
  BOOST_TEST(!git_distance(*clone.handle, left, right, {}).has_value());
  BOOST_TEST((git_distance(*clone.handle, left, left, {}) == GitDistance{}));
}

BOOST_AUTO_TEST_CASE(a_long_way_can_be_ended) {
  std::string script;
  for (int i = 1; i <= 500; ++i)
    script += commit(i, i, "left", i == 1 ? std::vector<int>() : std::vector<int>{i - 1});
  script += commit(501, 501, "right", {});
  const History history(script);
  int steps = 0;
  BOOST_CHECK_THROW(history.distance("left", "right",
                                     [&] {
                                       if (++steps == 100) throw std::runtime_error("enough");
                                     }),
                    std::runtime_error);
  BOOST_TEST(steps == 100);
  BOOST_TEST((history.distance("left", "right") == GitDistance{500, 1}));
}

BOOST_AUTO_TEST_SUITE_END()
