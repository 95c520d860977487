// `sortie init`: the files that it makes, and where it makes them.
#include <sys/mount.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/text/text.h"
#include "tests/end_to_end/init_run.h"
#include "tests/support/immutable_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(init_command)

BOOST_AUTO_TEST_CASE(files_that_exist_are_named_and_stay_unless_forced) {
  const InitRun run({{"go.mod", ""},
                     {".sortie/task.yaml", "mine\n"},
                     {".github/workflows/sortie.yml", "mine too\n"},
                     {".gitignore", "*.o"}});
  run.make_git();

  const ProgramEnd refused = run.init();

  BOOST_TEST(refused.status == 2);
  BOOST_TEST(holds(refused.errors, ".sortie/task.yaml, .github/workflows/sortie.yml exist already"),
             refused.errors);
  BOOST_TEST(holds(refused.errors, "--force"), refused.errors);
  BOOST_TEST(run.changed().empty());

  BOOST_TEST(run.init({"--force"}).status == 0);
  BOOST_TEST(run.text(".sortie/task.yaml") != "mine\n");
  BOOST_TEST(run.text(".gitignore") == "*.o\n/sortie-out*/\n");

  const ProgramEnd again = run.init();
  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(holds(again.output, "unchanged .sortie/task.yaml"), again.output);
  BOOST_TEST(!holds(again.output, "wrote"), again.output);
}

BOOST_AUTO_TEST_CASE(a_dry_run_prints_the_files_and_writes_none) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  run.make_git();
  const ProgramEnd end = run.init({"--dry-run"});
  BOOST_TEST(end.status == 0, end.errors);
  for (const std::string& name : kGitHubFiles)
    BOOST_TEST(holds(end.output, "==> " + name + " <=="), name);
  BOOST_TEST(holds(end.output, "    - go test ./..."), end.output);
  BOOST_TEST(run.changed().empty());
}

BOOST_AUTO_TEST_CASE(outside_of_git_there_is_no_workflow_unless_asked_for) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  const ProgramEnd end = run.init();
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.output, "no workflow: the folder is in no git repository"), end.output);
  BOOST_TEST(run.has(".sortie/policy.yaml"));
  BOOST_TEST(!run.has(".github"));
  BOOST_TEST(!run.has(".gitignore"));

  BOOST_TEST(run.init({"--ci", "github"}).status == 0);
  BOOST_TEST(run.has(".github/workflows/sortie.yml"));
}

