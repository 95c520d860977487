#include <signal.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

// `sortie land`: the trusted half of a pipeline, with a run's folder that anybody may have made.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

CassetteWriter script(const std::string& text, const std::string& message = "Done.") {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", text}).next().message(message);
  return cassette;
}

/// A repository, a run on a clone of it, and `sortie land` in the repository.
class Pipeline {
 public:
  Pipeline() {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "line " + std::to_string(i) + "\n";
    folder.write("work/a.txt", text);
    folder.write("work/moved.txt", text + "moved\n");
    folder.write("work/gone/only", "x\n");
    folder.write("work/image", "text\n");
    folder.write("work/crlf.txt", "one\r\ntwo\r\n");
    folder.commit_workspace();
    git(folder.path(""), {"clone", "-q", folder.workspace().string(), target().string()});
    git(target(), {"config", "user.name", "Lander"});
    git(target(), {"config", "user.email", "lander@example.com"});
  }
  fs::path target() const { return folder.path("target"); }
  void run(const CassetteWriter& cassette, const std::string& more = "policy: auto\n") const {
    folder.write_task(cassette, more);
    const ProgramEnd end = folder.run();
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  }
  ProgramStart start(const std::vector<std::string>& flags = {}) const {
    ProgramStart start;
    start.argv = {sortie_binary(), "land", folder.out().string()};
    start.argv.insert(start.argv.end(), flags.begin(), flags.end());
    start.folder = target();
    start.environment = {{"OPENAI_API_KEY", ""}};
    return start;
  }
  ProgramEnd land(const std::vector<std::string>& flags = {}) const {
    return run_program(start(flags));
  }
  /// The folder with another diff, whose digests fit.
  void forge(const std::string& diff) const {
    write(folder.out() / "changes.diff", diff);
    forge_record([&](Json& end) {
      end.find("artifacts")->set("changes.diff", "sha256:" + sha256_hex(diff));
    });
  }
  template <typename Change>
  void forge_record(const Change& change) const {
    const fs::path file = folder.out() / "transcript.jsonl";
    std::string text = read_file(file);
    text.pop_back();
    const auto last = text.rfind('\n') + 1;
    Json record = parse_json(text.substr(last));
    change(*record.find("data"));
    Json& result = *record.find("data")->find("result");
    if (result.find("artifacts") != nullptr)
      result.set("artifacts", (*record.find("data"))["artifacts"]);
    Json written = result;
    const std::string line = write_json(record);
    write(file, text.substr(0, last) + line + "\n");
    const Json old = parse_json(read_file(folder.out() / "result.json"));
    written.set("digests", old["digests"]);
    written.find("digests")->set("transcript", "sha256:" + sha256_hex(line));
    write(folder.out() / "result.json", write_json(written));
  }
  static void write(const fs::path& file, const std::string& content) {
    fs::remove_all(file);
    std::ofstream(file, std::ios::binary) << content;
  }
  std::string out(const char* name) const { return folder.artifact(name); }
  /// The files of a work tree without its repository.
  static std::map<std::string, std::string> tree_of(const fs::path& root) {
    auto tree = read_tree(root);
    std::erase_if(tree, [](const auto& one) {
      return one.first == ".git" || one.first.starts_with(".git/");
    });
    return tree;
  }

  RunFolder folder;
};

const char* const kEveryChange =
    "echo end >> a.txt; printf '\\000\\001\\377' > image; mkdir -p 'sub/odd name'; "
    "mv moved.txt 'sub/odd name/\xc3\xa4\"q'; rm gone/only; rmdir gone; "
    "printf '#!/bin/sh\\n' > tool; chmod +x tool; ln -s a.txt link; "
    "printf 'three\\r\\nFrom x\\r\\n' >> crlf.txt; printf '\\377\\376\\n' > latin";

}  // namespace

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
  ProgramStart verify = pipeline.start();
  verify.argv = {sortie_binary(), "verify", pipeline.folder.out().string()};
  const ProgramEnd verified = run_program(verify);
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
      if (row.status != 0) BOOST_TEST((read_tree(pipeline.target()) == before));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_forged_run_is_held_to_its_task_and_to_the_secrets_here) {
  const Pipeline pipeline;
  pipeline.run(script("echo x > b.txt; echo y > c.txt"),
               "policy: auto\nexpect: {diff: {max_files: 2}}\n");
  const std::string more =
      pipeline.out("changes.diff") +
      "diff --git a/d.txt b/d.txt\nnew file mode 100644\nindex "
      "0000000000000000000000000000000000000000..587be6b4c3f93f93c489c0111bba5596147a26cb\n"
      "--- /dev/null\n+++ b/d.txt\n@@ -0,0 +1 @@\n+x\n";
  pipeline.forge(more);

  const ProgramEnd end = pipeline.land();

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(holds(end.errors, "expect.diff.max_files"), end.errors);

  const Pipeline leaking;
  leaking.run(script("echo s3cr3t-of-the-land-test > b.txt"));
  ProgramStart start = leaking.start();
  start.environment["DEPLOY_TOKEN"] = "s3cr3t-of-the-land-test";
  const ProgramEnd leak = run_program(start);
  BOOST_TEST(leak.status == 9, leak.errors);
  BOOST_TEST(!holds(leak.errors, "s3cr3t-of"), leak.errors);
  BOOST_TEST(!fs::exists(leaking.target() / "b.txt"));
}

