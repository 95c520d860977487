#include <sys/stat.h>
#include <unistd.h>

#include "tests/end_to_end/land_run.h"

// Where runs are landed: repositories in any state, disks without room, other owners.

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(land_places)

BOOST_AUTO_TEST_CASE(a_repository_is_taken_as_it_stands) {
  const struct {
    const char* name;
    const char* setup;  ///< a script, in a clone of the base
    const char* flags;
    int status;
    const char* said;
    const char* check;  ///< a script that succeeds afterwards
  } rows[] = {
      {"a detached HEAD", "git checkout -q --detach", "", 0, "landed 1 file",
       "grep -q end a.txt && test $(jq -r .base ../out/pr.json) = null"},
      {"a commit on a detached HEAD", "git checkout -q --detach", "--onto HEAD", 0, "as commit",
       "git diff --quiet"},
      {"an unborn branch", "git checkout -q --orphan new", "", 0, "landed 1 file",
       "grep -q end a.txt && test $(jq -r .base_sha ../out/pr.json) = null"},
      {"a commit on an unborn branch", "git checkout -q --orphan new", "--onto HEAD", 2,
       "no such branch or commit", "! grep -q end a.txt"},
      {"changes elsewhere", "echo mine >> moved.txt; echo x > untracked", "", 0, "landed 1 file",
       "grep -q mine moved.txt && test -f untracked"},
      {"staged changes elsewhere", "echo mine >> moved.txt; git add moved.txt", "", 0,
       "landed 1 file", "test \"$(git diff --cached --name-only)\" = moved.txt"},
      {"a change in its file", "echo mine >> a.txt", "", 13, "a.txt: has another content now",
       "grep -q mine a.txt && ! grep -q end a.txt"},
      {"the file removed", "rm a.txt", "", 13, "a.txt: is not there", "! test -e a.txt"},
      {"a folder in its place", "rm a.txt; mkdir a.txt", "", 13, "a.txt: is a folder now",
       "test -d a.txt"},
      {"a link in its place", "mv a.txt b; ln -s b a.txt", "", 13, "a.txt: has another mode now",
       "test -L a.txt && ! grep -q end b"},
      {"a pipe in its place", "rm a.txt; mkfifo a.txt", "", 13, "a.txt: is no regular file now",
       "test -p a.txt"},
      {"landed already", "echo end >> a.txt", "", 0, "everything is there already",
       "! test -e ../out/pr.json"},
      {"a folder of the repository", "mkdir sub", "-C sub", 3, "outside the workspace",
       "! grep -q end a.txt"},
      {"a repository without a work tree", "git clone -q --bare . ../bare.git",
       "-C ../bare.git --onto HEAD", 7, "without a work tree", "true"},
      {"no repository", "rm -rf .git", "", 7, "no git repository", "! grep -q end a.txt"},
      {"hooks and filters that must not run",
       "git config filter.x.clean 'touch ../ran'; git config filter.x.smudge 'touch ../ran'; "
       "git config core.fsmonitor 'touch ../ran'; git config diff.external 'touch ../ran'; "
       "echo '*.txt filter=x merge=x' > .git/info/attributes; "
       "git config merge.x.driver 'touch ../ran'; "
       "for h in pre-commit post-checkout post-index-change reference-transaction; do "
       "printf '#!/bin/sh\ntouch ../ran\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done; "
       "rm -f ../ran",
       "--onto next --three-way", 0, "as commit", "! test -e ../ran"},
  };
  const Pipeline pipeline;
  pipeline.run(script("echo end >> a.txt"));
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const fs::path target = pipeline.folder.path("target");
      fs::remove_all(target);
      fs::remove_all(pipeline.folder.path("bare.git"));
      git(pipeline.folder.path(""),
          {"clone", "-q", pipeline.folder.workspace().string(), target.string()});
      git(target, {"branch", "next"});
      const auto shell = [&](const std::string& script) {
        return run_program({.argv = {"sh", "-c", script}, .folder = target});
      };
      const ProgramEnd made = shell(row.setup);
      BOOST_REQUIRE_MESSAGE(made.status == 0, made.errors);

      const ProgramEnd end = shell("'" + sortie_binary() + "' land ../out " + row.flags);

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(holds(end.errors, row.said), end.errors);
      const ProgramEnd checked = shell(row.check);
      BOOST_TEST(checked.status == 0, row.check << ": " << checked.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_was_only_moved_or_made_executable_is_landed_once) {
  const Pipeline pipeline;
  pipeline.run(script("chmod +x a.txt; mv moved.txt other.txt; mv image p; chmod +x p"));
  const std::string land = "'" + sortie_binary() + "' land ../out ";
  for (const char* said : {"landed 3 files", "everything is there already"}) {
    const ProgramEnd end = run_program({.argv = {"sh", "-c", land}, .folder = pipeline.target()});

    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(holds(end.errors, said), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(what_can_not_be_written_leaves_everything_as_it_was) {
  const Pipeline pipeline;
  pipeline.run(script("seq 5000 > big.txt; echo end >> a.txt"));
  git(pipeline.target(), {"branch", "next"});
  const auto before = read_tree(pipeline.target());
  const auto tree = Pipeline::tree_of(pipeline.target());
  const std::string land = "'" + sortie_binary() + "' land ../out ";
  const struct {
    const char* name;
    std::string script;
    int status;
  } rows[] = {
      {"a limit of file sizes", "ulimit -f 1; " + land, 7},
      {"the same for a commit", "ulimit -f 1; " + land + "--onto next", 7},
      {"a full stdout", land + "--onto next > /dev/full", 7},
      {"a closed stdout", land + "--onto next >&-", 7},
      {"a folder in the place of a file",
       "rm -rf ../out/pr.json; mkdir -p ../out/pr.json/x; " + land, 2},
      {"the same for a commit", land + "--onto next; code=$?; rm -r ../out/pr.json; exit $code", 2},
      {"an --out that is a file", land + "--out ../task.yaml", 2},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProgramEnd end =
          run_program({.argv = {"sh", "-c", row.script}, .folder = pipeline.target()});

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(git(pipeline.target(), {"rev-parse", "next"}) ==
                 git(pipeline.target(), {"rev-parse", "HEAD"}));
      BOOST_TEST((Pipeline::tree_of(pipeline.target()) == tree));
      // What says that it was landed would not be true.
      for (const char* name : {"change.mbox", "commit-message.txt"})
        BOOST_TEST(!fs::exists(pipeline.folder.out() / name), name);
      BOOST_TEST(!fs::is_regular_file(pipeline.folder.out() / "pr.json"));
    }
  }
  // A reader that has gone is no error; the id is in pr.json too.
  const ProgramEnd gone =
      run_program({.argv = {"sh", "-c", land + "--onto next | true"}, .folder = pipeline.target()});
  BOOST_TEST(gone.status == 0, gone.errors);
  BOOST_TEST(git(pipeline.target(), {"rev-parse", "next"}) ==
             parse_json(pipeline.out("pr.json")).string_at("head_sha") + "\n");
}

BOOST_AUTO_TEST_CASE(a_repository_of_another_user_stays_theirs) {
  if (::geteuid() != 0) return;  // only root can land there
  const Pipeline pipeline;
  pipeline.run(script("mkdir sub; echo x > sub/new; echo end >> a.txt"));
  git(pipeline.target(), {"branch", "next"});
  constexpr uid_t kOther = 65534;
  const auto own = [&](const auto& act) {
    for (const auto& entry : fs::recursive_directory_iterator(pipeline.target())) act(entry.path());
    act(pipeline.target());
  };
  own([](const fs::path& path) { BOOST_REQUIRE(::lchown(path.c_str(), kOther, kOther) == 0); });

  BOOST_TEST(pipeline.land({"--onto", "next"}).status == 0);
  BOOST_TEST(pipeline.land().status == 0);

  own([&](const fs::path& path) {
    struct stat status {};
    BOOST_REQUIRE(::lstat(path.c_str(), &status) == 0);
    BOOST_TEST(status.st_uid == kOther, path.string());
    BOOST_TEST(status.st_gid == kOther, path.string());
  });
  BOOST_TEST(read_file(pipeline.target() / "sub/new") == "x\n");
}

BOOST_AUTO_TEST_SUITE_END()
