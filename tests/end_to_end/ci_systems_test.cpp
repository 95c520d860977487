// The templates of ci/gitlab, ci/jenkins, ci/cron and ci/docker: their scripts run in the environment
// that each system gives.
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/text/text.h"
#include "tests/end_to_end/ci_step.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

using Variables = std::map<std::string, std::string>;

/// The text of a template.
std::string template_text(const std::string& name) {
  return read_file(fs::path(SORTIE_SOURCE_DIR) / "ci" / name);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The commands of the template's second job, a line each, as the runner hands them to a shell.
std::string script_of_last_job() {
  const std::string text = template_text("gitlab/sortie.gitlab-ci.yml");
  std::string script;
  const std::string last = text.substr(text.rfind("  script:\n") + 10);
  for (const auto line : split_lines(last))
    if (line.starts_with("    - ")) script += std::string(line.substr(6)) + "\n";
  return script;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_systems)

BOOST_AUTO_TEST_CASE(the_two_jobs_of_gitlab_open_a_merge_request) {
  const Step step;
  const fs::path origin = step.folder().path("origin");
  fs::create_symlink(origin, step.folder().path("origin.git"));
  git(origin, {"config", "receive.advertisePushOptions", "true"});
  step.folder().write("origin/hooks/pre-receive", "#!/bin/sh\nenv | grep ^GIT_PUSH_OPTION_ > '" +
                                                      step.folder().path("options").string() +
                                                      "'\n");
  fs::permissions(origin / "hooks/pre-receive", fs::perms::owner_all);
  const Variables job = {{"GITHUB_ACTIONS", ""},
                         {"GITLAB_CI", "true"},
                         {"CI", "true"},
                         {"CI_PROJECT_DIR", step.folder().workspace()},
                         {"CI_PROJECT_PATH", "origin"},
                         {"CI_SERVER_URL", "file://" + step.folder().path("").string()},
                         {"CI_DEFAULT_BRANCH", "main"},
                         {"CI_JOB_ID", "12"},
                         {"CI_PIPELINE_URL", "https://gitlab.example/p/12"},
                         {"CI_JOB_TOKEN", "glcbt-token-of-the-job"}};
  Variables second = job;
  second["SORTIE_PUSH_TOKEN"] = "glpat-token-to-push";

  const Said worked = step.work(job);
  const Said landed = step.run("gitlab/land.sh", second);

  BOOST_TEST(worked.status == 0, worked.output);
  BOOST_TEST(holds(worked.output, "section_start:"), worked.output);
  BOOST_TEST(landed.status == 0, landed.output);
  BOOST_TEST(git(origin, {"show", "sortie/12:answer.txt"}) == "right\n");
  const std::string options = read_file(step.folder().path("options"));
  for (const char* option :
       {"=merge_request.create\n", "=merge_request.target=main\n",
        "=merge_request.title=-Corrected $(touch hacked) `touch hacked`",
        "=merge_request.description=Made by sortie: https://gitlab.example/p/12"})
    BOOST_TEST(holds(options, option), options);
  BOOST_TEST(!fs::exists(step.folder().workspace() / "hacked"));
  BOOST_TEST(!holds(landed.output + worked.output, "token-"));
  for (const char* name : {"transcript.jsonl", "changes.diff", "result.json"})
    BOOST_TEST(!holds(step.folder().artifact(name), "token-"), name);
}

BOOST_AUTO_TEST_CASE(nothing_that_gitlabs_artifact_lays_over_the_checkout_is_used) {
  const Step step;
  const RunFolder& folder = step.folder();
  const fs::path work = folder.workspace();
  folder.write("work/.gitlab/sortie/land.sh", template_text("gitlab/land.sh"));
  fs::permissions(work / ".gitlab/sortie/land.sh", fs::perms::owner_all);
  folder.write("work/.sortie/policy.yaml", "version: 1\nextends: auto\n");
  commit_all(work);
  git(work, {"push", "-q", "origin", "HEAD:refs/heads/main"});
  const fs::path origin = folder.path("origin");
  fs::create_symlink(origin, folder.path("origin.git"));
  git(origin, {"config", "receive.advertisePushOptions", "true"});
  const Variables job = {{"GITHUB_ACTIONS", ""},
                         {"GITLAB_CI", "true"},
                         {"CI_PROJECT_DIR", work.string()},
                         {"CI_PROJECT_PATH", "origin"},
                         {"CI_DEFAULT_BRANCH", "main"},
                         {"CI_JOB_ID", "12"},
                         {"CI_JOB_TOKEN", "glcbt-job"},
                         {"SORTIE_PUSH_TOKEN", "glpat-push"},
                         {"CI_PIPELINE_URL", "https://gitlab.example/p/12"},
                         {"CI_SERVER_URL", "file://" + folder.path("").string()},
                         {"CI_COMMIT_SHA", std::string(trimmed(git(work, {"rev-parse", "HEAD"})))},
                         {"PATH", folder.path("bin").string() + ":" + std::getenv("PATH")},
                         {"SORTIE_WORKSPACE", "."},
                         {"SORTIE_POLICY", ".sortie/policy.yaml"}};
  BOOST_REQUIRE(step.work({{"SORTIE_POLICY", ".sortie/policy.yaml"}}).status == 0);
  // What the artifact of a first job brings that somebody took over.
  fs::rename(folder.out(), work / "sortie-out");
  const std::string hacked = "touch '" + folder.path("hacked").string() + "'";
  folder.write("work/.gitlab/sortie/land.sh", "#!/bin/sh\n" + hacked + "\n");
  folder.write("work/.sortie/policy.yaml", "nonsense");
  folder.write("work/.git/hooks/post-checkout", "#!/bin/sh\n" + hacked + "\n");
  fs::permissions(work / ".git/hooks/post-checkout", fs::perms::owner_all);
  git(work, {"config", "core.fsmonitor", hacked + "; false"});
  Variables second = job;
  second["SORTIE_OUT"] = "sortie-out";

  const Said landed =
      run_program({"bash", "-eo", "pipefail", "-c", script_of_last_job()}, work, second);

  BOOST_TEST(landed.status == 0, landed.output);
  BOOST_TEST(git(origin, {"show", "sortie/12:answer.txt"}) == "right\n");
  BOOST_TEST(git(origin, {"rev-parse", "sortie/12~1"}) == job.at("CI_COMMIT_SHA") + "\n");
  BOOST_TEST(!fs::exists(folder.path("hacked")));
  BOOST_TEST(!holds(landed.output, "glcbt-"), landed.output);
}

BOOST_AUTO_TEST_CASE(the_policy_judges_paths_of_the_project_below_the_checkout) {
  const Step step;
  const RunFolder& folder = step.folder();
  folder.write("work/project/answer.txt", "wrong\n");
  commit_all(folder.workspace());
  folder.write("strict.yaml", "version: 1\nextends: auto\npaths: {protect: [answer.txt]}\n");
  const Said worked = step.work({{"SORTIE_WORKSPACE", "project"}});
  BOOST_REQUIRE_MESSAGE(worked.status == 0, worked.output);

  for (const std::string script : {"github/land.sh", "gitlab/land.sh", "jenkins/land.sh"}) {
    const Said landed = step.run(script, {{"SORTIE_WORKSPACE", "project"},
                                          {"SORTIE_POLICY", folder.path("strict.yaml").string()},
                                          {"SORTIE_BRANCH", "sortie/1"},
                                          {"GH_TOKEN", "token"},
                                          {"SORTIE_PUSH_TOKEN", "token"},
                                          {"CI_SERVER_URL", "file:///nowhere"},
                                          {"BUILD_TAG", "b"}});

    BOOST_TEST(landed.status == 8, script << ": " << landed.output);
    BOOST_TEST(holds(landed.output, "answer.txt"), landed.output);
  }
}

BOOST_AUTO_TEST_CASE(the_second_stage_of_jenkins_pushes_what_the_first_has_made) {
  const Step step;
  // The agent's user has neither a name nor a HOME in the container.
  const Variables job = {{"GITHUB_ACTIONS", ""},
                         {"HOME", "/"},
                         {"JENKINS_URL", "https://jenkins.example/"},
                         {"BUILD_TAG", "jenkins-a b/c-7"},
                         {"WORKSPACE", step.folder().workspace()}};

  const Said worked = step.work(job);
  Variables second = job;
  second["GIT_ASKPASS"] = "/nowhere/askpass";
  const Said landed = step.run("jenkins/land.sh", second);

  BOOST_TEST(worked.status == 0, worked.output);
  BOOST_TEST(landed.status == 0, landed.output);
  BOOST_TEST(git(step.folder().path("origin"), {"show", "sortie/jenkins-a-b-c-7:answer.txt"}) ==
             "right\n");
  for (const std::string script : {"jenkins/land.sh", "gitlab/land.sh"}) {
    Variables flag = second;
    flag["SORTIE_POLICY"] = "--help";
    BOOST_TEST(step.run(script, flag).status == 2, script);
  }
}

BOOST_AUTO_TEST_CASE(the_templates_run_the_scripts_that_are_tested) {
  BOOST_TEST(holds(template_text("gitlab/sortie.gitlab-ci.yml"), "    - .gitlab/sortie/run.sh\n"));
  BOOST_TEST(holds(template_text("gitlab/sortie.gitlab-ci.yml"),
                   "    - SORTIE_OUT=\"$CI_PROJECT_DIR/$SORTIE_OUT\" "
                   ".gitlab/sortie/land.sh\n"));
  BOOST_TEST(holds(template_text("jenkins/Jenkinsfile"), "sh '.jenkins/run.sh'"));
  BOOST_TEST(holds(template_text("jenkins/Jenkinsfile"), "sh '.jenkins/land.sh'"));
  BOOST_TEST(holds(template_text("cron/sortie"), " /usr/local/lib/sortie/nightly.sh\n"));
}

BOOST_AUTO_TEST_CASE(gitlab_and_jenkins_get_the_verification_as_junit_after_a_failure_too) {
  for (const std::string name : {"gitlab/sortie.gitlab-ci.yml", "jenkins/Jenkinsfile"}) {
    BOOST_TEST_CONTEXT(name) {
      const std::string text = template_text(name);
      const std::size_t at = text.find("sortie report ");
      BOOST_REQUIRE(at != std::string::npos);
      const std::string command = text.substr(at, text.find_first_of("'\n", at) - at);
      BOOST_TEST(holds(text, name.starts_with("gitlab") ? "reports: {junit: sortie-junit.xml}"
                                                        : "junit testResults: 'sortie-junit.xml'"));
      const Step step;
      step.folder().write("fails.yaml",
                          read_file(step.folder().task()) +
                              "verify: {commands: [\"echo no; exit 1\"], rounds: 0}\n");
      const auto report = [&] {
        return run_program(
            {"sh", "-c", command}, step.folder().workspace(),
            {{"PATH", step.folder().path("bin").string() + ":" + std::getenv("PATH")},
             {"SORTIE_OUT", step.folder().out().string()}});
      };

      // A job that was refused its task leaves no report, and says why.
      BOOST_TEST(report().status == 2);
      const Said failed = step.work({{"SORTIE_TASK", step.folder().path("fails.yaml")}});
      const Said reported = report();

      BOOST_TEST(failed.status == 1, failed.output);
      BOOST_TEST(reported.status == 0, reported.output);
      const std::string junit = read_file(step.folder().workspace() / "sortie-junit.xml");
      BOOST_TEST(holds(junit, "<failure"), junit);
      BOOST_TEST(holds(junit, "exit 1"), junit);
    }
  }
}

// Each is read, and copied, by itself, so they share no file; but what they check is one text.
BOOST_AUTO_TEST_CASE(the_scripts_of_all_systems_check_their_variables_alike) {
  const std::string first = template_text("github/run.sh");
  const auto check_of = [](const std::string& text) {
    const std::size_t from = text.find("  case ${!name-} in\n");
    const std::size_t to = text.find("\ndone\n", from);
    std::string check = from == text.npos || to == text.npos ? "" : text.substr(from, to - from);
    // The script's own name stands in its messages.
    for (const std::string word : {"sortie action:", "sortie land:", "sortie review:"})
      for (std::size_t at = 0; (at = check.find(word, at)) != check.npos;)
        check.replace(at, word.size(), "sortie:");
    return check;
  };
  BOOST_TEST(holds(check_of(first), "begins with '-'"));
  for (const char* name :
       {"github/land.sh", "github/review.sh", "gitlab/land.sh", "jenkins/land.sh"})
    BOOST_TEST(check_of(template_text(name)) == check_of(first), name);
}

BOOST_AUTO_TEST_CASE(a_missing_program_is_named_before_anything_is_pushed) {
  const Step step;
  const RunFolder& folder = step.folder();
  BOOST_REQUIRE(step.work().status == 0);
  const Variables job = {{"SORTIE_BRANCH", "sortie/1"},
                         {"GH_TOKEN", "token"},
                         {"SORTIE_PUSH_TOKEN", "token"},
                         {"CI_SERVER_URL", "file:///nowhere"},
                         {"BUILD_TAG", "b"},
                         {"SORTIE_PULL_REQUEST", "1"},
                         {"SORTIE_HEAD", step.head()},
                         {"SORTIE_BASE", step.head()},
                         {"SORTIE_DIFF", folder.path("diff")},
                         {"REPOSITORY", folder.path("origin")},
                         {"STATE", folder.path("state")},
                         {"SORTIE_KEY_FILE", "/dev/null"}};
  const struct {
    const char* script;
    std::vector<std::string> needs;
  } rows[] = {{"github/land.sh", {"sortie", "git", "gh", "jq"}},
              {"github/review.sh", {"sortie", "git", "gh", "jq"}},
              {"github/changes.sh", {"git"}},
              {"gitlab/land.sh", {"sortie", "git", "jq"}},
              {"jenkins/land.sh", {"sortie", "git"}},
              {"cron/nightly.sh", {"sortie", "git", "flock", "timeout"}}};
  for (const auto& row : rows)
    for (const std::string& missing : row.needs) {
      const fs::path bin = folder.path("some");
      fs::remove_all(bin);
      fs::create_directory(bin);
      for (const std::string name : {"sortie", "git", "gh", "jq", "flock", "timeout", "bash", "env",
                                     "tr", "base64", "mktemp", "rm", "mkdir", "cat"})
        if (name != missing)
          fs::create_symlink(name == "sortie" || name == "gh" ? folder.path("bin/" + name)
                                                              : fs::path("/usr/bin") / name,
                             bin / name);
      Variables more = job;
      more["PATH"] = bin.string();

      const Said said = step.run(row.script, more);

      BOOST_TEST_CONTEXT(row.script << " without " << missing) {
        BOOST_TEST(said.status == 2, said.output);
        BOOST_TEST(holds(said.output, missing + " is not on PATH"), said.output);
        BOOST_TEST(git(folder.path("origin"), {"for-each-ref"}).empty());
        BOOST_TEST(!fs::exists(folder.path("state")));
      }
    }
}

/// A team's repository, and a machine with ci/cron whose user has nothing but a state folder.
class NightlyProject {
 public:
  explicit NightlyProject(const std::string& verify) {
    folder_.write("work/answer.txt", "wrong\n");
    folder_.write("work/.sortie/nightly.yaml",
                  "version: 1\nprompt: Do it.\nverify: {commands: [" + verify +
                      "], rounds: 0}\nmodel: {provider: replay, cassette: cassette.jsonl}\n");
    CassetteWriter()
        .patch("*** Begin Patch\n*** Update File: answer.txt\n@@\n-wrong\n+right\n*** End Patch\n")
        .next()
        .message("Corrected.")
        .save(folder_.path("work/.sortie/cassette.jsonl"));
    folder_.write("work/.sortie/policy.yaml", "version: 1\nextends: auto\n");
    folder_.write("openai-key", "sk-not-asked-for\n");
    make_repository(work());
    commit_all(work());
    git(work(), {"branch", "-M", "main"});
    git(work(), {"init", "-q", "--bare", origin().string()});
    git(work(), {"push", "-q", origin().string(), "main"});
    fs::create_directories(folder_.path("bin"));
    fs::create_symlink(sortie_binary(), folder_.path("bin/sortie"));
  }

  /// The line of ci/cron/sortie, as cron runs it: by sh, with the table's own variables and few
  /// others.
  Said night(std::map<std::string, std::string> more = {}) const {
    more.insert({{"PATH", folder_.path("bin").string() + ":/usr/bin:/bin"},
                 {"REPOSITORY", origin().string()},
                 {"STATE", state().string()},
                 {"SORTIE_KEY_FILE", folder_.path("openai-key").string()}});
    std::string command = "exec env -i HOME=/nonexistent LOGNAME=sortie SHELL=/bin/sh";
    std::string script;
    for (const auto line : split_lines(table_)) {
      if (line.empty() || line.starts_with('#')) continue;
      const std::size_t equals = line.find('=');
      const std::string name(line.substr(0, std::min(equals, line.size())));
      if (more.contains(name))
        command += " '" + name + "=" + more[name] + "'";
      else if (equals != std::string_view::npos)
        command += " '" + std::string(line) + "'";
      else
        script = line.substr(line.rfind('/') + 1);
    }
    BOOST_TEST(script == "nightly.sh");
    return run_program({"sh", "-c", command + " sh -c " SORTIE_SOURCE_DIR "/ci/cron/" + script},
                       folder_.path(""));
  }
  /// What the team does during the day.
  void push(const std::string& name, const std::string& content) const {
    folder_.write("work/" + name, content);
    commit_all(work());
    git(work(), {"push", "-q", origin().string(), "main"});
  }
  fs::path work() const { return folder_.workspace(); }
  fs::path origin() const { return folder_.path("origin.git"); }
  fs::path state() const { return folder_.path("state"); }
  const RunFolder& folder() const { return folder_; }

 private:
  RunFolder folder_;
  std::string table_ = template_text("cron/sortie");
};

BOOST_AUTO_TEST_CASE(the_nightly_job_of_cron_is_silent_and_pushes_a_branch_on_the_newest_commit) {
  const NightlyProject project("grep -q right answer.txt");
  std::string base;
  for (int night = 0; night < 2; ++night) {
    const Said said = project.night();

    BOOST_TEST(said.status == 0, said.output);
    BOOST_TEST(said.output == "");
    BOOST_TEST(git(project.origin(), {"show", "sortie-nightly:answer.txt"}) == "right\n");
    BOOST_TEST(git(project.origin(), {"rev-parse", "sortie-nightly~1"}) ==
               git(project.origin(), {"rev-parse", "main"}));
    project.push("day" + std::to_string(night) + ".txt", "of the day\n");
  }
  BOOST_TEST(git(project.origin(), {"show", "main:answer.txt"}) == "wrong\n");
  // All that it leaves is in its own folder, which nobody else can read.
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(project.folder().path("")))
    left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  BOOST_TEST(left == (std::vector<std::string>{"bin", "openai-key", "origin.git", "state", "work"}),
             boost::test_tools::per_element());
  BOOST_TEST((fs::status(project.state()).permissions() == fs::perms::owner_all));
}

