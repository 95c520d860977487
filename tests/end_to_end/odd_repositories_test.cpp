// Repositories in every form that git knows: the diff of a run applies to the commit in a clean clone,
// nothing of the repository changes, and nothing is fetched.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

struct Row {
  const char* name;
  /// Makes `work` of `origin`, by sh in the folder that has both; status 77: git can't do that here.
  std::string make = "git clone -q origin work";
  const char* base = "head";  ///< of the diff; "start": no commit is known to sortie
  const char* says = "";      ///< in a warning
  std::map<std::string, std::string> environment = {};
};

/// Makes a later fetch fail, and leave a mark.
constexpr const char* kNoRemote =
    "git -C work config protocol.ext.allow always; "
    "git -C work config remote.origin.url \"ext::sh -c touch% $PWD/fetched\"; mv origin gone; ";

const Row kRows[] = {
    {"a plain clone"},
    {"a shallow clone", "git clone -q --depth 1 \"file://$PWD/origin\" work"},
    {"a partial clone", "git clone -q --filter=blob:none \"file://$PWD/origin\" work; "},
    {"a partial clone without trees", "git clone -q --filter=tree:0 \"file://$PWD/origin\" work; "},
    {"a partial clone that is sparse",
     "git clone -q --filter=blob:none --sparse \"file://$PWD/origin\" work; "
     "git -C work sparse-checkout set dir"},
    {"a sparse checkout by folders",
     "git clone -q origin work; git -C work sparse-checkout set --cone dir"},
    {"a sparse index",
     "git clone -q origin work; git -C work sparse-checkout set --cone --sparse-index dir", "head",
     "index can't be read"},
    {"a sparse checkout by patterns",
     "git clone -q origin work; git -C work sparse-checkout set --no-cone '/*' '!/out/'"},
    {"a split index", "git clone -q origin work; git -C work update-index --split-index", "head",
     "index can't be read"},
    {"an untracked cache",
     "git clone -q origin work; git -C work update-index --untracked-cache; "
     "git -C work status -s"},
    {"a file system monitor",
     "git clone -q origin work; printf '#!/bin/sh\\ntouch %s\\n' \"$PWD/fetched\" > monitor; "
     "chmod +x monitor; git -C work config core.fsmonitor \"$PWD/monitor\"; "
     "git -C work update-index --fsmonitor; git -C work status -s; rm -f fetched"},
    {"index version 4", "git clone -q origin work; git -C work update-index --index-version 4"},
    {"an index without a checksum",
     "git clone -q origin work; size=$(stat -c %s work/.git/index); "
     "truncate -s $((size - 20)) work/.git/index; truncate -s $size work/.git/index"},
    {"ids of SHA-256",
     "git init -q --object-format=sha256 work || exit 77; cp -r origin/. copy; rm -rf copy/.git; "
     "cp -r copy/. work; rm -r copy; git -C work add -A; git -C work commit -qm one",
     "start", "its object ids are sha256"},
    {"references in a reftable",
     "git clone -q --ref-format=reftable origin work 2> /dev/null || exit 77", "start", "reftable"},
    {"a linked worktree", "git clone -q origin main; git -C main worktree add -q -b other ../work"},
    {"a repository apart from its working tree",
     "git clone -q --separate-git-dir=\"$PWD/apart.git\" origin work; "
     "git -C work config core.worktree \"$PWD/work\""},
    {"a bare repository and core.worktree, by the environment",
     "git clone -q --bare origin bare.git; git -C bare.git config core.bare false; "
     "git -C bare.git config core.worktree \"$PWD/work\"; mkdir work; "
     "git --git-dir=bare.git --work-tree=work checkout -q -f main",
     "start",
     "",
     {{"GIT_DIR", "bare.git"}, {"GIT_WORK_TREE", "work"}}},
    {"objects of a folder in the repository",
     "git clone -q origin work; git clone -q --bare origin work/.git/lender.git; "
     "rm -rf work/.git/objects/pack work/.git/objects/??; "
     "echo \"$PWD/work/.git/lender.git/objects\" > work/.git/objects/info/alternates"},
    {"packs with all that git makes beside them",
     "git clone -q origin work; git -C work repack -q -a -d -b --write-midx; "
     "git -C work commit-graph write --reachable; git -C work pack-refs --all"},
    {"a HEAD on no branch", "git clone -q origin work; git -C work checkout -q --detach"},
    {"no commit", "mkdir work; cp -r origin/. work; rm -rf work/.git; git -C work init -q",
     "start"},
    {"files that git does not look at",
     "git clone -q origin work; git -C work update-index --assume-unchanged a.txt; "
     "git -C work update-index --skip-worktree dir/b.txt"},
    {"a file that is to be added",
     "git clone -q origin work; echo i > work/intent; git -C work add -N intent"},
    {"a merge with conflicts",
     "git clone -q origin work; cd work; git checkout -q -b one; echo 1 > other; git add other; "
     "git commit -qm 1; git checkout -q main; echo 2 > other; git add other; git commit -qm 2; "
     "git merge -q one > /dev/null || true"},
    {"names that differ by case alone and modes that don't count",
     "git clone -q origin work; git -C work config core.ignoreCase true; "
     "git -C work config core.fileMode false"},
    {"a replaced commit", "git clone -q origin work; git -C work replace HEAD HEAD~1"},
};