BOOST_AUTO_TEST_CASE(the_workflow_is_for_the_system_that_the_repository_has) {
  const struct {
    const char* name;
    ProjectFiles files;
    const char* remote;
    Arguments flags;
    const char* made;
    const char* said;
  } rows[] = {
      {"nothing", {}, "", {}, ".github/workflows/sortie.yml", "no files of another system"},
      {".github",
       {{".github/CODEOWNERS", ""}},
       "",
       {},
       ".github/workflows/sortie.yml",
       "has .github"},
      {"GitLab",
       {{".gitlab-ci.yml", "a: {script: [b]}\n"}},
       "",
       {},
       ".gitlab/sortie/sortie.gitlab-ci.yml",
       "include it in .gitlab-ci.yml (include: [{local: /.gitlab/sortie/sortie.gitlab-ci.yml}])"},
      {"GitLab's remote",
       {},
       "git@gitlab.example:a/b.git",
       {},
       ".gitlab-ci.yml",
       "the remote is GitLab"},
      {"GitLab's, with a port",
       {},
       "ssh://git@gitlab.example:2222/a/b.git",
       {},
       ".gitlab-ci.yml",
       "the remote is GitLab"},
      {"a repository called so",
       {},
       "https://github.com/me/gitlab-tools.git",
       {},
       ".github/workflows/sortie.yml",
       "no files of another system"},
      {"a user called so",
       {},
       "https://gitlab@github.com/me/a.git",
       {},
       ".github/workflows/sortie.yml",
       "no files of another system"},
      {"a folder called so",
       {},
       "/srv/gitlab:old/a.git",
       {},
       ".github/workflows/sortie.yml",
       "no files of another system"},
      {"Jenkins", {{"Jenkinsfile", ""}}, "", {}, ".sortie/Jenkinsfile", "has Jenkinsfile"},
      {"the flag", {{"Jenkinsfile", ""}}, "", {"--ci", "gitlab"}, ".gitlab/sortie/land.sh", "--ci"},
      {"none",
       {{".github/CODEOWNERS", ""}},
       "",
       {"--ci", "none"},
       ".sortie/task.yaml",
       "no workflow"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProjectFiles files = row.files;
      files.emplace_back("go.mod", "");
      const InitRun run(files);
      run.make_git();
      if (*row.remote != '\0') git(run.workspace(), {"remote", "add", "origin", row.remote});
      const ProgramEnd end = run.init(row.flags);
      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.has(row.made));
      BOOST_TEST(holds(end.output, row.said), end.output);
      for (const auto& [name, content] : row.files) BOOST_TEST(run.text(name) == content, name);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_included_already_is_not_asked_for) {
  const InitRun made(ProjectFiles{{"go.mod", ""}});
  made.make_git();
  const ProgramEnd first = made.init({"--ci", "gitlab"});
  BOOST_TEST(made.has(".gitlab-ci.yml"));
  BOOST_TEST(!holds(first.output, "include it"), first.output);

  const InitRun included(
      {{"go.mod", ""},
       {".gitlab-ci.yml", "include: [{local: .gitlab/sortie/sortie.gitlab-ci.yml}]\n"}});
  included.make_git();
  const ProgramEnd second = included.init();
  BOOST_TEST(second.status == 0, second.errors);
  BOOST_TEST(!holds(second.output, "include it"), second.output);
}

// A workflow is code, and whoever makes the project names its folders.
BOOST_AUTO_TEST_CASE(a_folder_whose_name_could_be_code_gets_no_workflow) {
  for (const std::string name :
       {"${{ secrets.KEY }}", "a$(id)", "$KEY", "a\nb", "a\x1b]0;x\x07", "a\xff",
        "a\xe2\x80\xae"
        "b"}) {
    BOOST_TEST_CONTEXT(name) {
      const InitRun run(ProjectFiles{{name + "/go.mod", ""}});
      run.make_git();
      for (const char* system : {"github", "gitlab", "jenkins"}) {
        const ProgramEnd asked = run.init({"--ci", system}, name);
        BOOST_TEST(asked.status == 2, asked.output);
        BOOST_TEST(holds(asked.errors, "no workflow can be made here"), asked.errors);
      }
      BOOST_TEST(run.changed().empty());
      const ProgramEnd above = run.init({"--dry-run"});
      const ProgramEnd end = run.init({}, name);
      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(end.output, "no workflow: the folder's name has "), end.output);
      BOOST_TEST(!run.has(".github"));
      BOOST_TEST(!run.task(name).is_null());
      for (const std::string& said : {above.output, end.output, end.errors})
        BOOST_TEST(said.find_first_of("\x1b\x07\xff") == std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_several_toolchains_it_says_which_it_took) {
  const InitRun run({{"pyproject.toml", ""}, {"package.json", "{}"}, {"Makefile", "test:\n"}});
  const ProgramEnd end = run.init({"--dry-run"});
  BOOST_TEST(holds(end.output, "toolchain python: "), end.output);
  BOOST_TEST(holds(end.output, "Node.js with npm, by package.json; to take it: --toolchain node"),
             end.output);
  for (const Arguments& words :
       {Arguments{"node", "--dry-run"}, Arguments{"--toolchain", "node", "--dry-run"}})
    BOOST_TEST(run.init(words).output.find("toolchain node: ") == 0u);

  const InitRun apart({{"services/api/go.mod", ""}, {"web/package.json", "{}"}, {"bin/a.py", ""}});
  const ProgramEnd below = apart.init({"--dry-run"});
  BOOST_TEST(holds(below.output, "toolchain plain: "), below.output);
  BOOST_TEST(holds(below.output, "go in services/api; "), below.output);
  BOOST_TEST(holds(below.output, "node in web; "), below.output);
  BOOST_TEST(!holds(below.output, "in bin; "), below.output);

  const ProgramEnd unknown = run.init({"cobol"});
  BOOST_TEST(unknown.status == 2);
  BOOST_TEST(holds(unknown.errors, "python"), unknown.errors);
}

BOOST_AUTO_TEST_CASE(in_a_folder_of_a_repository_the_workflow_is_at_its_top) {
  const std::string odd = "packages/it's \"#1\": {x}";
  const InitRun run({{"packages/shop/go.mod", ""}, {odd + "/go.mod", ""}});
  run.make_git();

  BOOST_TEST(run.init({}, "packages/shop").status == 0);
  const ProgramEnd second = run.init({}, odd);

  BOOST_TEST(second.status == 0, second.errors);
  BOOST_TEST(run.has("packages/shop/.sortie/task.yaml"));
  BOOST_TEST(run.has("packages/shop/.gitignore"));
  BOOST_TEST(!run.has("packages/shop/.github"));
  BOOST_TEST(holds(run.text(".github/workflows/sortie-packages-shop.yml"),
                   "task: packages/shop/.sortie/task.yaml\n"));
  BOOST_TEST(holds(run.text(".github/workflows/sortie-packages-it-s---1----x-.yml"),
                   "workspace: \"packages/it's \\\"#1\\\": {x}\"\n"));
  BOOST_TEST(!run.task(odd).is_null());
}

BOOST_AUTO_TEST_CASE(links_do_not_lead_it_out_of_the_repository) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  run.write("elsewhere/kept.txt", "kept\n");
  run.make_git();
  fs::create_symlink("../elsewhere", run.workspace() / ".github");
  const ProgramEnd led = run.init();
  BOOST_TEST(led.status == 2, led.output);
  BOOST_TEST(fs::exists(run.path("elsewhere/kept.txt")));
  BOOST_TEST(!fs::exists(run.path("elsewhere/workflows")));
  BOOST_TEST(!run.has(".sortie"));

  fs::remove(run.workspace() / ".github");
  fs::create_symlink("../elsewhere/kept.txt", run.workspace() / ".gitignore");
  BOOST_TEST(run.init().status == 2);
  BOOST_TEST(read_file(run.path("elsewhere/kept.txt")) == "kept\n");
  BOOST_TEST(!run.has(".sortie"));
}

BOOST_AUTO_TEST_CASE(a_file_in_place_of_a_folder_is_said) {
  const InitRun run({{"go.mod", ""}, {".github/workflows", "a file\n"}});
  run.make_git();
  const ProgramEnd end = run.init({"--force"});
  BOOST_TEST(end.status == 2, end.output);
  BOOST_TEST(holds(end.errors, ".github/workflows is no folder; nothing was written"), end.errors);
  BOOST_TEST(run.changed().empty());
}

BOOST_AUTO_TEST_CASE(a_folder_that_can_t_be_written_to_is_said) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  const ImmutableFolder kept(run.workspace());
  if (!kept.works()) {
    BOOST_TEST_MESSAGE("skipped: the file system has no attribute immutable");
    return;
  }
  const ProgramEnd end = run.init();
  BOOST_TEST(end.status == 2, end.output);
  BOOST_TEST(holds(end.errors, "can't write to the folder " + run.workspace().string()),
             end.errors);
  BOOST_TEST(!run.has(".sortie"));
}

BOOST_AUTO_TEST_CASE(a_full_or_read_only_disk_is_said_and_nothing_is_left) {
  if (::getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: mounting a small disk needs root");
    return;
  }
  const InitRun run;
  fs::create_directories(run.workspace());
  const std::string disk = run.workspace().string();
  BOOST_REQUIRE(::mount("none", disk.c_str(), "tmpfs", 0, "size=8k") == 0);
  run.write("work/go.mod", "");
  const ProgramEnd full = run.init({"--ci", "github"});
  const bool left = run.has(".sortie") || run.has(".github");
  const bool remounted =
      ::mount("none", disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=8k") == 0;
  const ProgramEnd read_only = run.init();
  ::umount2(disk.c_str(), MNT_DETACH);

  BOOST_TEST(full.status == 7, full.errors);
  BOOST_TEST(holds(full.errors, "No space left"), full.errors);
  BOOST_TEST(!left);
  BOOST_TEST(remounted);
  BOOST_TEST(read_only.status == 2, read_only.errors);
  BOOST_TEST(holds(read_only.errors, "Read-only"), read_only.errors);
}

BOOST_AUTO_TEST_CASE(the_demo_is_the_sample_and_its_run_needs_nothing_else) {
  const InitRun run;
  ProgramStart start = start_command(run, {"init", "--demo", "a demo"});
  const ProgramEnd made = run_program(start);

  BOOST_TEST(made.status == 0, made.errors);
  BOOST_TEST(made.output.ends_with("\n  sortie run 'a demo/task.yaml' --out 'a demo/out'\n"),
             made.output);
  BOOST_TEST(!holds(made.output, "doctor:"), made.output);
  const fs::path sample = fs::path(SORTIE_SOURCE_DIR) / "samples/python-tool";
  const Said same = run_program(
      {"diff", "-r", "--exclude=__pycache__", "--exclude=sortie-out*", sample.string(), "a demo"},
      run.workspace(), {});
  BOOST_TEST(same.status == 0, same.output);

  start.argv = {sortie_binary(), "run", "a demo/task.yaml", "--out", "a demo/out"};
  const ProgramEnd end = run_program(start);
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(run.text("a demo/out/changes.diff"), "rename to tally/formats/text.py"));
}

BOOST_AUTO_TEST_CASE(the_demo_is_written_into_a_new_or_empty_folder_alone) {
  const InitRun run({{"full/x", ""}, {"file", ""}});
  fs::create_directory(run.workspace() / "empty");
  const struct {
    Arguments words;
    int status;
    const char* says;
  } rows[] = {
      {{"--demo", "full"}, 2, "--demo full: has files, and nothing was written"},
      {{"--demo", "file"}, 2, "--demo file: "},
      {{"--demo", "no/such"}, 2, "--demo no/such: No such file or directory"},
      {{"--demo", "new", "--force"}, 2, "leave out what is for a project"},
      {{"python", "--demo", "new"}, 2, "leave out what is for a project"},
      {{"--demo", "new", "--dry-run"}, 2, "leave out what is for a project"},
      {{"--demo", "empty"}, 0, ""},
      {{"--demo", "empty"}, 2, "--demo empty: has files"},
  };
  for (const auto& row : rows) {
    const ProgramEnd end = run.init(row.words);
    BOOST_TEST(end.status == row.status, end.errors);
    BOOST_TEST(holds(end.errors, row.says), end.errors);
    BOOST_TEST(!run.has("new"));
  }
  BOOST_TEST(fs::is_empty(run.workspace() / "full/x"));
  BOOST_TEST(run.text("empty/project/tally/__init__.py") != "");
}

BOOST_AUTO_TEST_SUITE_END()
