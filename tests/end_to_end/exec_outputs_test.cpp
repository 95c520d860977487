// A command of the task moves the folder of an output away and puts a link in its place.
#include <fcntl.h>
#include <sys/file.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "tests/end_to_end/exec_run.h"
#include "tests/end_to_end/own_tree_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// A folder of the user's outside of the workspace, to which a command leads sortie.
struct Elsewhere {
  explicit Elsewhere(const RunFolder& run) : folder(run.path("elsewhere")) {
    fs::create_directories(folder / "out/threads");
    fs::permissions(folder, fs::perms::all);
    fs::permissions(folder / "out", fs::perms::all);
    fs::permissions(folder / "out/threads", fs::perms::all);
  }
  /// What was written there, in words.
  std::string found() const {
    std::string names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path() != folder / "out" && entry.path() != folder / "out/threads")
        names += entry.path().lexically_relative(folder).string() + " ";
    return names;
  }
  std::string moves(const std::string& name) const {
    return "mv " + name + " moved; ln -s " + folder.string() + " " + name + "; true";
  }
  fs::path folder;
};

/// Everybody may write to it: callers are users of all kinds.
void make_folder(const fs::path& folder) {
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::all);
}

/// Without namespaces nothing could be mounted over it.
bool is_refused(const std::vector<std::string>& words) { return words.front() == "--out"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_outputs)

BOOST_AUTO_TEST_CASE(no_command_leads_an_output_out_of_the_workspace) {
  const std::vector<std::vector<std::string>> flags = {
      {"-o", "rep/a.md"}, {"--diff", "rep/x.diff"}, {"--out", "rep/out"}};
  for (const Caller& caller : all_callers())
    for (const auto& words : flags) BOOST_TEST_CONTEXT(caller.name << " " << words.front()) {
        const ExecRun run;
        const Elsewhere elsewhere(run);
        make_folder(run.workspace() / "rep");
        CassetteWriter cassette;
        cassette.shell({"sh", "-c", elsewhere.moves("rep")}).next().message("Done.");
        const ModelServer server(served(cassette));
        std::vector<std::string> all = {"-s", "workspace-write"};
        all.insert(all.end(), words.begin(), words.end());
        all.emplace_back("Go.");

        const ProgramEnd end = run.run_as(caller, run.exec(all, base_url(server)));

        BOOST_TEST(elsewhere.found() == "");
        if (caller.namespaces) {
          BOOST_TEST(end.status == 0, end.errors);
          BOOST_TEST(fs::exists(run.workspace() / words.back()));
        } else if (!is_refused(words)) {
          BOOST_TEST(end.status == 1);
          BOOST_TEST(holds(end.errors, words.front() == "-o" ? "--output-last-message" : "--diff"),
                     end.errors);
          BOOST_TEST(!fs::exists(run.workspace() / "moved" / fs::path(words.back()).filename()));
        }
      }
}

BOOST_AUTO_TEST_CASE(no_command_leads_the_store_of_the_threads_elsewhere) {
  for (const Caller& caller : all_callers()) BOOST_TEST_CONTEXT(caller.name) {
      const ExecRun run;
      const Elsewhere elsewhere(run);
      make_folder(run.workspace() / "rep/out");
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", elsewhere.moves("rep")}).next().message("Done.");
      const ModelServer server(served(cassette));
      ProgramStart start = run.exec({"-s", "workspace-write", "Go."}, base_url(server));
      start.environment["CODEX_HOME"] = (run.workspace() / "rep/out").string();

      const ProgramEnd end = run.run_as(caller, start);

      BOOST_TEST(elsewhere.found() == "");
      BOOST_TEST(end.status == (caller.namespaces ? 0 : 1), end.errors);
    }
}

BOOST_AUTO_TEST_CASE(the_threads_are_out_of_reach_whatever_becomes_of_this_one) {
  const std::string id = "0199a0a0-0000-7000-8000-000000000000";
  const std::vector<std::vector<std::string>> flags = {{"--ephemeral"}, {"--out", "out"}};
  for (const auto& words : flags) BOOST_TEST_CONTEXT(words.front()) {
      const ExecRun run;
      const fs::path home = run.workspace() / "codex";
      run.write("work/codex/threads/" + id + "/" + id + "/transcript.jsonl", "a secret prompt\n");
      CassetteWriter cassette;
      cassette
          .shell({"sh", "-c",
                  "grep -rs 'a secret prompt' . && echo seen; mkdir -p codex/threads/" + id +
                      "/planted && echo planted; true"})
          .next()
          .message("Two.");
      const ModelServer server(served(cassette));
      std::vector<std::string> all = {"-s", "workspace-write"};
      all.insert(all.end(), words.begin(), words.end());
      all.emplace_back("find it");
      ProgramStart start = run.exec(all, base_url(server));
      start.environment["CODEX_HOME"] = home.string();

      BOOST_TEST(run_program(start).status == 0);

      const std::string outputs = outputs_in(server.requests().back());
      BOOST_TEST(!holds(outputs, "seen"), outputs);
      BOOST_TEST(!holds(outputs, "planted"), outputs);
      BOOST_TEST(!fs::exists(home / "threads" / id / "planted"));
    }
}

