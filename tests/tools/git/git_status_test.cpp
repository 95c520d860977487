#include "tools/git/git_status.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "tests/tools/git/status_repository.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(git_status_tool)

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
  BOOST_TEST(as_git_says(status) == repository.by_git());
  BOOST_TEST(status.find("last commits:\n") != std::string::npos);
  const std::string id = git(repository.workspace, {"rev-parse", "HEAD"}).substr(0, 10);
  BOOST_TEST(status.find("\n" + id + " 20") != std::string::npos, status);
}

BOOST_AUTO_TEST_CASE(names_are_quoted_as_git_quotes_them) {
  const Repository repository;
  const std::vector<std::string> names = {"new\nline", "t\tab", "quo\"te", "back\\slash",
                                          "a blank",   "\x01",  "\x7f",    "gr\u00fc\u00df"};
  for (const std::string& name : names) repository.write("tracked/" + name, "one\n");
  commit_all(repository.workspace);
  for (const std::string& name : names) {
    repository.write("tracked/" + name, "two\n");
    repository.write(name, "x\n");
  }
  repository.write("staged\r", "x\n");
  git(repository.workspace, {"add", "staged\r"});

  const std::string status = repository.status();

  BOOST_TEST(as_git_says(status) == repository.by_git());
  BOOST_TEST(status.find("\nM \"tracked/new\\nline\"\n") != std::string::npos, status);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_utf8_is_told_by_its_bytes) {
  const Repository repository;
  repository.write("caf\xe9", "x\n");
  BOOST_TEST(sections_of(repository.status()) == "untracked (1):\n\"caf\\351\"\n");
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
  BOOST_TEST(repository.status() == "branch: main\nno commit yet\nno changes\n");
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
  BOOST_TEST(sections_of(merging) == "unstaged (1):\nU f (both modified)\n");

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

  BOOST_TEST(sections_of(repository.status()) ==
             "unstaged (1):\nM f (or unchanged: filter=evil is not applied here)\n");
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

BOOST_AUTO_TEST_CASE(each_state_is_told_as_git_tells_it) {
  // What is done to a repository whose only commit has these files: "a" to "e" of ten lines each,
  // "dir/x", "dir/y", "tool" (executable), "link" to a, and .gitignore (*.o).
  const struct {
    const char* name;
    const char* script;
  } rows[] = {
      {"clean", ":"},
      {"an empty file is added", "touch n; git add n"},
      {"staged and changed again", "echo x >> a; git add a; echo y >> a"},
      {"staged, and deleted", "echo x >> a; git add a; rm a"},
      {"deleted from the index alone", "git rm -q --cached a"},
      {"deleted and there again in another form", "git rm -q --cached a; rm a; ln -s b a"},
      {"a pure rename", "git mv a z"},
      {"a rename with a change", "git mv a z; echo x >> z; git add z"},
      {"a rename that is changed afterwards", "git mv a z; echo x >> z"},
      {"a rename into a folder", "git mv a dir/z"},
      {"two renames of the same content", "git mv a z1; git mv b z2"},
      {"a file that is too different is no rename", "git rm -q a; seq 900 950 > z; git add z"},
      {"an unstaged rename is two things", "mv a z"},
      {"a file becomes a link", "rm a; ln -s b a"},
      {"a link becomes a file", "rm link; echo x > link"},
      {"a link leads elsewhere", "ln -sfn b link"},
      {"a staged change of type", "rm a; ln -s b a; git add a"},
      {"a file stands in the place of a folder", "rm -r dir; echo x > dir"},
      {"a mode changed", "chmod +x a; chmod -x tool"},
      {"modes don't count", "git config core.fileMode false; chmod +x a"},
      {"touched", "touch a b tool"},
      {"changed and changed back", "cp a keep.o; echo x > a; cat keep.o > a"},
      {"intent to add", "echo x > n; git add -N n"},
      {"assumed unchanged", "git update-index --assume-unchanged a; echo x >> a"},
      {"skipped", "git update-index --skip-worktree a; rm a"},
      {"an untracked folder with ignored files only", "mkdir n; touch n/x.o"},
      {"untracked files beside tracked ones", "touch dir/n 'dir/a b' dir/.hidden .top"},
      {"a tracked file that is ignored",
       "touch k.o; git add -f k.o; git commit -qm k; echo x > k.o"},
      {"names out of the ordinary", "touch -- 'a b' \"q'q\" ü '-x' '#c'"},
      {"info/exclude", "echo '*.log' >> .git/info/exclude; touch a.log b.txt"},
      {"core.excludesFile of the repository",
       "echo '*.tmp' > .git/own; git config core.excludesFile \"$PWD/.git/own\"; touch a.tmp "
       "b.txt"},
      {"info/exclude wins over core.excludesFile",
       "echo '*.tmp' > .git/own; git config core.excludesFile \"$PWD/.git/own\"; "
       "echo '!a.tmp' >> .git/info/exclude; touch a.tmp b.tmp"},
      {".gitignore wins over info/exclude",
       "echo '*.log' >> .git/info/exclude; echo '!dir/a.log' >> .gitignore; touch a.log dir/a.log"},
      {"a deeper .gitignore", "echo '!*.o' > dir/.gitignore; touch dir/x.o x.o"},
      {"a repository inside", "git init -q n; touch n/x"},
      {"a submodule",
       "git init -q .git/s; git -C .git/s -c user.name=t -c user.email=t@t commit -q --allow-empty "
       "-m x; git -c protocol.file.allow=always submodule -q add \"$PWD/.git/s\" sub; "
       "git commit -qm sub; touch sub/new"},
      {"a merge, both modified",
       "git checkout -qb o; echo o > a; git commit -qam o; git checkout -q main; echo m > a; "
       "git commit -qam m; git merge -q o >/dev/null || :"},
      {"a merge, deleted by them",
       "git checkout -qb o; git rm -q a; git commit -qam o; git checkout -q main; echo m > a; "
       "git commit -qam m; git merge -q o >/dev/null || :"},
      {"a merge, deleted by us",
       "git checkout -qb o; echo m > a; git commit -qam o; git checkout -q main; git rm -q a; "
       "git commit -qam m; git merge -q o >/dev/null || :"},
      {"a merge, both added",
       "git checkout -qb o; echo m > n; git add n; git commit -qam o; git checkout -q main; "
       "echo o > n; git add n; git commit -qm m; git merge -q o >/dev/null || :"},
      {"a merge of renames",
       "git checkout -qb o; git mv a o1; git commit -qam o; git checkout -q main; git mv a m1; "
       "git commit -qm m; git merge -q o >/dev/null || :"},
      {"detached", "git checkout -q --detach"},
      {"up to date", "git update-ref refs/remotes/origin/main HEAD; $track"},
      {"ahead", "git update-ref refs/remotes/origin/main HEAD; $track; $commit; $commit"},
      {"behind",
       "$commit; git update-ref refs/remotes/origin/main HEAD; git reset -q --hard HEAD~; "
       "$track"},
      {"ahead and behind",
       "$commit; git update-ref refs/remotes/origin/main HEAD; git reset -q --hard HEAD~; $track; "
       "$commit; $commit; $commit"},
      {"the upstream is gone", "$track"},
      {"a local upstream", "git branch base; git branch -q -u base; $commit"},
      {"line ends that count", "sed -i 's/$/\\r/' a"},
      {"line ends of what is no text",
       "echo 'a -text' > .gitattributes; git add .gitattributes; "
       "git commit -qm t; sed -i 's/$/\\r/' a"},
  };
  for (const auto& row : rows) {
    for (const bool folder_of_it : {false, true}) {
      BOOST_TEST_CONTEXT(row.name << (folder_of_it ? ", in a folder of a repository" : "")) {
        // There the script's repository is one level up for `.git`.
        const Repository repository(folder_of_it ? "web" : "");
        const std::string prelude =
            "set -e; export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null; "
            "track() { git config remote.origin.url x; "
            "git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; "
            "git config branch.main.remote origin; git config branch.main.merge refs/heads/main; "
            "}; "
            "commit() { n=x$n; git commit -q --allow-empty -m $n; }; track=track; commit=commit; ";
        const std::string start =
            "for f in a b c d e; do seq 1 10 > $f; echo $f >> $f; done; mkdir dir; touch dir/x "
            "dir/y; "
            "echo t > tool; chmod +x tool; ln -s a link; echo '*.o' > .gitignore; git add -A; "
            "git commit -qm start; ";
        std::string script = row.script;
        if (folder_of_it)
          for (std::size_t at = 0; (at = script.find(".git/", at)) != script.npos; at += 8)
            script.replace(at, 5, "../.git/");
        if (folder_of_it) write_file(repository.folder / "outside.txt", "x\n");
        const Said done =
            run_program({"bash", "-c", prelude + start + script}, repository.workspace);
        BOOST_REQUIRE_MESSAGE(done.status == 0, done.output);

        const std::string status = repository.status();

        BOOST_TEST(as_git_says(status) == repository.by_git());
      }
    }
  }
}

// git names the file alone, and passes over what is in the folder.
BOOST_AUTO_TEST_CASE(a_folder_in_the_place_of_a_file_is_named_too) {
  const Repository repository;
  repository.write("a", "x\n");
  commit_all(repository.workspace);
  fs::remove(repository.workspace / "a");
  repository.write("a/b", "x\n");

  BOOST_TEST(sections_of(repository.status()) == "unstaged (1):\nD a\nuntracked (1):\na/\n");
}

// git names such a file as changed when its size is another, and then has no change of it to show.
BOOST_AUTO_TEST_CASE(line_ends_that_git_would_convert_are_no_change) {
  for (const char* const settings :
       {"echo '* text=auto' > .gitattributes", "echo '*.txt text' > .gitattributes",
        "echo '*.txt eol=crlf' > .gitattributes", "git config core.autocrlf input",
        "git config core.autocrlf true"}) {
    BOOST_TEST_CONTEXT(settings) {
      const Repository repository;
      repository.write("a.txt", "one\ntwo\n");
      repository.write(".gitattributes", "");
      BOOST_REQUIRE(run_program({"sh", "-c", settings}, repository.workspace).status == 0);
      commit_all(repository.workspace);
      repository.write("a.txt", "one\r\ntwo\r\n");

      BOOST_TEST(sections_of(repository.status()) == "");
      BOOST_TEST(run_program({"git", "diff", "--quiet"}, repository.workspace).status == 0);
      repository.write("a.txt", "one\r\n2\r\n");
      BOOST_TEST(sections_of(repository.status()) == "unstaged (1):\nM a.txt\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(rules_of_folders_above_the_workspace_hold_in_it) {
  const Repository repository("services/web");
  write_file(repository.folder / ".gitignore", "*.gen\n/services/web/out/\n/top\n");
  write_file(repository.folder / "services/.gitignore", "/web/local\n!keep.gen\n");
  write_file(repository.folder / ".git/info/exclude", "/services/web/mine\n");
  repository.write("tracked", "x\n");
  git(repository.workspace, {"add", "tracked"});
  git(repository.workspace, {"commit", "-qm", "tracked"});
  for (const char* name : {"a.gen", "keep.gen", "out/x", "top", "local", "mine", "real"})
    repository.write(name, "x\n");

  BOOST_TEST(as_git_says(repository.status()) == repository.by_git());
  BOOST_TEST(sections_of(repository.status()) == "untracked (3):\nkeep.gen\nreal\ntop\n");
}

BOOST_AUTO_TEST_CASE(a_linked_worktree_has_the_main_ones_rules) {
  const Repository main;
  main.write("f", "x\n");
  commit_all(main.workspace);
  write_file(main.workspace / ".git/info/exclude", "*.log\n");
  const TemporaryFolder other;
  const fs::path tree = other / "tree";
  git(main.workspace, {"worktree", "add", "-q", "-b", "other", tree.string()});
  write_file(tree / "a.log", "x\n");
  write_file(tree / "new", "x\n");
  const DiskFiles files{Fd(::open(tree.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  GitStatus tool(files, tree, main.clock);

  const std::string status = tool.run(Json::object(), {}).text;

  BOOST_TEST(status.starts_with("branch: other\nuntracked (1):\nnew\nlast commits:\n"), status);
}

// What the operator's own settings ignore is told nevertheless: a run is the same everywhere.
BOOST_AUTO_TEST_CASE(ignore_files_that_can_not_be_read_do_no_harm) {
  const Repository repository;
  git(repository.workspace, {"config", "core.excludesFile", "/dev/null"});
  repository.write("x", "x\n");
  BOOST_TEST(sections_of(repository.status()) == "untracked (1):\nx\n");
  BOOST_REQUIRE(::mkfifo((repository.workspace / ".gitignore").c_str(), 0600) == 0);
  BOOST_TEST(sections_of(repository.status()) == "untracked (1):\nx\n");
}

BOOST_AUTO_TEST_CASE(files_behind_filters_are_judged_without_running_one) {
  const Repository repository;
  const std::string content = "the real content\n";
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256_hex(content) + "\nsize " +
      std::to_string(content.size()) + "\n";
  for (const char* name : {"same.bin", "pointer.bin", "other.bin"}) repository.write(name, pointer);
  repository.write("house.txt", "as git keeps it\n");
  repository.write("id.c", "$Id$\n");
  repository.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  commit_all(repository.workspace);
  repository.write(".gitattributes",
                   "*.bin filter=lfs diff=lfs merge=lfs -text\n*.txt filter=house\n*.c ident\n");
  commit_all(repository.workspace);
  git(repository.workspace, {"config", "filter.lfs.clean",
                             "touch " + (repository.folder.path() / "trapped").string() + "; cat"});
  repository.write("same.bin", content);
  repository.write("other.bin", "another content!\n");
  repository.write("house.txt", "as the tree has it\n");
  repository.write("id.c", "$Id: 1234 $\n");

  const std::string status = repository.status();

  BOOST_TEST(sections_of(status) ==
             "unstaged (3):\nM house.txt (or unchanged: filter=house is not applied here)\n"
             "M id.c (or unchanged: ident is not applied here)\nM other.bin\n");
  BOOST_TEST(!fs::exists(repository.folder / "trapped"));
}

BOOST_AUTO_TEST_CASE(a_rename_that_touches_a_hidden_path_names_the_other_side_alone) {
  const Repository repository;
  for (const char* name : {"a", "b"}) repository.write(name, std::string("content of ") + name);
  commit_all(repository.workspace);
  git(repository.workspace, {"mv", "a", "secret"});
  git(repository.workspace, {"mv", "b", "c"});

  const auto hides = [&](const std::string& hidden) {
    return sections_of(
        repository.status([hidden](const fs::path& path) { return path == hidden; }));
  };

  BOOST_TEST(hides("secret") == "staged (2):\nR b -> c\nD a\n");
  BOOST_TEST(hides("b") == "staged (2):\nA c\nR a -> secret\n");
}

BOOST_AUTO_TEST_CASE(a_status_is_ended_at_its_time_limit_or_a_stop_and_says_so) {
  const Repository repository;
  for (int i = 0; i < 100; ++i) repository.write("n" + std::to_string(i), "x\n");
  for (int i = 0; i < 100; ++i) repository.write("d" + std::to_string(i) + "/none/f", "x\n");
  FakeClock clock;
  std::stop_source stop;
  const auto result = [&](const std::function<void()>& on_path) {
    GitStatus tool(*repository.files, repository.workspace, clock,
                   {.hidden = [&](const fs::path&) { return on_path(), true; }});
    return tool.run(Json::object(), stop.get_token());
  };

  BOOST_TEST(result([] {}).note.empty());
  BOOST_TEST(result([&] {
               clock.monotonic += std::chrono::seconds(3);
             }).note.find("stopped early") != std::string::npos);
  BOOST_TEST(result([&] { stop.request_stop(); }).note.find("stopped early") != std::string::npos);

  // What the repository itself says is all or nothing.
  const auto error = [&](std::chrono::milliseconds limit) {
    GitStatus tool(*repository.files, repository.workspace, clock, {.time_limit = limit});
    try {
      return tool.run(Json::object(), stop.get_token()).text;
    } catch (const ToolError& failed) {
      return std::string(failed.what());
    }
  };
  BOOST_TEST(error(std::chrono::seconds(20)) == "Can't read the repository: the run is ending");
  stop = std::stop_source();
  BOOST_TEST(error(std::chrono::seconds(0)) == "Can't read the repository: not done within 0 s");
}

BOOST_AUTO_TEST_SUITE_END()
