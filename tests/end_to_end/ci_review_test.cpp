// The two jobs of ci/github/workflows/review.yml, script by script.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "tests/end_to_end/ci_step.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

std::string line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The repository of a pull request: `base`, a checkout of the base branch alone, and `work`, one of
/// its head, with a task that reviews and a `gh` that answers as GitHub does.
class PullRequest {
 public:
  explicit PullRequest(const std::string& answer) {
    folder_.write("origin/a.c", "1\n2\n3\n");
    folder_.write("origin/.sortie/review-policy.yaml",
                  "version: 1\nextends: auto\nsandbox: {mode: read-only}\n");
    make_repository(folder_.path("origin"));
    commit_all(folder_.path("origin"));
    base_ = line_of(git(folder_.path("origin"), {"rev-parse", "HEAD"}));
    folder_.write("origin/a.c", "1\nwrong\n3\n");
    commit_all(folder_.path("origin"));
    head_ = line_of(git(folder_.path("origin"), {"rev-parse", "HEAD"}));
    fs::remove_all(folder_.workspace());
    const std::string url = "file://" + folder_.path("origin").string();
    git(folder_.path(""), {"clone", "-q", url, "work"});
    git(folder_.path(""), {"init", "-q", "base"});
    git(folder_.path("base"), {"fetch", "-q", "--depth", "1", url, base_});
    git(folder_.path("base"), {"checkout", "-q", "FETCH_HEAD"});
    folder_.write_task(CassetteWriter().message(answer),
                       "output: {findings: true}\nexpect: {changes: forbidden}\n");
    std::string task = read_file(folder_.task());
    task.replace(task.find("prompt: "),
                 task.find('\n', task.find("prompt: ")) - task.find("prompt: "),
                 "prompt: 'Review this. {{stdin}}'");
    folder_.write("task.yaml", task);
    fs::create_directory(folder_.path("bin"));
    fs::create_symlink(sortie_binary(), folder_.path("bin/sortie"));
    folder_.write(
        "bin/gh",
        "#!/bin/bash\ngit rev-parse -q --verify HEAD > /dev/null || exit 4\nprintf '%s\\n' \"$*\" >> '" +
            at("asked") + "'\ncase $* in\n*--paginate*) cat '" + at("files.json") +
            "' ;;\n*--input*) cp \"${@: -1}\" '" + at("post.json") + "' ;;\nesac\n");
    fs::permissions(folder_.path("bin/gh"), fs::perms::owner_all);
    folder_.write("files.json",
                  R"([{"filename": "a.c", "patch": "@@ -1,3 +1,3 @@\n 1\n-2\n+wrong\n 3"}])"
                  "\n"
                  R"([{"filename": "logo.png"}])");
  }

  const std::string& base() const { return base_; }
  const std::string& head() const { return head_; }
  std::string at(const std::string& name) const { return folder_.path(name).string(); }
  const RunFolder& folder() const { return folder_; }

  Said run(const std::string& script, std::map<std::string, std::string> more,
           const std::string& below = "") const {
    more.insert({{"PATH", at("bin") + ":" + std::getenv("PATH")},
                 {"GITHUB_ACTIONS", "true"},
                 {"GITHUB_REPOSITORY", "owner/project"},
                 {"GITHUB_OUTPUT", at("step-outputs")},
                 {"SORTIE_OUT", folder_.out().string()},
                 {"SORTIE_POLICY", at("base/.sortie/review-policy.yaml")},
                 {"SORTIE_WORKSPACE", "work"},
                 {"SORTIE_PULL_REQUEST", "7"},
                 {"SORTIE_BASE", base_},
                 {"SORTIE_HEAD", head_},
                 {"OPENAI_API_KEY", ""}});
    const RunnersFolder checkout(folder_.path("work"));
    const RunnersFolder base_checkout(folder_.path("base"));
    return run_program({"bash", "-e", SORTIE_SOURCE_DIR "/ci/github/" + script},
                       folder_.path(below), more);
  }
  Said read() const {
    return run("run.sh", {{"SORTIE_TASK", folder_.task().string()},
                          {"SORTIE_VERSION", SORTIE_VERSION},
                          {"SORTIE_STDIN", "pull-request.diff"}});
  }

 private:
  RunFolder folder_;
  std::string base_;
  std::string head_;
};

constexpr const char* kFindings =
    R"({"findings": [)"
    R"({"file": "a.c", "line": 2, "severity": "error", "message": "@all $(x) ::stop", "suggestion": "2"},)"
    R"({"file": "a.c", "line": 900, "severity": "warning", "message": "far away", "suggestion": ""},)"
    R"({"file": "../b\n`c`", "line": 1, "severity": "note", "message": "nowhere", "suggestion": ""},)"
    R"({"file": "logo.png", "line": 1, "severity": "note", "message": "a picture", "suggestion": ""}]})";

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_review)