BOOST_AUTO_TEST_CASE(in_the_own_tree_no_command_leads_a_runs_outputs_elsewhere) {
  const OwnTreeRun run("true");
  const Elsewhere elsewhere(run);
  fs::create_directory(run.workspace() / "rep");
  run.write_task(script("touch made; " + elsewhere.moves("rep")), "policy: auto\n");
  const auto in_rep = [&run](const char* name) {
    return (run.workspace() / "rep" / name).string();
  };

  const ProgramEnd end =
      run.run({"--isolation", "none", "--diff", in_rep("x.diff"), "-o", in_rep("a.md"),
               "--status-file", in_rep("s.json"), "--out", in_rep("out")});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(elsewhere.found() == "");
  for (const char* name : {"x.diff", "a.md", "s.json", "out/result.json"})
    BOOST_TEST(fs::exists(in_rep(name)), name);
}

BOOST_AUTO_TEST_CASE(an_output_folder_in_a_writable_path_is_no_commands) {
  const RunFolder run;
  const Elsewhere elsewhere(run);
  fs::create_directories(run.path("data/deep"));
  fs::permissions(run.path("data"), fs::perms::all);
  fs::permissions(run.path("data/deep"), fs::perms::all);
  const std::string data = run.path("data").string();
  run.write("policy.yaml",
            "version: 1\nextends: auto\npaths: {write: [\".\", \"" + data + "\"]}\n");
  run.write_task(script("touch made; cd " + data + "; echo forged >> deep/out/transcript.jsonl; " +
                        elsewhere.moves("deep")),
                 "policy: policy.yaml\n");

  const ProgramEnd end = run.run({"--out", data + "/deep/out", "-o", data + "/deep/a.md"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(elsewhere.found() == "");
  BOOST_TEST(fs::exists(data + "/deep/a.md"));
  BOOST_TEST(!holds(read_file(data + "/deep/out/transcript.jsonl"), "\nforged"));
}

BOOST_AUTO_TEST_CASE(an_unconfined_command_that_moves_out_costs_the_success_and_not_the_record) {
  const ExecRun run;
  const Elsewhere elsewhere(run);
  make_folder(run.workspace() / "rep");
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", elsewhere.moves("rep")}).next().message("Done.");
  const ModelServer server(served(cassette));

  const ProgramEnd end =
      run.exec(server, {"-s", "danger-full-access", "--out", "rep/out", "-o", "answer", "Go."});

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(holds(end.errors, "was moved or replaced during the run"), end.errors);
  BOOST_TEST(elsewhere.found() == "");
  BOOST_TEST(!fs::exists(run.workspace() / "answer"));
  const Json result = parse_json(read_file(run.workspace() / "moved/out/result.json"));
  BOOST_TEST(result.string_at("status") == "integrity");
}

BOOST_AUTO_TEST_CASE(a_link_on_the_way_to_out_or_the_threads_is_followed_as_it_was_at_the_start) {
  const ExecRun run;
  make_folder(run.workspace() / "real");
  fs::create_directory_symlink("real", run.workspace() / "rep");
  CassetteWriter cassette;
  cassette
      .shell({"sh", "-c",
              "mkdir -p forged/out; echo '{\"status\":\"forged\",\"exit_code\":0}' > "
              "forged/out/result.json; echo forged > forged/out/transcript.jsonl; rm rep; ln -s "
              "forged rep"})
      .next()
      .message("Done.");
  const ModelServer server(served(cassette));
  ProgramStart start = run.exec({"-s", "workspace-write", "--out", "rep/out", "--status-file",
                                 run.path("status").string(), "Go."},
                                base_url(server));
  start.environment["CODEX_HOME"] = (run.workspace() / "rep/home").string();

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(parse_json(read_file(run.path("status"))).string_at("status") == "success");
  BOOST_TEST(!fs::exists(run.workspace() / "forged/home"));
  int transcripts = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run.workspace() / "real/home/threads"))
    if (entry.path().filename() == "transcript.jsonl") {
      ++transcripts;
      BOOST_TEST(!read_file(entry.path()).starts_with("forged"));
    }
  BOOST_TEST(transcripts == 1);
}

