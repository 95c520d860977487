// docs/ci-templates.md as a new user follows it: its commands and its files in a fresh repository,
// and then the scripts of the jobs, as the workflows start them.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "core/json/json.h"
#include "tests/end_to_end/ci_step.h"
#include "tests/support/document_blocks.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "docs/ci-templates.md";

/// The value of an environment variable, or of a key of `with:`, in a workflow.
std::string value_in(const fs::path& workflow, const std::string& key) {
  const std::string text = read_file(workflow);
  const std::size_t at = text.find(" " + key + ": ");
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, workflow << " has no " << key);
  const std::size_t from = at + key.size() + 3;
  return text.substr(from, text.find('\n', from) - from);
}

/// A folder with `sortie`, a clone of this repository, and `project`, a fresh one of the user's.
class NewUser {
 public:
  NewUser() {
    fs::create_directory(folder_.path("sortie"));
    fs::create_directory_symlink(fs::path(SORTIE_SOURCE_DIR) / "ci", folder_.path("sortie/ci"));
    folder_.write("project/Makefile", "test:\n\t@sh tests/all.sh\n");
    folder_.write("project/tests/all.sh", "true\n");
    make_repository(project());
    for (const DocumentBlock& block : blocks_of(kPage))
      // The other blocks are for a machine's own folders.
      if (block.language == "sh" && block.text.starts_with("mkdir -p project/")) {
        const Said said = run_program({"bash", "-euc", block.text}, folder_.path(""));
        BOOST_TEST(said.status == 0, block.place << said.output);
      }
    write_files(blocks_of(kPage), project());
    commit_all(project());
    git(folder_.path(""), {"clone", "-q", "--bare", "project", "origin"});
    git(project(), {"remote", "add", "origin", folder_.path("origin").string()});
    // The model answers from a cassette.
    folder_.write("bin/sortie", "#!/bin/bash\n[ \"$1\" = run ] || exec " + sortie_binary() +
                                    " \"$@\"\nexec " + sortie_binary() + " \"$@\" --replay '" +
                                    folder_.path("answers.jsonl").string() + "'\n");
    folder_.write("bin/gh",
                  "#!/bin/bash\nprintf '%s\\n' \"$*\" >> '" + folder_.path("gh.txt").string() +
                      "'\ncase $* in\n*--paginate*) echo '[]' ;;\npr*) cat > /dev/null ;;\nesac\n");
    for (const char* name : {"bin/sortie", "bin/gh"})
      fs::permissions(folder_.path(name), fs::perms::owner_all);
    for (const char* name : {"step-outputs", "step-summary"}) folder_.write(name, "");
  }

  fs::path project() const { return folder_.path("project"); }
  const RunFolder& folder() const { return folder_; }

  /// A script as a step starts it: what a hosted runner sets, and no more.
  Said step(const std::string& script, const fs::path& below,
            std::map<std::string, std::string> more) const {
    std::string command = "exec env -i";
    more.insert({{"PATH", folder_.path("bin").string() + ":/usr/bin:/bin"},
                 {"HOME", folder_.path("").string()},
                 {"CI", "true"},
                 {"GITHUB_ACTIONS", "true"},
                 {"GITHUB_WORKSPACE", below.string()},
                 {"GITHUB_REPOSITORY", "owner/project"},
                 {"GITHUB_SERVER_URL", "https://github.example"},
                 {"GITHUB_OUTPUT", folder_.path("step-outputs").string()},
                 {"GITHUB_STEP_SUMMARY", folder_.path("step-summary").string()},
                 {"SORTIE_OUT", "sortie-out"}});
    for (const auto& [name, value] : more) command += " '" + name + "=" + value + "'";
    const RunnersFolder checkout(below);
    return run_program({"sh", "-c", command + " bash -e " + script}, below);
  }

 private:
  RunFolder folder_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_new_user)

