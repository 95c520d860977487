// Runs that were killed, and go on from their checkpoint: on another machine, or after a power loss.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "ci/result_check.h"
#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kPatch =
    "*** Begin Patch\n*** Update File: a.txt\n-a\n+by patch\n*** Add File: deep/er/new.txt\n+new\n"
    "*** Delete File: gone.txt\n*** End Patch\n";

/// Changes of every kind, with `third` as the third call.
CassetteWriter script(const std::string& third) {
  return CassetteWriter()
      .shell(
          {"sh", "-c",
           "printf one > p.sh; chmod 755 p.sh; ln -s a.txt link; rm -r folder; echo f > folder; "
           "printf '\\0\\1' > 'sp ace%.bin'; echo cache > ignored.o; printf x > \"$(printf 'l\\344')\""})
      .next()
      .patch(kPatch)
      .next()
      .shell({"sh", "-c", third})
      .next()
      .shell({"sh", "-c", "cat ignored.o p.sh; ./p.sh; echo end >> a.txt"})
      .next()
      .message("done");
}

struct MovableRun : RunFolder {
  explicit MovableRun(const std::string& third) {
    write("work/a.txt", "a\n");
    write("work/b.txt", "b\n");
    write("work/gone.txt", "gone\n");
    write("work/folder/in/it.txt", "it\n");
    write("work/.gitignore", "*.o\n");
    write_task(script(third), "policy: auto\n");
  }
  fs::path tree() const {
    std::error_code error;
    return fs::exists(out() / "state/upper", error) ? out() / "state/upper" : out() / "state/tree";
  }
  /// Kills it in its third call.
  void kill_in_third(const ProgramStart& start) const {
    Program program(start);
    BOOST_REQUIRE(wait_until([this] {
      std::error_code error;
      return fs::exists(tree() / "here", error);
    }));
    program.signal(SIGKILL);
    program.finish();
  }
  /// Takes another one's --out and commit, as they come to another machine.
  void take_over(const MovableRun& other, const Caller& caller) const {
    run_shell(
        "rm -rf '" + workspace().string() + "' && git clone -q '" + other.workspace().string() +
        "' '" + workspace().string() + "' && mkdir '" + out().string() + "' && cd '" +
        other.out().string() +
        "' && tar --exclude=./state/work --exclude=./state/upper --exclude=./state/tree -cf - . | tar -xf - -C '" +
        out().string() + "'");
    give_to(task().parent_path(), caller.uid);
  }
  static void run_shell(const std::string& line) {
    BOOST_REQUIRE_MESSAGE(std::system(line.c_str()) == 0, line);
  }
};

constexpr const char* kLost =
    "echo lost > lost.txt; echo lost >> a.txt; touch here; exec sleep 1000";

