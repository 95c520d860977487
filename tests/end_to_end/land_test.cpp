#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "tests/end_to_end/land_run.h"

// `sortie land`: the trusted half of a pipeline.

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(land)

BOOST_AUTO_TEST_CASE(a_run_is_landed_in_the_work_tree_and_its_mail_makes_the_same_commit) {
  const Pipeline pipeline;
  pipeline.run(script(kEveryChange, "Change everything\n\nIn detail."));
  const fs::path expected = pipeline.folder.path("expected");
  git(pipeline.folder.path(""), {"clone", "-q", pipeline.target().string(), expected.string()});
  git(expected, {"apply", "--index", (pipeline.folder.out() / "changes.diff").string()});
  const auto repository = read_tree(pipeline.target() / ".git");

  const ProgramEnd end = pipeline.land();

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(end.output == "");
  BOOST_TEST((Pipeline::tree_of(pipeline.target()) == Pipeline::tree_of(expected)));
  BOOST_TEST((read_tree(pipeline.target() / ".git") == repository));
  BOOST_TEST(
      pipeline.out("commit-message.txt").starts_with("Change everything\n\nChange everything"));
  BOOST_TEST(holds(end.errors, "look at: tool becomes executable"), end.errors);
  const fs::path mailed = pipeline.folder.path("mailed");
  git(pipeline.folder.path(""),
      {"clone", "-q", pipeline.folder.workspace().string(), mailed.string()});
  git(mailed, {"config", "user.name", "x"});
  git(mailed, {"config", "user.email", "x@example.com"});
  git(mailed, {"am", "-q", (pipeline.folder.out() / "change.mbox").string()});
  BOOST_TEST(git(mailed, {"rev-parse", "HEAD^{tree}"}) == git(expected, {"write-tree"}));
  BOOST_TEST(git(mailed, {"log", "-1", "--format=%an <%ae> %s"}) ==
             "Lander <lander@example.com> Change everything\n");
  const Json request = parse_json(pipeline.out("pr.json"));
  BOOST_TEST(request.string_at("title") == "Change everything");
  BOOST_TEST(request.string_at("base") == "main");
  BOOST_TEST(request.string_at("base_sha") + "\n" == git(pipeline.target(), {"rev-parse", "HEAD"}));
  BOOST_TEST(request["head_sha"].is_null());
  BOOST_TEST(request["size"].integer_at("files") > 5);
  BOOST_TEST(!fs::exists(pipeline.folder.out() / "review.json"));
  // Its own files are no strangers in the run's folder.
  const ProgramEnd verified = pipeline.verify();
  BOOST_TEST(verified.status == 0, verified.errors);
  BOOST_TEST(!holds(verified.output, "foreign"), verified.output);
}

BOOST_AUTO_TEST_CASE(onto_a_branch_makes_a_commit_and_touches_no_work_tree) {
  const Pipeline pipeline;
  pipeline.run(script(kEveryChange, "Change everything"));
  git(pipeline.target(), {"branch", "next"});
  git(pipeline.target(), {"tag", "v1"});
  const auto before = Pipeline::tree_of(pipeline.target());
  const std::string head = git(pipeline.target(), {"rev-parse", "HEAD"});
  std::ofstream(pipeline.target() / ".git/hooks/post-commit")
      << "#!/bin/sh\ntouch /tmp/sortie-land-hook\n";
  ::chmod((pipeline.target() / ".git/hooks/post-commit").c_str(), 0755);

  const ProgramEnd tagged = pipeline.land({"--onto", "v1"});
  const ProgramEnd end = pipeline.land({"--onto", "next"});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST((Pipeline::tree_of(pipeline.target()) == before));
  BOOST_TEST(git(pipeline.target(), {"status", "--porcelain"}) == "");
  BOOST_TEST(git(pipeline.target(), {"rev-parse", "HEAD"}) == head);
  BOOST_TEST(git(pipeline.target(), {"rev-parse", "v1"}) == head);
  BOOST_TEST(git(pipeline.target(), {"rev-parse", "next"}) == end.output);
  BOOST_TEST(git(pipeline.target(), {"rev-parse", "next~1"}) == head);
  BOOST_TEST(git(pipeline.target(), {"cat-file", "-t", tagged.output.substr(0, 40)}) == "commit\n");
  BOOST_TEST(parse_json(pipeline.out("pr.json")).string_at("head_sha") + "\n" == end.output);
  BOOST_TEST(!fs::exists("/tmp/sortie-land-hook"));
  git(pipeline.target(), {"fsck", "--strict"});
  git(pipeline.target(), {"apply", "--index", (pipeline.folder.out() / "changes.diff").string()});
  BOOST_TEST(git(pipeline.target(), {"write-tree"}) ==
             git(pipeline.target(), {"rev-parse", "next^{tree}"}));
  BOOST_TEST(pipeline.land({"--onto", "origin/main"}).status == 0);
  BOOST_TEST(parse_json(pipeline.out("pr.json")).string_at("base") == "main");
  for (const char* ref : {"main", "nowhere", "HEAD:a.txt"})
    BOOST_TEST(pipeline.land({"--onto", ref}).status == 2, ref);
}