BOOST_AUTO_TEST_CASE(the_page_leads_from_a_fresh_repository_to_a_pull_request) {
  const NewUser user;
  const fs::path workflow = user.project() / ".github/workflows/sortie-nightly.yml";
  CassetteWriter()
      .patch("*** Begin Patch\n*** Add File: tests/one.sh\n+true\n*** End Patch\n")
      .next()
      .message("A test of one.")
      .save(user.folder().path("answers.jsonl"));
  BOOST_TEST(value_in(workflow, "version") == SORTIE_VERSION);

  const Said worked = user.step(".github/sortie/run.sh", user.project(),
                                {{"SORTIE_TASK", value_in(workflow, "task")},
                                 {"SORTIE_POLICY", ".sortie/policy.yaml"},
                                 {"SORTIE_WORKSPACE", "."},
                                 {"SORTIE_STDIN", ""},
                                 {"SORTIE_VERSION", value_in(workflow, "version")},
                                 {"OPENAI_API_KEY", "sk-not-asked-for"}});
  // The second job has a checkout of its own, and the artifact.
  const fs::path second = user.folder().path("second");
  git(user.folder().path(""), {"clone", "-q", "origin", "second"});
  fs::copy(user.project() / "sortie-out", second / "sortie-out", fs::copy_options::recursive);
  const Said landed = user.step(".github/sortie/land.sh", second,
                                {{"SORTIE_POLICY", ".sortie/policy.yaml"},
                                 {"SORTIE_BRANCH", "sortie/1"},
                                 {"GH_TOKEN", "token"}});

  BOOST_TEST(worked.status == 0, worked.output);
  BOOST_TEST(read_file(user.folder().path("step-outputs")).find("\nsuccess\n") !=
             std::string::npos);
  BOOST_TEST(landed.status == 0, landed.output);
  BOOST_TEST(git(user.folder().path("origin"), {"show", "sortie/1:tests/one.sh"}) == "true\n");
  BOOST_TEST(read_file(user.folder().path("gh.txt")).starts_with("pr create --head sortie/1 "));
}

BOOST_AUTO_TEST_CASE(a_failing_test_that_passes_meanwhile_costs_nothing_and_opens_nothing) {
  const NewUser user;
  const fs::path workflow = user.project() / ".github/workflows/sortie-fix.yml";
  CassetteWriter().message("never asked").save(user.folder().path("answers.jsonl"));

  const Said worked = user.step(".github/sortie/run.sh", user.project(),
                                {{"SORTIE_TASK", value_in(workflow, "task")},
                                 {"SORTIE_POLICY", ".sortie/policy.yaml"},
                                 {"SORTIE_WORKSPACE", "."},
                                 {"SORTIE_VERSION", value_in(workflow, "version")}});

  BOOST_TEST(worked.status == 0, worked.output);
  BOOST_TEST(read_file(user.folder().path("step-outputs")).find("\nnothing-to-do\n") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_pages_review_reads_a_pull_request_and_is_posted) {
  const NewUser user;
  const auto head_of = [](const fs::path& folder) {
    return git(folder, {"rev-parse", "HEAD"}).substr(0, 40);
  };
  const std::string base = head_of(user.project());
  const fs::path job = user.folder().path("job");
  fs::create_directory(job);
  git(job, {"clone", "-q", user.project().string(), "base"});
  write_file(user.project() / "tests/all.sh", "exit 0\n");
  commit_all(user.project());
  git(job, {"clone", "-q", user.project().string(), "work"});
  const std::string head = head_of(job / "work");
  CassetteWriter()
      .message(R"({"findings": [{"file": "tests/all.sh", "line": 1, "severity": "error",)"
               R"( "message": "tests nothing", "suggestion": ""}]})")
      .save(user.folder().path("answers.jsonl"));
  const fs::path workflow = job / "base/.github/workflows/sortie-review.yml";
  const std::map<std::string, std::string> commits = {
      {"SORTIE_BASE", base}, {"SORTIE_HEAD", head}, {"SORTIE_WORKSPACE", "work"}};

  std::map<std::string, std::string> changes = commits;
  changes["SORTIE_DIFF"] = value_in(workflow, "SORTIE_DIFF");
  const Said changed = user.step(value_in(workflow, "run"), job, changes);
  const Said read = user.step("base/.github/sortie/run.sh", job,
                              {{"SORTIE_TASK", value_in(workflow, "task")},
                               {"SORTIE_POLICY", value_in(workflow, "policy")},
                               {"SORTIE_WORKSPACE", value_in(workflow, "workspace")},
                               {"SORTIE_STDIN", value_in(workflow, "stdin")},
                               {"SORTIE_VERSION", value_in(workflow, "version")}});
  fs::rename(job / "sortie-out", job / "base/sortie-out");
  const Said posted = user.step(".github/sortie/review.sh", job / "base",
                                {{"SORTIE_POLICY", value_in(workflow, "SORTIE_POLICY")},
                                 {"SORTIE_PULL_REQUEST", "7"},
                                 {"SORTIE_HEAD", head},
                                 {"GH_TOKEN", "token"}});

  BOOST_TEST(changed.status == 0, changed.output);
  BOOST_TEST(read.status == 0, read.output);
  BOOST_TEST(posted.status == 0, posted.output);
  BOOST_TEST(read_file(user.folder().path("gh.txt")).find("pulls/7/reviews --input ") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