constexpr const char* kChange =
    "echo more >> a.txt; printf '\\000\\377' > dir/b.txt; echo n > dir/new.txt; mkdir -p fresh; "
    "echo f > fresh/f; mv dir/moved.txt dir/there.txt; rm dir/gone.txt; chmod +x dir/program";

void make_origin(const RunFolder& folder) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += "line " + std::to_string(i) + "\n";
  for (const char* name :
       {"a.txt", "dir/b.txt", "dir/gone.txt", "dir/program", "out/far.txt", "out/deep/er.txt"})
    folder.write(std::string("origin/") + name, std::string(name) + "\n");
  make_repository(folder.path("origin"));
  git(folder.path("origin"), {"config", "uploadpack.allowFilter", "true"});
  git(folder.path("origin"), {"config", "uploadpack.allowAnySHA1InWant", "true"});
  commit_all(folder.path("origin"));
  folder.write("origin/dir/moved.txt", lines);
  commit_all(folder.path("origin"));
}

const std::map<std::string, std::string> kWho = {{"GIT_AUTHOR_NAME", "T"},
                                                 {"GIT_AUTHOR_EMAIL", "t@example.org"},
                                                 {"GIT_COMMITTER_NAME", "T"},
                                                 {"GIT_COMMITTER_EMAIL", "t@example.org"}};

/// All but the output folder, the task and what the checks make.
std::map<std::string, std::string> state_of(const RunFolder& folder) {
  auto tree = read_tree(folder.path(""));
  std::erase_if(
      tree, [](const auto& one) { return one.first == "out" || one.first.starts_with("out/"); });
  return tree;
}

bool warns(const Json& result, const std::string& text) {
  if (text.empty()) return true;
  for (const Json& warning : result["warnings"].items())
    if (warning.text().find(text) != std::string::npos) return true;
  return false;
}

bool holds_text(const Json& list, const std::string& text) {
  for (const Json& one : list.items())
    if (one.text() == text) return true;
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(odd_repositories)

BOOST_AUTO_TEST_CASE(the_diff_applies_to_the_commit_and_nothing_of_the_repository_changes) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      fs::remove(folder.workspace());
      make_origin(folder);
      git(folder.path(""), {"clone", "-q", "origin", "clean"});
      const Said made = run_program({"sh", "-e", "-c", row.make}, folder.path(""), kWho);
      if (made.status == 77) {
        BOOST_TEST_MESSAGE(row.name << ": skipped: this git can't make one");
        continue;
      }
      BOOST_REQUIRE_MESSAGE(made.status == 0, made.output);
      copy_tree(folder.workspace(), folder.path("changed"));
      copy_tree(folder.workspace(), folder.path("copy"));
      for (const char* copy : {"changed", "copy"}) fs::remove_all(folder.path(copy) / ".git");
      if (fs::is_directory(folder.workspace() / ".git"))
        run_program({"sh", "-c", kNoRemote}, folder.path(""));
      CassetteWriter cassette;
      cassette.call("git_status", Json::object()).call("git_diff", Json::object()).next();
      cassette.shell({"sh", "-c", kChange}).next();
      cassette.call("git_status", Json::object()).call("git_diff", Json::object()).next();
      folder.write_task(cassette.message("done"), "policy: auto\n");
      const auto before = state_of(folder);
      ProgramStart start = folder.start();
      for (const auto& [name, value] : row.environment)
        start.environment[name] = folder.path(value).string();

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST((state_of(folder) == before));
      BOOST_TEST(!fs::exists(folder.path("fetched")));
      const Json result = folder.result();
      BOOST_TEST(warns(result, row.says), write_json(result["warnings"]));
      BOOST_TEST(result.string_at("base") == row.base);
      BOOST_TEST(holds_text(result["applies_to"], "start"));
      const std::string diff = (folder.out() / "changes.diff").string();
      run_program({"sh", "-c", kChange}, folder.path("changed"));
      const std::map<std::string, std::string> outside = {
          {"GIT_CEILING_DIRECTORIES", folder.path("").parent_path().string()}};
      const Said to_copy = run_program({"git", "apply", diff}, folder.path("copy"), outside);
      BOOST_TEST(to_copy.status == 0, to_copy.output);
      BOOST_TEST((read_tree(folder.path("copy")) == read_tree(folder.path("changed"))));
      if (std::string(row.base) == "head") {
        BOOST_TEST(holds_text(result["applies_to"], "head"));
        const Said to_clean = run_program({"git", "apply", "--index", diff}, folder.path("clean"));
        BOOST_TEST(to_clean.status == 0, to_clean.output);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