BOOST_AUTO_TEST_CASE(what_moved_on_is_a_conflict_or_merged_where_asked_for) {
  const Pipeline pipeline;
  pipeline.run(script("echo end >> a.txt"));
  const fs::path file = pipeline.target() / "a.txt";
  const std::string text = read_file(file);
  Pipeline::write(file, "begin\n" + text);
  const auto before = read_tree(pipeline.target());

  const ProgramEnd refused = pipeline.land();

  BOOST_TEST(refused.status == 13, refused.errors);
  BOOST_TEST(holds(refused.errors, "a.txt: has another content now"), refused.errors);
  BOOST_TEST(holds(refused.errors, "; next: the same command with --three-way, or run the task"),
             refused.errors);
  BOOST_TEST((read_tree(pipeline.target()) == before));
  BOOST_TEST(!fs::exists(pipeline.folder.out() / "pr.json"));

  const ProgramEnd merged = pipeline.land({"--three-way"});

  BOOST_TEST(merged.status == 0, merged.errors);
  BOOST_TEST(read_file(file) == "begin\n" + text + "end\n");

  Pipeline::write(file, text + "my end\n");
  git(pipeline.target(), {"commit", "-qam", "mine"});
  const auto mine = read_tree(pipeline.target());
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--three-way"}, {"--three-way", "--onto", "HEAD"}}) {
    const ProgramEnd conflict = pipeline.land(flags);
    BOOST_TEST(conflict.status == 13, conflict.errors);
    BOOST_TEST(holds(conflict.errors, "; next: run the task again on the tree as it is now"),
               conflict.errors);
    BOOST_TEST(holds(conflict.errors, "a.txt: has changed meanwhile in the same places"),
               conflict.errors);
    BOOST_TEST((read_tree(pipeline.target()) == mine));
  }
}

