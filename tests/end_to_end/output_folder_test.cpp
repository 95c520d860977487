// Which folders --out may be, and what becomes of what stands in them.
#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool says(const ProgramEnd& end, const std::string& part) {
  return end.errors.find(part) != std::string::npos;
}

void write_staged_task(const RunFolder& folder) {
  folder.write_task(CassetteWriter().message("the plan").next().message("done"), "");
  folder.write("task.yaml",
               "version: 1\nworkspace: {path: work}\npolicy: auto\nexpect: {changes: any}\n"
               "model: {provider: replay, cassette: cassette.jsonl}\n"
               "stages:\n  - {name: plan, prompt: Plan., save: plan.md}\n"
               "  - {name: work, prompt: Work.}\n");
}

/// Starts a run that stays in a command, and kills it with all that is its own.
void leave_a_killed_run(const RunFolder& folder) {
  const std::string mark = folder.path("mark").string();
  folder.write_task(
      CassetteWriter().shell({"sh", "-c", "sleep 1000; : " + mark}).next().message("done"),
      "policy: auto\n");
  Program run(folder.plain_start());
  BOOST_REQUIRE(wait_until([&] { return !processes_with(mark).empty(); }));
  run.signal(SIGKILL);
  BOOST_TEST(run.finish().status == 137);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(output_folder)

BOOST_AUTO_TEST_CASE(a_folder_that_is_refused_stays_byte_for_byte_as_it_was) {
  const RunFolder folder;
  write_staged_task(folder);
  const struct {
    const char* name;
    std::vector<std::pair<std::string, std::string>> files;
    const char* why;
  } rows[] = {
      {"own-lock", {{".lock", "mine\n"}}, "holds '.lock'"},
      {"lock-and-more", {{".lock", "12"}, {"notes.txt", "mine"}}, "holds 'notes.txt'"},
      {"notes", {{"notes.txt", "mine"}}, "holds 'notes.txt'"},
      {"state", {{"state/terraform.tfstate", "mine"}}, "holds 'state'"},
      {"blobs", {{"blobs/one", "mine"}}, "holds 'blobs'"},
      {"result", {{"result.json", "{\"score\": 1}"}}, "holds 'result.json'"},
      {"empty-lock", {{".lock", ""}, {"state/terraform.tfstate", "mine"}}, "holds 'state'"},
      {"lock-and-state", {{".lock", "12"}, {"state/terraform.tfstate", "x"}}, "holds 'state'"},
      {"lock-and-kept", {{".lock", "12"}, {"kept/photo", "mine"}}, "holds 'kept'"},
      {"lock-and-report", {{".lock", "12"}, {"report.html", "mine"}}, "holds 'report.html'"},
      {"chat", {{"transcript.jsonl", "{\"role\": \"user\"}\n"}, {"state/a", "x"}}, "holds 'state'"},
      {"empty-chat", {{".lock", "12"}, {"transcript.jsonl", ""}}, "holds 'transcript.jsonl'"},
      {"others-result",
       {{"result.json", R"({"status": "ok", "run_id": "7"})"}, {"state/a", "mine"}},
       "holds 'result.json'"},
      {"alike", {{".lock", "12"}, {"changes.diff.mine", "mine"}}, "holds 'changes.diff.mine'"},
      {"temporary", {{".lock", "12"}, {".sortie-mine.txt", "x"}}, "holds '.sortie-mine.txt'"},
  };
  for (const auto& row : rows) {
    for (const auto& [name, content] : row.files)
      folder.write(std::string(row.name) + "/" + name, content);
    const auto before = read_tree(folder.path(row.name));
    for (const bool fresh : {false, true}) {
      std::vector<std::string> flags = {"--out", folder.path(row.name).string()};
      if (fresh) flags.emplace_back("--fresh");

      const ProgramEnd end = run_program(folder.plain_start(flags));

      BOOST_TEST(end.status == 2, row.name << ": " << end.errors);
      BOOST_TEST(says(end, row.why), row.name << ": " << end.errors);
      BOOST_TEST((read_tree(folder.path(row.name)) == before), row.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_root_of_the_machine_is_no_output_folder) {
  const RunFolder folder;
  write_staged_task(folder);
  BOOST_TEST(run_program(folder.plain_start({"--out", "/"})).status == 2);
  BOOST_TEST(!fs::exists("/.lock"));
}

BOOST_AUTO_TEST_CASE(a_run_knows_what_its_stages_saved) {
  const RunFolder folder;
  write_staged_task(folder);
  for (int times = 0; times < 3; ++times) {
    const ProgramEnd end = folder.run();
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(folder.artifact("plan.md") == "the plan\n");
  }
  folder.write("out/mine.md", "x");
  const ProgramEnd end = run_program(folder.plain_start());
  BOOST_TEST(end.status == 2);
  BOOST_TEST(says(end, "holds 'mine.md'"), end.errors);
}

BOOST_AUTO_TEST_CASE(what_a_killed_run_left_is_known_and_fresh_discards_it) {
  const RunFolder folder;
  leave_a_killed_run(folder);
  folder.write("out/.sortie-0123456789abcdef.tmp", "half of it");
  folder.write("out/.events-aB3dE6", "");
  write_staged_task(folder);

  const ProgramEnd refused = run_program(folder.plain_start());
  const ProgramEnd fresh = folder.run({"--fresh"});

  BOOST_TEST(refused.status == 2);
  BOOST_TEST(says(refused, "holds an unfinished run"), refused.errors);
  BOOST_TEST(fresh.status == 0, fresh.errors);
  BOOST_TEST(!fs::exists(folder.out() / ".sortie-0123456789abcdef.tmp"));
  BOOST_TEST(!fs::exists(folder.out() / ".events-aB3dE6"));
}

BOOST_AUTO_TEST_CASE(what_a_run_that_was_killed_was_to_save_is_known_too) {
  const RunFolder folder;
  write_staged_task(folder);
  BOOST_REQUIRE(folder.run().status == 0);
  // As it stands after a kill between the first stage and the end.
  Json running = folder.result();
  running.set("status", "running");
  running.members().erase(
      std::remove_if(running.members().begin(), running.members().end(),
                     [](const auto& member) { return member.first == "artifacts"; }),
      running.members().end());
  running.set("saves", Json::array({"plan.md"}));
  folder.write("out/result.json", write_json(running));

  const ProgramEnd end = folder.run({"--fresh"});

  BOOST_TEST(end.status == 0, end.errors);
}

BOOST_AUTO_TEST_CASE(what_a_run_left_that_was_killed_before_its_first_record_is_known) {
  const RunFolder folder;
  write_staged_task(folder);
  BOOST_REQUIRE(folder.run().status == 0);
  const std::string running =
      write_json(Json::object({{"status", "running"},
                               {"version", 1},
                               {"sortie", folder.result().string_at("sortie")},
                               {"run_id", folder.result().string_at("run_id")}}));
  const struct {
    const char* name;
    std::vector<std::pair<std::string, std::string>> files;
    int status;
  } rows[] = {
      {"before its id", {{".lock", ""}}, 0},
      {"before its result", {{".lock", "12"}, {".sortie-0123456789abcdef.tmp", "{"}}, 0},
      {"before its transcript",
       {{".lock", "12"}, {"result.json", running}, {"state/upper/a", "x"}},
       0},
      {"in its first record",
       {{"result.json", running}, {"transcript.jsonl", "{\"seq\":0,\"t"}, {"state/upper/a", "x"}},
       0},
  };
  for (const auto& row : rows) {
    const std::string out = folder.path(row.name).string();
    for (const auto& [name, content] : row.files)
      folder.write(std::string(row.name) + "/" + name, content);
    const ProgramEnd plain = run_program(folder.plain_start({"--out", out}));
    BOOST_TEST(plain.status == row.status, row.name << ": " << plain.errors);
    BOOST_TEST(run_program(folder.plain_start({"--out", out, "--fresh"})).status == 0, row.name);
    BOOST_TEST(!fs::exists(folder.path(row.name) / "state"), row.name);
  }
}

BOOST_AUTO_TEST_CASE(a_previous_folder_that_is_no_runs_is_not_removed) {
  const RunFolder folder;
  write_staged_task(folder);
  BOOST_REQUIRE(folder.run().status == 0);
  folder.write("out.prev", "a file of mine");

  const ProgramEnd end = run_program(folder.plain_start());

  BOOST_TEST(end.status == 2);
  BOOST_TEST(says(end, "is not a folder"), end.errors);
  BOOST_TEST(read_file(folder.path("out.prev")) == "a file of mine");
}

BOOST_AUTO_TEST_CASE(a_previous_folder_that_was_being_made_at_a_kill_is_made_anew) {
  const RunFolder folder;
  write_staged_task(folder);
  BOOST_REQUIRE(folder.run().status == 0);
  folder.write("out.prev/.sortie-0123456789abcdef.tmp", "{");

  const ProgramEnd end = run_program(folder.plain_start());

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(fs::exists(folder.path("out.prev/result.json")));
  BOOST_TEST(!fs::exists(folder.path("out.prev/.sortie-0123456789abcdef.tmp")));
}

BOOST_AUTO_TEST_CASE(what_somebody_put_into_a_runs_own_folders_is_never_removed) {
  const char* const names[] = {"kept/photo.jpg", "kept/deep/er/photo.jpg", "kept/AGENTS.md",
                               "state/terraform.tfstate", "blobs/mine.bin"};
  for (const bool finished : {true, false}) {
    for (const char* name : names) {
      for (const char* place : {"out/", "out.prev/"}) {
        if (!finished && place == std::string("out.prev/")) continue;
        BOOST_TEST_CONTEXT(finished << ", " << place << name) {
          const RunFolder folder;
          if (finished) {
            write_staged_task(folder);
            for (int times = 0; times < 2; ++times) BOOST_REQUIRE(folder.run().status == 0);
          } else {
            leave_a_killed_run(folder);
          }
          folder.write(place + std::string(name), "mine");
          write_staged_task(folder);

          const ProgramEnd again = run_program(folder.plain_start());
          const ProgramEnd fresh = run_program(folder.plain_start({"--fresh"}));

          BOOST_TEST(again.status == 2, again.errors);
          BOOST_TEST(says(again, std::string("holds '") + name + "'"), again.errors);
          BOOST_TEST(read_file(folder.path(place + std::string(name))) == "mine");
          // --fresh leaves the run before alone.
          BOOST_TEST(fresh.status == (place == std::string("out/") ? 2 : 0), fresh.errors);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_killed_run_has_taken_away_is_its_own) {
  const RunFolder folder;
  leave_a_killed_run(folder);
  folder.write("out/kept/docs/CODEOWNERS.taken", "x");
  folder.write("out/kept/.github.taken/.git.taken/config", "x");
  write_staged_task(folder);

  const ProgramEnd end = run_program(folder.plain_start({"--fresh"}));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(!fs::exists(folder.out() / "kept"));
}

BOOST_AUTO_TEST_CASE(what_a_killed_run_was_about_to_keep_is_its_own) {
  const RunFolder folder;
  leave_a_killed_run(folder);
  Json result = parse_json(folder.artifact("result.json"));
  result.set("kept", Json::object({{"src/a.bin", Json()}}));
  write_file(folder.out() / "result.json", write_json(result));
  folder.write("out/kept/src/a.bin", "a part");
  write_staged_task(folder);

  const ProgramEnd end = run_program(folder.plain_start({"--fresh"}));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(!fs::exists(folder.out() / "kept"));
}

BOOST_AUTO_TEST_CASE(verify_lists_what_no_run_has_left_and_vouches_for_the_rest) {
  for (const bool finished : {true, false}) {
    BOOST_TEST_CONTEXT(finished) {
      const RunFolder folder;
      if (finished) {
        write_staged_task(folder);
        BOOST_REQUIRE(folder.run().status == 0);
      } else {
        leave_a_killed_run(folder);
        folder.write("out/kept/photo.jpg", "mine");
      }
      folder.write("out/notes.txt", "mine");
      const ProgramStart verify{.argv = {sortie_binary(), "verify", folder.out().string()}};

      const ProgramEnd end = run_program(verify);
      folder.write("out/partial.diff", "mine");
      const ProgramEnd impersonated = run_program(verify);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(end.output.find("all fit") != std::string::npos, end.output);
      BOOST_TEST(end.output.find("foreign: notes.txt: no run wrote it\n") != std::string::npos,
                 end.output);
      BOOST_TEST((end.output.find("foreign: kept/photo.jpg") != std::string::npos) == !finished,
                 end.output);
      BOOST_TEST(impersonated.status == (finished ? 8 : 0), impersonated.errors);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