BOOST_AUTO_TEST_CASE(what_a_command_puts_under_the_name_of_an_output_is_replaced) {
  const struct {
    const char* script;
    bool is_folder = false;
  } rows[] = {{"mkfifo answer"},
              {"ln -s ELSE/file answer"},
              {"ln ELSE/file answer"},
              {"(while :; do ln -sf ELSE/file answer; done) >/dev/null 2>&1 & true"},
              {"mkdir answer", true}};
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.script) {
      const ExecRun run;
      run.write("work/else/file", "mine\n");
      std::string text = row.script;
      if (const auto at = text.find("ELSE"); at != std::string::npos)
        text.replace(at, 4, (run.workspace() / "else").string());
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", text}).next().message("Done.");
      const ModelServer server(served(cassette));

      const ProgramEnd end = run.exec(server, {"-s", "workspace-write", "-o", "answer", "Go."});

      BOOST_TEST(read_file(run.workspace() / "else/file") == "mine\n");
      BOOST_TEST(end.status == (row.is_folder ? 1 : 0), end.errors);
      const fs::path answer = run.workspace() / "answer";
      if (row.is_folder)
        BOOST_TEST(holds(end.errors, "--output-last-message"), end.errors);
      else
        BOOST_TEST(
            (fs::is_regular_file(fs::symlink_status(answer)) && read_file(answer) == "Done."));
    }
}

BOOST_AUTO_TEST_CASE(a_process_in_the_background_that_swaps_folders_wins_no_race) {
  for (const Caller& caller : all_callers()) BOOST_TEST_CONTEXT(caller.name) {
      const ExecRun run;
      const Elsewhere elsewhere(run);
      make_folder(run.workspace() / "rep");
      CassetteWriter cassette;
      cassette
          .shell({"sh", "-c",
                  "(while :; do mv rep moved; ln -s " + elsewhere.folder.string() +
                      " rep; rm rep; mv moved rep; done) >/dev/null 2>&1 & true"})
          .next()
          .message("Done.");
      const ModelServer server(served(cassette));

      const ProgramEnd end =
          run.run_as(caller, run.exec({"-s", "workspace-write", "-o", "rep/a.md", "--diff",
                                       "rep/x.diff", "--status-file", "rep/status", "Go."},
                                      base_url(server)));

      BOOST_TEST(elsewhere.found() == "", end.errors);
    }
}

BOOST_AUTO_TEST_CASE(no_command_gets_the_descriptor_of_an_output) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette
      .shell({"sh", "-c",
              "echo forged >&5; echo forged > /proc/self/fd/5; echo forged > /proc/$PPID/fd/5; "
              "true"})
      .next()
      .message("Done.");
  const ModelServer server(served(cassette));
  ProgramStart start =
      run.exec({"-s", "workspace-write", "-o", "/dev/fd/5", "Go."}, base_url(server));
  start.argv.insert(start.argv.begin(), {"sh", "-c", "exec \"$0\" \"$@\" 5> ../five"});

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(run.path("five")) == "Done.");
}

BOOST_AUTO_TEST_CASE(no_command_forges_the_status_file) {
  for (const Caller& caller : all_callers())
    for (const char* sandbox : {"workspace-write", "danger-full-access"})
      BOOST_TEST_CONTEXT(caller.name << " " << sandbox) {
        const ExecRun run;
        const std::string forged = R"({"status":"forged"})";
        CassetteWriter cassette;
        cassette
            .shell({"sh", "-c",
                    "mv status kept; printf '%s' '" + forged + "' > status; cat status; true"})
            .next()
            .message("Done.");
        const ModelServer server(served(cassette));

        const ProgramEnd end = run.run_as(
            caller, run.exec({"-s", sandbox, "--status-file", "status", "Go."}, base_url(server)));

        const Json status = parse_json(read_file(run.workspace() / "status"));
        BOOST_TEST(!holds(status.string_at("status"), "forged"));
        BOOST_TEST((status.integer_at("exit_code", -1) == 0) == (end.status == 0), end.errors);
        const bool is_sandboxed = std::string(sandbox) == "workspace-write";
        if (is_sandboxed && caller.namespaces)
          BOOST_TEST(!holds(outputs_in(server.requests().back()), "forged"));
        else
          BOOST_TEST(holds(end.errors, "another file had its name"), end.errors);
      }
}