BOOST_AUTO_TEST_CASE(a_hostile_folder_ends_with_a_clear_error_and_changes_nothing) {
  const Pipeline pipeline;
  pipeline.run(script("echo x > b.txt"));
  const fs::path kept = pipeline.folder.path("kept-run");
  copy_tree(pipeline.folder.out(), kept);
  const std::string add_x =
      "\nnew file mode 100644\nindex 0000000000000000000000000000000000000000.."
      "587be6b4c3f93f93c489c0111bba5596147a26cb\n";
  const auto diff_of = [&](const std::string& path) {
    return "diff --git a/" + path + " b/" + path + add_x + "--- /dev/null\n+++ b/" + path +
           "\n@@ -0,0 +1 @@\n+x\n";
  };
  const auto out = [&](const char* name) { return pipeline.folder.out() / name; };
  using Break = std::function<void()>;
  const struct {
    const char* name;
    Break make;
    int status;
    const char* said;
  } rows[] = {
      {"a changed diff", [&] { std::ofstream(out("changes.diff"), std::ios::app) << "x"; }, 8,
       "changes.diff was changed"},
      {"no diff", [&] { fs::remove(out("changes.diff")); }, 8, "changes.diff is missing"},
      {"a pipe as diff",
       [&] {
         fs::remove(out("changes.diff"));
         ::mkfifo(out("changes.diff").c_str(), 0600);
       },
       8, "not a regular file"},
      {"a pipe as transcript",
       [&] {
         fs::remove(out("transcript.jsonl"));
         ::mkfifo(out("transcript.jsonl").c_str(), 0600);
       },
       8, "not a regular file"},
      {"a pipe as result",
       [&] {
         fs::remove(out("result.json"));
         ::mkfifo(out("result.json").c_str(), 0600);
       },
       8, "not a regular file"},
      {"a link as diff",
       [&] {
         fs::remove(out("changes.diff"));
         fs::create_symlink("/etc/passwd", out("changes.diff"));
       },
       8, "not a regular file"},
      {"a link as message",
       [&] {
         fs::remove(out("last-message.txt"));
         fs::create_symlink("/etc/passwd", out("last-message.txt"));
       },
       8, "not a regular file"},
      {"a link as blobs", [&] { fs::create_directory_symlink("/etc", out("blobs")); }, 8,
       "not a folder"},
      {"an endless diff", [&] { fs::resize_file(out("changes.diff"), 1ull << 40); }, 8,
       "larger than"},
      {"an endless transcript", [&] { fs::resize_file(out("transcript.jsonl"), 1ull << 40); }, 8,
       "larger than"},
      {"a torn transcript",
       [&] {
         fs::resize_file(out("transcript.jsonl"), fs::file_size(out("transcript.jsonl")) - 9);
       },
       8, "its end is missing"},
      {"a torn result", [&] { fs::resize_file(out("result.json"), 20); }, 8, "result.json"},
      {"another result",
       [&] {
         Json result = parse_json(read_file(out("result.json")));
         result.set("verified", true);
         Pipeline::write(out("result.json"), write_json(result));
       },
       8, "result.json"},
      {"no result", [&] { fs::remove(out("result.json")); }, 8, "result.json"},
      {"a path up", [&] { pipeline.forge(diff_of("../x")); }, 8, "leads out of the tree"},
      {"an absolute path", [&] { pipeline.forge(diff_of("/tmp/x")); }, 8, "is no path in the tree"},
      {"the repository", [&] { pipeline.forge(diff_of(".git/hooks/pre-commit")); }, 8,
       "the repository itself"},
      {"the repository in capitals", [&] { pipeline.forge(diff_of("sub/.GIT/config")); }, 8,
       "the repository itself"},
      {"the repository's short name", [&] { pipeline.forge(diff_of("git~1/config")); }, 8,
       "the repository itself"},
      {"the journal's folder", [&] { pipeline.forge(diff_of(".sortie-apply/journal")); }, 8,
       "sortie's own folder"},
      {"the run's own folder here", [&] { pipeline.forge(diff_of(".sortie-apply")); }, 8,
       "sortie's own folder"},
      {"no diff at all", [&] { pipeline.forge("hello\n"); }, 8, "not in the form"},
      {"a second diff in a hunk",
       [&] {
         pipeline.forge(diff_of("y") + "--- /dev/null\n+++ b/.github/x\n@@ -0,0 +1 @@\n+x\n");
       },
       8, "the diff"},
      {"a content that it does not make",
       [&] {
         std::string diff = diff_of("y");
         diff.replace(diff.find("+x\n"), 3, "+z\n");
         pipeline.forge(diff);
       },
       8, "another content than it says"},
      {"a submodule",
       [&] {
         std::string diff = diff_of("y");
         diff.replace(diff.find("100644"), 6, "160000");
         pipeline.forge(diff);
       },
       8, "not in the form"},
  };
  const auto before = read_tree(pipeline.target());
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(pipeline.folder.out());
      copy_tree(kept, pipeline.folder.out());
      row.make();

      const ProgramEnd end = pipeline.land();

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(holds(end.errors, row.said), end.errors);
      BOOST_TEST((read_tree(pipeline.target()) == before));
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

BOOST_AUTO_TEST_CASE(a_hostile_message_is_text_in_mail_commit_and_pull_request) {
  const std::string message =
      "Fix it [skip ci] ::set-env name=x::y\n"
      "From: Somebody Else <else@example.com>\n"
      "Thanks @maintainers, fixes #12 and closes https://github.com/o/r/issues/7\n"
      "---\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
      "From: Evil <evil@example.com>\nSubject: [PATCH] evil\n\n"
      "diff --git a/evil b/evil\nnew file mode 100644\n--- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n"
      "+evil\n"
      "::error::x\n##vso[task.setvariable variable=x]y\n-- >8 --\n"
      "```\n</details><script>alert(1)</script>\n/merge\n\x1b[31mred\x1b[0m \xe2\x80\xae"
      "desrever";
  const Pipeline pipeline;
  pipeline.run(script("echo x > b.txt", message));

  const ProgramEnd end = pipeline.land();

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const std::string commit = pipeline.out("commit-message.txt");
  for (const char* part : {"[skip ci]", "\n::", "##vso[", "@maintainers", "#12", "issues/7",
                           "\n---", "\nFrom", "\ndiff --git", "\x1b", "\xe2\x80\xae"})
    BOOST_TEST(!holds(commit, part), part << " in " << commit);
  const fs::path mailed = pipeline.folder.path("mailed");
  git(pipeline.folder.path(""),
      {"clone", "-q", pipeline.folder.workspace().string(), mailed.string()});
  git(mailed, {"config", "user.name", "x"});
  git(mailed, {"config", "user.email", "x@example.com"});
  git(mailed, {"am", "-q", "--scissors", (pipeline.folder.out() / "change.mbox").string()});
  BOOST_TEST(git(mailed, {"log", "--format=%an %ae", "origin/main..HEAD"}) ==
             "Lander lander@example.com\n");
  BOOST_TEST(git(mailed, {"diff", "--name-only", "origin/main"}) == "b.txt\n");
  BOOST_TEST(holds(git(mailed, {"log", "-1", "--format=%B"}), "Sortie-Run: "));
  const Json request = parse_json(pipeline.out("pr.json"));
  const std::string body = request.string_at("body");
  BOOST_TEST(body.starts_with("````text\n"), body);
  BOOST_TEST(!holds(body, "@maintainers"), body);
  BOOST_TEST(!holds(request.string_at("title"), "[skip ci]"));
}

BOOST_AUTO_TEST_CASE(findings_become_comments_on_lines_that_the_diff_shows) {
  const Pipeline pipeline;
  pipeline.folder.write("answer.json", "{\"type\": \"object\"}");
  const std::string answer =
      R"({"findings": [)"
      R"({"file": "a.txt", "line": 21, "severity": "high", "message": "@all wrong", "suggestion": "x"},)"
      R"({"file": "a.txt", "line": 1, "message": "not shown"},)"
      R"({"file": "other.txt", "line": 1, "message": "not changed"},)"
      R"({"file": "../x", "line": -1, "message": "nowhere"},)"
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

// A diff of a few hundred KiB that unpacks to 200 GiB.
BOOST_AUTO_TEST_CASE(a_binary_patch_that_unpacks_without_end_is_refused) {
  const Pipeline pipeline;
  pipeline.run(script("head -c 3000000 /dev/zero > big; echo x > y"));
  std::string diff = pipeline.out("changes.diff");
  const auto literal = diff.find("literal 3000000");
  BOOST_REQUIRE(literal != std::string::npos);
  for (const char* size : {"literal 100", "literal 99999999999999"}) {
    std::string changed = diff;
    changed.replace(literal, std::string("literal 3000000").size(), size);
    pipeline.forge(changed);

    const ProgramEnd end = pipeline.land();

    BOOST_TEST((end.status == 8 || end.status == 7), end.errors);
    BOOST_TEST(!fs::exists(pipeline.target() / "big"));
  }
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