BOOST_AUTO_TEST_CASE(the_policy_given_here_judges_the_diff_again) {
  const struct {
    const char* name;
    const char* script;
    const char* task;
    const char* policy;
    int status;
    const char* said;
  } rows[] = {
      {"protected here", "mkdir .github && echo x > .github/ci.yml", "", "", 8, ".github/ci.yml"},
      {"in another case", "mkdir .GitHub && echo x > .GitHub/ci.yml", "", "", 8, ".GitHub/ci.yml"},
      {"protected by the base branch", "echo x > .gitattributes", "",
       "paths: {protect: ['**/.gitattributes']}\n", 8, ".gitattributes"},
      {"submodules", "echo x > .gitmodules", "", "", 8, ".gitmodules"},
      {"not writable here", "echo x > b.txt; mkdir src; echo x > src/x", "",
       "paths: {write: [src]}\n", 3, "b.txt"},
      {"beyond the task", "echo x > b.txt", "expect: {diff: {max_files: 9, deny: [c.txt]}}\n", "",
       0, ""},
      {"a link out", "ln -s /etc/passwd x", "", "", 3, "leads out of the tree"},
      {"a link up", "mkdir d; ln -s ../../x d/x", "", "", 3, "leads out of the tree"},
      {"a link behind another one", "mkdir d; ln -s .. d/up; ln -s d/up/../../x x", "", "", 3,
       "goes down and up again"},
      {"a link into the repository", "ln -s .git/hooks x", "", "", 3, "into the repository"},
      {"a large file", "head -c 3000 /dev/zero > big", "", "limits: {diff_file_size: 1KiB}\n", 1,
       "limits.diff_file_size"},
      {"hidden here", "echo x > secret.conf", "", "paths: {hide: ['secret.conf']}\n", 3,
       "paths.hide"},
      {"nothing may be written", "echo x > b.txt", "", "sandbox: {mode: read-only}\n", 3,
       "read-only"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Pipeline pipeline;
      // The stranger's own policy allows everything.
      pipeline.folder.write("loose.yaml", "version: 1\nextends: auto\npaths: {protect: []}\n");
      // Every run protects some of these names by itself: a forged one does not.
      const bool forged = row.status == 8;
      pipeline.run(script(forged ? "echo x > b.txt" : row.script),
                   std::string("policy: loose.yaml\n") + row.task);
      if (forged) {
        const std::string path = row.said;
        pipeline.forge("diff --git a/" + path + " b/" + path +
                       "\nnew file mode 100644\nindex 0000000000000000000000000000000000000000.."
                       "587be6b4c3f93f93c489c0111bba5596147a26cb\n--- /dev/null\n+++ b/" +
                       path + "\n@@ -0,0 +1 @@\n+x\n");
      }
      pipeline.folder.write("policy.yaml",
                            std::string("version: 1\nextends: strict\n") + row.policy);
      const auto before = read_tree(pipeline.target());

      const ProgramEnd end =
          pipeline.land({"--policy", pipeline.folder.path("policy.yaml").string()});

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(holds(end.errors, row.said), end.errors);
      if (row.status == 0) continue;
      BOOST_TEST((read_tree(pipeline.target()) == before));
      BOOST_TEST(holds(end.errors, "; next: "), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(only_a_success_in_a_repository_is_landed) {
  const Pipeline pipeline;
  pipeline.folder.write_task(script("echo x > b.txt"),
                             "policy: auto\nverify: {commands: ['false'], rounds: 0}\n");
  BOOST_REQUIRE(pipeline.folder.run().status == 1);

  const ProgramEnd failed = pipeline.land();

  BOOST_TEST(failed.status == 2, failed.errors);
  BOOST_TEST(holds(failed.errors, "only a success is landed"), failed.errors);
  for (const char* run : {"nowhere", "target"}) {
    ProgramStart start = pipeline.start();
    start.argv[2] = pipeline.folder.path(run).string();
    BOOST_TEST(run_program(start).status == 2, run);
  }
  fs::create_directories(pipeline.folder.path("plain"));
  const ProgramEnd plain = pipeline.land({"-C", pipeline.folder.path("plain").string()});
  BOOST_TEST(plain.status == 7, plain.errors);
}

BOOST_AUTO_TEST_CASE(findings_become_comments_on_lines_that_the_diff_shows) {
  const Pipeline pipeline;
  pipeline.folder.write("answer.json", "{\"type\": \"object\"}");
  const std::string answer =
      R"({"findings": [)"
      R"({"file": "a.txt", "line": 21, "severity": "high", "message": "@all wrong", "suggestion": "x"},)"
      R"({"file": "a.txt", "line": 1, "message": "not shown"},)"
      R"({"file": "other.txt", "line": 1, "message": "not changed"},)"
      R"({"file": "../x`@me`", "line": -1, "message": "nowhere"},)"
      R"(7, {"file": 3}]})";
  pipeline.run(script("echo end >> a.txt", answer),
               "policy: auto\noutput: {schema: answer.json}\n");

  const ProgramEnd end = pipeline.land();

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const Json review = parse_json(pipeline.out("review.json"));
  BOOST_REQUIRE(review["comments"].items().size() == 1u);
  const Json& comment = review["comments"].items()[0];
  BOOST_TEST(comment.string_at("path") == "a.txt");
  BOOST_TEST(comment.integer_at("line") == 21);
  BOOST_TEST(!holds(comment.string_at("body"), "@all"));
  BOOST_TEST(review["outside"].items().size() == 4u);
  // Markdown in a file's name is none.
  BOOST_TEST(holds(review.string_at("body"), "\n\n`` ../x`"), review.string_at("body"));
}

BOOST_AUTO_TEST_CASE(findings_without_a_change_are_landed_as_a_review_alone) {
  const Pipeline pipeline;
  pipeline.folder.write("answer.json", "{\"type\": \"object\"}");
  const std::string answer =
      R"({"findings": [{"file": "a.txt", "line": 2, "severity": "low", "message": "odd"}]})";
  pipeline.run(script("true", answer), "policy: auto\noutput: {schema: answer.json}\n");
  const auto before = read_tree(pipeline.target());

  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{}, {"--onto", "HEAD", "--three-way"}}) {
    // Left by somebody before.
    pipeline.write(pipeline.folder.out() / "change.mbox", "From x\n");
    const ProgramEnd end = pipeline.land(flags);

    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    BOOST_TEST(end.output == "");
    BOOST_TEST(holds(end.errors, "its findings are in "), end.errors);
    const Json review = parse_json(pipeline.out("review.json"));
    BOOST_TEST(review["comments"].items().empty());
    BOOST_TEST(review["outside"].items().size() == 1u);
    const Json request = parse_json(pipeline.out("pr.json"));
    BOOST_TEST(request["files"].items().empty());
    BOOST_TEST(request["head_sha"].is_null());
    BOOST_TEST(request["base_sha"].is_string());
    for (const char* name : {"change.mbox", "commit-message.txt"})
      BOOST_TEST(!fs::exists(pipeline.folder.out() / name), name);
    BOOST_TEST((read_tree(pipeline.target()) == before));
  }
}

BOOST_AUTO_TEST_CASE(a_task_that_asks_for_findings_needs_no_schema_of_its_own) {
  const Pipeline pipeline;
  CassetteWriter cassette = script("echo end >> a.txt", R"({"findings": [{"file": "a.txt"}]})");
  cassette.message(
      R"({"findings": [{"file": "a.txt", "line": 21, "severity": "note", "message": "m", "suggestion": null}]})");
  pipeline.run(cassette, "policy: auto\noutput: {findings: true}\n");

  const ProgramEnd end = pipeline.land();

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(pipeline.folder.records("check.hit").size() == 1u);
  BOOST_TEST(parse_json(pipeline.out("review.json"))["comments"].items().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_killed_landing_leaves_the_tree_wholly_old_or_new_at_the_next_start) {
  const char* wanted = std::getenv("SORTIE_APPLY_KILLS");
  const int kills = wanted == nullptr ? 20 : std::atoi(wanted);
  const Pipeline pipeline;
  pipeline.run(script(kEveryChange));
  const fs::path start = pipeline.folder.path("start");
  copy_tree(pipeline.target(), start);
  const auto old_tree = Pipeline::tree_of(pipeline.target());
  const auto begin = std::chrono::steady_clock::now();
  BOOST_REQUIRE(pipeline.land().status == 0);
  const auto took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  const auto new_tree = Pipeline::tree_of(pipeline.target());
  std::mt19937 random(17);
  int cut_off = 0;
  for (int i = 0; i < kills; ++i) {
    fs::remove_all(pipeline.target());
    copy_tree(start, pipeline.target());
    {
      Program program(pipeline.start());
      const auto wait = took / 3 + static_cast<long>(random() % static_cast<unsigned long>(took));
      const timespec instant{wait / 1'000'000'000, wait % 1'000'000'000};
      ::nanosleep(&instant, nullptr);
      program.signal(SIGKILL);
    }
    cut_off += fs::exists(pipeline.target() / ".sortie-apply");
    // One that lands nothing is enough.
    ProgramStart next = pipeline.start();
    next.argv[2] = pipeline.folder.path("nothing").string();
    fs::create_directories(next.argv[2]);
    BOOST_TEST_CONTEXT("kill " << i) {
      BOOST_TEST(run_program(next).status == 2);
      const auto tree = Pipeline::tree_of(pipeline.target());
      BOOST_REQUIRE((tree == old_tree || tree == new_tree));
    }
  }
  BOOST_TEST_MESSAGE(cut_off << " of " << kills << " were cut off");
}

BOOST_AUTO_TEST_SUITE_END()