BOOST_AUTO_TEST_CASE(two_outputs_in_one_file_are_a_wrong_command_line) {
  const ExecRun run;
  const ModelServer server(served(CassetteWriter().message("One.")));
  run.write("work/one", "");
  fs::create_hard_link(run.workspace() / "one", run.workspace() / "same");
  fs::create_directory_symlink(run.workspace(), run.path("link"));
  const std::string behind = (run.path("link") / "new").string();
  const std::vector<std::vector<std::string>> rows = {{"--status-file", "a", "-o", "a"},
                                                      {"--status-file", "a", "--diff", "./a"},
                                                      {"-o", "new", "--diff", behind},
                                                      {"-o", "new", "--status-file", behind},
                                                      {"-o", "one", "--diff", "same"}};
  for (std::vector<std::string> words : rows) {
    words.emplace_back("Go.");
    const ProgramEnd end = run.exec(server, words);

    BOOST_TEST(end.status == 2, end.errors);
    BOOST_TEST(holds(end.errors, "is the same file as that of"), end.errors);
  }
  BOOST_TEST(server.requests().empty());
}

BOOST_AUTO_TEST_CASE(an_early_failure_leaves_no_answer_of_an_earlier_call) {
  const ExecRun run;
  const ModelServer server({});
  const std::vector<std::vector<std::string>> rows = {
      {"-i", "missing.png", "--", "go"},
      {"-C", "missing", "go"},
      {"-c", "nonsense", "go"},
      {"resume", "--last", "go"},
      {"--out", "full", "go"},
      {"--policy", "missing", "go"},
      {"--max-turns", "5", "-c", "model_provider=none", "go"},
      {"--record", "missing/r", "go"}};
  run.write("work/full/of-the-user", "mine\n");
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.front() << " " << row[1]) {
      run.write("work/answer", "the old answer");
      run.write("work/changes", "the old diff");
      std::vector<std::string> words = {"-o", "answer", "--diff", "changes"};
      words.insert(words.end(), row.begin(), row.end());

      const ProgramEnd end = run.exec(server, words);

      BOOST_TEST(end.status != 0);
      BOOST_TEST(!fs::exists(run.workspace() / "answer"), end.errors);
      BOOST_TEST(!fs::exists(run.workspace() / "changes"), end.errors);
    }
}

BOOST_AUTO_TEST_CASE(a_failed_run_leaves_no_stale_answer_and_a_busy_one_touches_none) {
  const RunFolder run;
  run.write_task(script("true"), "policy: auto\n");
  const std::string answer = run.path("answer").string();
  run.write("full/of-the-user", "mine\n");
  run.write("answer", "old");
  BOOST_TEST(run.run({"--out", run.path("full").string(), "-o", answer}).status == 2);
  BOOST_TEST(!fs::exists(answer));

  run.write("answer", "of the other run");
  fs::create_directories(run.path("used"));
  const Fd lock(::open((run.path("used") / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  BOOST_REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
  BOOST_TEST(run.run({"--out", run.path("used").string(), "-o", answer}).status == 12);
  BOOST_TEST(read_file(answer) == "of the other run");
}

BOOST_AUTO_TEST_CASE(a_link_in_the_store_is_no_thread) {
  const ExecRun run;
  const std::string id = "0199a0a0-0000-7000-8000-000000000000";
  const ModelServer first(served(CassetteWriter().message("One.")));
  BOOST_REQUIRE(run.exec(first, {"-s", "read-only", "a prompt"}).status == 0);
  const std::string real = run.threads().front();
  fs::rename(run.path("home/threads") / real, run.path("elsewhere"));
  fs::create_directory_symlink(run.path("elsewhere"), run.path("home/threads") / real);
  fs::create_directory_symlink(run.path("elsewhere"), run.path("home/threads") / id);
  const ModelServer second(served(CassetteWriter().message("Two.")));

  for (const std::string& one : {real, id}) {
    const ProgramEnd end = run.exec(second, {"resume", one, "go"});
    BOOST_TEST(end.status == 1, end.errors);
    BOOST_TEST(holds(end.errors, "there is no such thread"), end.errors);
  }
  BOOST_TEST(second.requests().empty());
}

BOOST_AUTO_TEST_SUITE_END()