// "-diff" makes of a text what git calls binary, and shows nothing of.
BOOST_AUTO_TEST_CASE(attributes_of_the_change_hide_nothing_of_it) {
  const PullRequest request(kFindings);
  const fs::path work = request.folder().workspace();
  request.folder().write("origin/.gitattributes", "*.c -diff\n* binary\n");
  commit_all(request.folder().path("origin"));
  git(work, {"pull", "-q"});
  const std::string head = line_of(git(work, {"rev-parse", "HEAD"}));

  const Said changed =
      request.run("changes.sh", {{"SORTIE_DIFF", "pull-request.diff"}, {"SORTIE_HEAD", head}});

  BOOST_TEST(changed.status == 0, changed.output);
  const std::string diff = read_file(request.at("pull-request.diff"));
  BOOST_TEST(diff.find("\n-2\n+wrong\n") != std::string::npos, diff);
  BOOST_TEST(diff.find("\n+*.c -diff\n") != std::string::npos, diff);
}

BOOST_AUTO_TEST_CASE(findings_on_lines_of_the_change_become_comments_and_others_stand_in_the_body) {
  const PullRequest request(kFindings);

  const Said changed = request.run("changes.sh", {{"SORTIE_DIFF", "pull-request.diff"}});
  const Said read = request.read();
  const Said posted = request.run("review.sh", {{"GH_TOKEN", "token-of-the-job"}}, "base");

  BOOST_TEST(changed.status == 0, changed.output);
  BOOST_TEST(read_file(request.at("pull-request.diff")).find("\n-2\n+wrong\n") !=
             std::string::npos);
  BOOST_TEST(read.status == 0, read.output);
  BOOST_TEST(request.folder().artifact("transcript.jsonl").find("+wrong") != std::string::npos);
  BOOST_TEST(posted.status == 0, posted.output);
  const Json post = parse_json(read_file(request.at("post.json")));
  BOOST_TEST(post.string_at("event") == "COMMENT");
  BOOST_TEST(post.string_at("commit_id") == request.head());
  const auto& comments = post["comments"].items();
  BOOST_REQUIRE(comments.size() == 1u);
  BOOST_TEST(comments[0].string_at("path") == "a.c");
  BOOST_TEST(comments[0].integer_at("line") == 2);
  BOOST_TEST(comments[0].string_at("side") == "RIGHT");
  BOOST_TEST(comments[0].string_at("body").find("@all") == std::string::npos);
  BOOST_TEST(comments[0].string_at("body").find("$(x)") != std::string::npos);
  const std::string body = post.string_at("body");
  BOOST_TEST(body.starts_with("1 finding on lines of this change, 3 elsewhere."), body);
  for (const char* words : {"`a.c:900`", "far away", "nowhere", "`logo.png:1`"})
    BOOST_TEST(body.find(words) != std::string::npos, body);
  BOOST_TEST(read_file(request.at("asked"))
                     .find("api --method POST repos/owner/project/pulls/7/reviews --input ") !=
                 std::string::npos,
             read_file(request.at("asked")));
  BOOST_TEST(posted.output.find("token-of-the-job") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_changed_record_and_other_values_of_variables_are_not_posted) {
  const PullRequest request(R"({"findings": []})");
  BOOST_REQUIRE(request.run("changes.sh", {{"SORTIE_DIFF", "pull-request.diff"}}).status == 0);
  BOOST_REQUIRE(request.read().status == 0);
  using More = std::map<std::string, std::string>;
  for (const More& more :
       {More{{"SORTIE_PULL_REQUEST", "7/../8"}}, More{{"SORTIE_PULL_REQUEST", ""}},
        More{{"SORTIE_HEAD", "main"}}, More{{"SORTIE_POLICY", "-x"}}, More{{"SORTIE_OUT", ""}}}) {
    const Said said = request.run("review.sh", more, "base");
    BOOST_TEST(said.status == 2, said.output);
  }
  for (const More& more : {More{{"SORTIE_BASE", "--output=x"}}, More{{"SORTIE_HEAD", "HEAD"}}}) {
    More all = more;
    all["SORTIE_DIFF"] = "x.diff";
    const Said said = request.run("changes.sh", all);
    BOOST_TEST(said.status == 2, said.output);
  }
  const fs::path answer = request.folder().out() / "last-message.json";
  BOOST_REQUIRE(fs::exists(answer));
  write_file(answer, read_file(answer) + " ");

  const Said said = request.run("review.sh", {}, "base");

  BOOST_TEST(said.status == 8, said.output);
  BOOST_TEST(!fs::exists(request.at("asked")));
}

BOOST_AUTO_TEST_CASE(a_change_that_is_too_large_for_one_review_is_said_before_it_is_paid) {
  const PullRequest request(R"({"findings": []})");
  const fs::path work = request.folder().workspace();
  write_file(work / "large.txt", std::string(2 << 20, 'x') + "\n");
  git(work, {"add", "-A"});
  git(work, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "large"});
  const std::string head = line_of(git(work, {"rev-parse", "HEAD"}));

  const Said said =
      request.run("changes.sh", {{"SORTIE_DIFF", "large.diff"}, {"SORTIE_HEAD", head}});

  BOOST_TEST(said.status == 2, said.output);
  BOOST_TEST(said.output.find("too many for one review") != std::string::npos, said.output);
}

BOOST_AUTO_TEST_SUITE_END()
