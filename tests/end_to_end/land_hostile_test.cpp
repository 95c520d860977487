#include <sys/stat.h>

#include <functional>

#include "tests/end_to_end/land_run.h"

// A run's folder that anybody may have made, in `sortie land`.

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(land_hostile)

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
      {"the repository as a file", [&] { pipeline.forge(diff_of(".git")); }, 8,
       "the repository itself"},
      {"the repository as macOS sees it",
       [&] { pipeline.forge(diff_of(".g\xe2\x80\x8cit/config")); }, 8, "the diff"},
      {"the repository as Windows sees it",
       [&] { pipeline.forge(diff_of(".git::$INDEX_ALLOCATION/config")); }, 8,
       "the repository itself"},
      {"the repository behind a backslash", [&] { pipeline.forge(diff_of("sub\\.git\\config")); },
       8, "the diff"},
      {"a file, and another one in it", [&] { pipeline.forge(diff_of("y") + diff_of("y/z")); }, 8,
       "and a file below it"},
      {"a link, and a file behind it",
       [&] {
         std::string link = diff_of("y");
         link.replace(link.find("100644"), 6, "120000");
         pipeline.forge(link + diff_of("y/z"));
       },
       8, "y"},
      {"one file twice", [&] { pipeline.forge(diff_of("y") + diff_of("y")); }, 8,
       "changes.diff: y"},
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

// What `sortie verify` refuses is not landed, and the words are the same.
BOOST_AUTO_TEST_CASE(whatever_verify_finds_is_refused_with_the_same_words) {
  const Pipeline pipeline;
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo x > b.txt; seq 1 400000"}).next().message("Done.");
  pipeline.run(cassette, "policy: auto\nverify: [test -f b.txt]\n");
  const fs::path kept = pipeline.folder.path("kept-run");
  copy_tree(pipeline.folder.out(), kept);
  const auto out = [&](const char* name) { return pipeline.folder.out() / name; };
  const auto edit = [&](const char* name, const std::string& from, const std::string& to) {
    std::string text = read_file(out(name));
    const auto at = text.find(from);
    BOOST_REQUIRE_MESSAGE(at != text.npos, from);
    Pipeline::write(out(name), text.replace(at, from.size(), to));
  };
  const auto forge_result = [&](const char* member, const Json& value) {
    pipeline.forge_records([&](const std::string& type, Json& data) {
      if (type == "run.completed") data.find("result")->set(member, value);
    });
    pipeline.write_attestation();
  };
  using Break = std::function<void()>;
  const struct {
    const char* name;
    Break make;
    const char* said;
  } rows[] = {
      {"a record", [&] { edit("transcript.jsonl", "\"turn\":1", "\"turn\":2"); },
       "transcript.jsonl:"},
      {"a blob",
       [&] {
         const fs::path blob = fs::directory_iterator(out("blobs"))->path();
         Pipeline::write(blob, "1\n");
       },
       "blobs/"},
      {"a blob that never ends",
       [&] { fs::resize_file(fs::directory_iterator(out("blobs"))->path(), 1ull << 40); },
       "blobs/"},
      {"the diff", [&] { edit("changes.diff", "+x", "+y"); }, "changes.diff was changed"},
      {"the result", [&] { edit("result.json", "\"turns\": 2", "\"turns\": 1"); }, "result.json: "},
      {"the attestation", [&] { edit("attestation.json", "urn:sortie", "urn:other"); },
       "attestation.json was changed"},
      {"no attestation", [&] { fs::remove(out("attestation.json")); },
       "attestation.json is missing"},
      {"a link for it",
       [&] {
         fs::remove(out("attestation.json"));
         fs::create_symlink("/dev/zero", out("attestation.json"));
       },
       "attestation.json is not a"},
      {"a file that it did not keep",
       [&] {
         fs::create_directory(out("kept"));
         Pipeline::write(out("kept") / "a", "x");
       },
       "kept/a was added"},
      {"a forged count",
       [&] {
         forge_result("counts", Json::object({{"turns", 1}}));
       },
       "result.json: counts."},
      {"a forged denial", [&] { forge_result("denials", Json::array({"x"})); },
       "result.json: denials"},
      {"a diff without a record",
       [&] {
         pipeline.forge_records([&](const std::string& type, Json& data) {
           if (type == "diff.written") data.set("name", "other");
         });
         pipeline.write_attestation();
       },
       "changes.diff: the transcript has no record of this diff"},
      {"a diff that was not verified",
       [&] {
         std::string diff = pipeline.out("changes.diff");
         const std::string add = diff;
         for (auto at = diff.find("b.txt"); at != diff.npos; at = diff.find("b.txt", at))
           diff.replace(at, 5, "c.txt");
         pipeline.forge(add + diff);
       },
       "verification.diff, the diff that was verified, is "},
      {"another diff in the verification's records",
       [&] {
         pipeline.forge_records([&](const std::string& type, Json& data) {
           if (type == "verification.completed") data.set("diff", "sha256:" + std::string(64, '1'));
         });
         pipeline.write_attestation();
       },
       "verification.diff are "},
  };
  const auto before = read_tree(pipeline.target());
  BOOST_REQUIRE(pipeline.verify().status == 0);
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(pipeline.folder.out());
      copy_tree(kept, pipeline.folder.out());
      row.make();
      const ProgramEnd verified = pipeline.verify();

      const ProgramEnd end = pipeline.land();

      BOOST_TEST(verified.status == 8, verified.output);
      BOOST_TEST(holds(verified.errors, row.said), verified.errors);
      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(holds(end.errors, row.said), end.errors);
      BOOST_TEST((read_tree(pipeline.target()) == before));
    }
  }
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

// Only the last paragraph of a message has trailers, but programs look for them anywhere.
BOOST_AUTO_TEST_CASE(an_agent_signs_nothing_off) {
  const Pipeline pipeline;
  pipeline.run(script("echo x > b.txt",
                      "Fix it\n\nSigned-off-by: Maintainer <m@example.com>\n"
                      "reviewed-BY: Boss <b@example.com>\nSortie-Run: 1\n"));

  BOOST_REQUIRE(pipeline.land().status == 0);

  const std::string message = pipeline.out("commit-message.txt");
  BOOST_TEST(holds(message, "\n Signed-off-by: Maintainer"), message);
  BOOST_TEST(!holds(message, "\nreviewed-BY"), message);
  BOOST_TEST(message.find("\nSortie-Run: ") == message.rfind("\nSortie-Run: "), message);
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

BOOST_AUTO_TEST_SUITE_END()
