// Whether a finished run is returned: only while its tree is known to be at its start or end.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

struct AppliedRun : RunFolder {
  explicit AppliedRun(const std::string& script, bool git = false) {
    write("work/dir/a.txt", "a\n");
    write("work/dir/b.txt", "b\n");
    write("work/gone/x.txt", "x\n");
    write("work/emptied/in/y.txt", "y\n");
    write("work/other/o.txt", "o\n");
    write("work/top.txt", "top\n");
    fs::create_directory(workspace() / "nothing");
    if (git) commit_workspace();
    write_task(CassetteWriter().shell({"sh", "-c", script}).next().message("done"),
               "policy: auto\n");
    const ProgramEnd end = run();
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    first = result().string_at("run_id");
  }
  void in_workspace(const std::string& line) const {
    BOOST_REQUIRE(std::system(("cd '" + workspace().string() + "' && " + line).c_str()) == 0);
  }
  void apply() const { in_workspace("git apply ../out/changes.diff"); }
  /// Whether the same command returns the run.
  bool is_returned() const {
    run_program(plain_start({"--reuse", "success"}));  // where the script runs again, it may fail
    return result().string_at("run_id") == first;
  }

  std::string first;
};

constexpr const char* kScript =
    "echo two >> dir/a.txt; mkdir -p new/er; echo n > new/er/n.txt; rm -r gone emptied; "
    "mv top.txt renamed.txt";

}  // namespace

BOOST_AUTO_TEST_SUITE(known_tree)