BOOST_AUTO_TEST_CASE(a_night_without_a_branch_to_push_leaves_it_in_the_clone) {
  const NightlyProject project("grep -q right answer.txt");

  const Said said = project.night({{"PUSH", ""}});

  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(git(project.origin(), {"branch", "--list", "sortie-nightly"}) == "");
  BOOST_TEST(git(project.state() / "clone", {"show", "sortie-nightly:answer.txt"}) == "right\n");
}

BOOST_AUTO_TEST_CASE(a_clone_that_was_cut_off_or_changed_is_no_obstacle) {
  const NightlyProject project("grep -q right answer.txt");
  project.folder().write("state/clone.new/half", "");
  BOOST_TEST(project.night().status == 0);
  project.folder().write("state/clone/answer.txt", "changed by somebody\n");

  const Said said = project.night();

  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(git(project.origin(), {"show", "sortie-nightly:answer.txt"}) == "right\n");
}

BOOST_AUTO_TEST_CASE(a_night_that_fails_prints_its_log_and_keeps_the_exit_code) {
  const NightlyProject project("'false'");

  const Said said = project.night();
  const Said unreachable = project.night({{"REPOSITORY", "/nonexistent/project.git"}});

  BOOST_TEST(said.status == 1, said.output);
  BOOST_TEST(holds(said.output, "sortie: task-failed (1): "), said.output);
  BOOST_TEST(git(project.origin(), {"branch", "--list", "sortie-nightly"}) == "");
  BOOST_TEST(unreachable.status == 128, unreachable.output);
  BOOST_TEST(holds(unreachable.output, "/nonexistent/project.git"), unreachable.output);
}

BOOST_AUTO_TEST_SUITE_END()