std::string undisturbed_diff() {
  const MovableRun run("true");
  run.commit_workspace();
  const ProgramEnd end = run_program(run.plain_start());
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  return run.artifact("changes.diff");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(moved_run)

BOOST_AUTO_TEST_CASE(another_machine_goes_on_from_the_last_checkpoint) {
  const std::string wanted = undisturbed_diff();
  const MovableRun first(kLost);
  first.commit_workspace();
  first.kill_in_third(first.plain_start());
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const MovableRun second(kLost);
      second.take_over(first, caller);

      const ProgramEnd end = run_program(as_caller(caller, second.plain_start()));

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      BOOST_TEST(second.artifact("changes.diff") == wanted);
      const std::string output = second.output(2);
      BOOST_TEST(output.starts_with("Interrupted: "), output);
      BOOST_TEST(output.find("what it changed in the workspace is not kept") != std::string::npos,
                 output);
      BOOST_TEST(second.output(3).find("cache\none") != std::string::npos, second.output(3));
      BOOST_TEST(second.artifact("transcript.jsonl").find("as it was at the end of turn 2") !=
                 std::string::npos);
      BOOST_TEST(verify_run(second.out()).ok, verify_run(second.out()).problem);
      // One of the callers goes on in another isolation than the record began in.
      BOOST_TEST(result_mismatch(second.out()) == "");
      for (const char* name : {"state", "changes.tar", "restore.tar"})
        BOOST_TEST(!fs::exists(second.out() / name), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_from_a_checkpoint_after_a_restart_of_the_machine) {
  const std::string wanted = undisturbed_diff();
  for (const bool inside : {false, true}) {
    BOOST_TEST_CONTEXT("--out inside of the workspace: " << inside) {
      const MovableRun run(kLost);
      run.commit_workspace();
      const fs::path out = inside ? run.workspace() / "out" : run.out();
      const ProgramStart start = run.plain_start({"--out", out.string()});
      Program program(start);
      BOOST_REQUIRE(wait_until([&] {
        std::error_code error;
        return fs::exists(out / "state/upper/here", error) ||
               fs::exists(out / "state/tree/here", error);
      }));
      program.signal(SIGKILL);
      program.finish();
      if (inside) {  // $TMPDIR is empty after a restart
        fs::remove_all(fs::read_symlink(out / "state"));
      } else {
        Json mark = parse_json(run.artifact("state/key"));
        mark.set("boot", "00000000-0000-0000-0000-000000000000");
        run.write("out/state/key", write_json(mark));
      }

      const ProgramEnd end = run_program(start);

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      BOOST_TEST(read_file(out / "changes.diff") == wanted);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_torn_checkpoint_leaves_the_one_before) {
  const std::string wanted = undisturbed_diff();
  const MovableRun first(kLost);
  first.commit_workspace();
  first.kill_in_third(first.plain_start());
  const std::string whole = first.artifact("state/changes.tar");
  const std::size_t last = whole.rfind("checkpoint.json");
  BOOST_REQUIRE(last != std::string::npos);
  const struct {
    const char* what;
    std::function<std::string()> torn;
    int turn;  ///< of the checkpoint that is left
  } rows[] = {
      {"bytes after it", [&] { return whole + std::string(700, 'x'); }, 2},
      {"cut in its end", [&] { return whole.substr(0, last + 600); }, 1},
      {"cut in a file", [&] { return whole.substr(0, whole.rfind("by patch") + 1); }, 1},
      {"another content",
       [&] {
         std::string other = whole;
         other[other.rfind("by patch")] = 'B';
         return other;
       },
       1},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.what) {
      const MovableRun second(kLost);
      second.take_over(first, {});
      write_file(second.out() / "state/changes.tar", row.torn());

      const ProgramEnd end = run_program(second.plain_start());

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      const std::string text = second.artifact("transcript.jsonl");
      BOOST_TEST(text.find("as it was at the end of turn " + std::to_string(row.turn)) !=
                 std::string::npos);
      if (row.turn == 2) BOOST_TEST(second.artifact("changes.diff") == wanted);
      if (row.turn == 1) BOOST_TEST(text.find("is not kept: apply_patch (") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_checkpoint_on_another_base_is_refused_with_what_differs) {
  const struct {
    const char* path;
    bool in_commit;  ///< changed before the first run, not committed
  } rows[] = {{"a.txt", false}, {"b.txt", false}, {"new.txt", false}, {"b.txt", true}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.path << " " << row.in_commit) {
      const MovableRun first(kLost);
      first.commit_workspace();
      if (row.in_commit) first.write(std::string("work/") + row.path, "mine\n");
      first.kill_in_third(first.plain_start());
      const MovableRun second(kLost);
      second.take_over(first, {});
      if (!row.in_commit) second.write(std::string("work/") + row.path, "mine\n");

      const ProgramEnd end = run_program(second.plain_start());

      BOOST_TEST(end.status == 2, end.errors);
      BOOST_TEST(
          end.errors.find(std::string("the workspace differs in ") + row.path) != std::string::npos,
          end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_base_of_any_size_is_compared) {
  constexpr int kFiles = 1500;
  const auto fill = [](const MovableRun& run) {
    for (int i = 0; i < kFiles; ++i)
      run.write("work/many/" + std::to_string(10000 + i), std::to_string(i) + "\n");
  };
  const struct {
    const char* what;
    const char* path;  ///< what differs behind the first 1000 paths; "": nothing
    const char* change;
  } rows[] = {
      {"the same", "", "true"},
      {"another content", "many/11400", "echo other > many/11400"},
      {"one more", "many/11400-", "echo more > many/11400-"},
      {"one less", "many/11400", "rm many/11400"},
      {"executable", "many/11400", "chmod +x many/11400"},
      {"one of the commit is gone", "zz.txt", "rm zz.txt"},
  };
  for (const std::string isolation : {"overlay", "none"}) {
    const MovableRun first(kLost);
    first.write("work/zz.txt", "zz\n");
    first.commit_workspace();
    fill(first);
    Program program(first.plain_start({"--isolation", isolation}));
    BOOST_REQUIRE(wait_until([&] {
      return fs::exists((isolation == "none" ? first.workspace() : first.tree()) / "here");
    }));
    program.signal(SIGKILL);
    program.finish();
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT(isolation << ": " << row.what) {
        const MovableRun second(kLost);
        second.take_over(first, {});
        fill(second);
        MovableRun::run_shell("cd '" + second.workspace().string() + "' && " + row.change);

        const ProgramEnd end = run_program(second.plain_start({"--isolation", isolation}));

        const std::string path = row.path;
        BOOST_TEST(end.status == (path.empty() ? 0 : 2), end.errors);
        if (!path.empty())
          BOOST_TEST(end.errors.find("the workspace differs in " + path + ";") != std::string::npos,
                     end.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stopped_run_is_taken_over_with_all_that_it_did) {
  const MovableRun first(kLost);
  first.commit_workspace();
  Program program(first.plain_start());
  BOOST_REQUIRE(wait_until([&] {
    std::error_code error;
    return fs::exists(first.tree() / "here", error);
  }));
  program.signal(SIGTERM);
  BOOST_REQUIRE(program.finish().status == 143);
  const MovableRun second(kLost);
  second.take_over(first, {});

  const ProgramEnd end = run_program(second.plain_start());

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(second.artifact("changes.diff").find("+lost\n+end\n") != std::string::npos,
             second.artifact("changes.diff"));
}

BOOST_AUTO_TEST_SUITE_END()