BOOST_AUTO_TEST_CASE(a_file_that_was_removed_beside_an_applied_diff_makes_the_tree_unknown) {
  const char* const rows[] = {"rm dir/b.txt",    "rm other/o.txt",  "rmdir nothing",
                              "rm -r other",     "mkdir new/empty", "mv other/o.txt dir/",
                              "touch dir/c.txt", "mkfifo dir/pipe", "mv dir/b.txt dir/a.bak"};
  for (const char* row : rows) {
    BOOST_TEST_CONTEXT(row) {
      const AppliedRun run(kScript);
      run.apply();
      BOOST_TEST(run.is_returned());

      run.in_workspace(row);

      BOOST_TEST(!run.is_returned());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_was_not_as_in_the_commit_and_was_put_back_makes_the_tree_unknown) {
  const RunFolder run;
  run.write("work/a.txt", "one\n");
  run.commit_workspace();
  run.write("work/a.txt", "one\nmine\n");
  run.write_task(CassetteWriter().shell({"sh", "-c", "echo two >> a.txt"}).next().message("done"),
                 "policy: auto\n");
  BOOST_REQUIRE(run.run().status == 0);
  const std::string first = run.result().string_at("run_id");
  const auto again = [&] {
    const ProgramEnd end = run_program(run.plain_start({"--reuse", "success"}));
    BOOST_TEST(end.status == 0, end.errors);
    return run.result().string_at("run_id");
  };
  BOOST_TEST(again() == first);

  BOOST_REQUIRE(
      std::system(("git -C '" + run.workspace().string() + "' checkout -q a.txt").c_str()) == 0);

  BOOST_TEST(again() != first);
  BOOST_TEST(run.artifact("changes.diff").find("mine") == std::string::npos);
}

namespace {

/// A repository with a changed, a staged, a removed and an untracked file, of which the run changes none.
struct ChangedRepository : RunFolder {
  explicit ChangedRepository(const std::string& with) : isolation(with) {
    for (const char* name : {"agent.txt", "changed.txt", "staged.txt", "removed.txt", "program.sh"})
      write(std::string("work/") + name, "one\n");
    write("work/.gitignore", "ignored.txt\n");
    commit_workspace();
    write("work/changed.txt", "mine\n");
    write("work/staged.txt", "mine\n");
    in_workspace("git add staged.txt; rm removed.txt; chmod +x program.sh; ln -s agent.txt link");
    write("work/dir/untracked file.txt", "mine\n");
    write("work/ignored.txt", "mine\n");
    write_task(CassetteWriter().shell({"sh", "-c", "echo two >> agent.txt"}).next().message("done"),
               "policy: auto\n");
    const ProgramEnd end = run({"--isolation", isolation});
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    first = result().string_at("run_id");
  }
  void in_workspace(const std::string& line) const {
    BOOST_REQUIRE(std::system(("cd '" + workspace().string() + "' && { " + line + "; }").c_str()) ==
                  0);
  }
  bool is_returned() const {
    run_program(plain_start({"--reuse", "success", "--isolation", isolation}));
    return result().string_at("run_id") == first;
  }
  Json state() const {
    Json found;
    for (const Json& record : records("workspace.state")) found = record["data"];
    return found;
  }
  std::vector<Json> records(const std::string& type) const {
    std::vector<Json> found;
    each_record_line(out() / "transcript.jsonl", [&](std::string_view line) {
      Json record = parse_json(std::string(line));
      if (record.string_at("type") == type) found.push_back(std::move(record));
      return true;
    });
    return found;
  }

  std::string isolation;
  std::string first;
};

std::string digest_of(const std::string& content) { return sha256_hex(content); }

}  // namespace

BOOST_AUTO_TEST_CASE(what_the_workspace_has_beside_its_commit_is_in_the_record) {
  for (const char* isolation : {"overlay", "copy", "none"}) {
    BOOST_TEST_CONTEXT(isolation) {
      const ChangedRepository run(isolation);

      const std::string list = "file " + digest_of("mine\n") + " changed.txt\nfile " +
                               digest_of("mine\n") + " dir/untracked file.txt\nlink " +
                               digest_of("agent.txt") + " link\nprogram " + digest_of("one\n") +
                               " program.sh\ngone removed.txt\nfile " + digest_of("mine\n") +
                               " staged.txt\n";
      BOOST_REQUIRE(run.records("workspace.state").size() == 1u);
      BOOST_TEST(run.state().string_at("list") == list);
      BOOST_TEST(run.state().string_at("digest") == "sha256:" + digest_of(list));
      BOOST_TEST(run.state().integer_at("changes") == 6);
      // The request does not wait for it; no call has an effect before it.
      const auto seq = [&](const char* type) {
        return run.records(type).front().integer_at("seq");
      };
      BOOST_TEST(seq("model.request") < seq("workspace.state"));
      BOOST_TEST(seq("workspace.state") < seq("tool.call"));
      BOOST_TEST(run_program({.argv = {sortie_binary(), "verify", run.out().string()}}).status ==
                 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_was_removed_or_put_back_beside_the_diff_makes_the_tree_unknown) {
  const char* const rows[] = {"rm 'dir/untracked file.txt'", "git checkout -q changed.txt",
                              "git reset -q --hard",         "git checkout -q removed.txt",
                              "chmod -x program.sh",         "rm link"};
  for (const std::string isolation : {"overlay", "none"})
    for (const bool applied : {false, true})
      for (const char* row : rows) {
        if (isolation == "none" && !applied) continue;
        BOOST_TEST_CONTEXT(isolation << ", " << (applied ? "applied: " : "") << row) {
          const ChangedRepository run(isolation);
          if (applied && isolation != "none") run.in_workspace("git apply ../out/changes.diff");
          BOOST_TEST(run.is_returned());

          run.in_workspace(row);

          BOOST_TEST(!run.is_returned());
        }
      }
}

BOOST_AUTO_TEST_CASE(a_folder_without_git_has_its_files_in_the_record_by_their_times) {
  for (const std::string isolation : {"overlay", "none"}) {
    RunFolder run;
    run.write("work/dir/a.txt", "a\n");
    run.write("work/b.txt", "b\n");
    run.write_task(CassetteWriter().shell({"sh", "-c", "echo two >> b.txt"}).next().message("done"),
                   "policy: auto\n");
    BOOST_REQUIRE(run.run({"--isolation", isolation}).status == 0);
    std::string list;
    each_record_line(run.out() / "transcript.jsonl", [&](std::string_view line) {
      const Json record = parse_json(std::string(line));
      if (record.string_at("type") == "workspace.state") list = record["data"].string_at("list");
      return true;
    });
    BOOST_TEST(list.starts_with("folder /\nfile 2@"), list);
    BOOST_TEST(list.find(" b.txt\nfolder dir/\nfile 2@") != std::string::npos, list);
    BOOST_TEST(list.ends_with(" dir/a.txt\n"), list);
    const std::string first = run.result().string_at("run_id");
    const auto is_returned = [&] {
      run_program(run.plain_start({"--reuse", "success", "--isolation", isolation}));
      return run.result().string_at("run_id") == first;
    };
    BOOST_TEST(is_returned());

    fs::remove(run.workspace() / "dir/a.txt");

    BOOST_TEST(!is_returned());
  }
}

BOOST_AUTO_TEST_CASE(a_change_beside_very_many_of_an_applied_diff_is_seen) {
  for (const bool git : {false, true}) {
    BOOST_TEST_CONTEXT(git) {
      const AppliedRun run(
          "mkdir many; i=0; while [ $i -lt 1100 ]; do echo $i > many/$i; i=$((i+1)); done", git);
      run.apply();
      BOOST_TEST(run.is_returned());

      run.in_workspace("echo changed > zz.txt");

      BOOST_TEST(!run.is_returned());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
