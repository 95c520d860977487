// The workflows that `sortie init` makes: the files of ci/ with the project's names in them, by the
// schemas of their systems, and their scripts run.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "core/catalog/providers.h"
#include "tests/end_to_end/ci_schemas.h"
#include "tests/end_to_end/init_run.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// A folder whose name has signs of YAML, of Groovy and of a shell.
const std::string kOddFolder = "packages/it's \"#1\": {x} \\u0027 `z`";

std::string template_text(const std::string& name) {
  return read_file(fs::path(SORTIE_SOURCE_DIR) / "ci" / name);
}

/// A file that init makes, and the one of ci/ that it is.
struct MadeFile {
  const char* system;
  const char* made;
  const char* source;
};

constexpr MadeFile kMadeFiles[] = {
    {"github", ".github/sortie/action.yml", "github/action.yml"},
    {"github", ".github/sortie/run.sh", "github/run.sh"},
    {"github", ".github/sortie/land.sh", "github/land.sh"},
    {"github", ".github/workflows/sortie-change.yml", "github/workflows/change.yml"},
    {"github", ".github/workflows/sortie.yml", "github/workflows/task.yml"},
    {"gitlab", ".gitlab/sortie/sortie.gitlab-ci.yml", "gitlab/sortie.gitlab-ci.yml"},
    {"gitlab", ".gitlab/sortie/run.sh", "github/run.sh"},
    {"gitlab", ".gitlab/sortie/land.sh", "gitlab/land.sh"},
    {"jenkins", ".sortie/Jenkinsfile", "jenkins/Jenkinsfile"},
    {"jenkins", ".jenkins/run.sh", "github/run.sh"},
    {"jenkins", ".jenkins/land.sh", "jenkins/land.sh"},
};

/// The file of a system that names the project and its key.
const char* own_file(const std::string& system) {
  return system == "github"   ? ".github/workflows/sortie.yml"
         : system == "gitlab" ? ".gitlab/sortie/sortie.gitlab-ci.yml"
                              : ".sortie/Jenkinsfile";
}

Said check_github_file(const InitRun& run, const std::string& name) {
  return check_for_github(fs::path(name).filename(), run.text(name));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(init_ci)

BOOST_AUTO_TEST_CASE(the_files_for_ci_are_those_of_this_repository) {
  for (const MadeFile& file : kMadeFiles) {
    BOOST_TEST_CONTEXT(file.made) {
      const InitRun run(ProjectFiles{{"go.mod", ""}});
      run.make_git();
      BOOST_TEST(run.init({"--ci", file.system}).status == 0);
      BOOST_TEST((run.text(file.made) == template_text(file.source)));
      BOOST_TEST((::access((run.workspace() / file.made).c_str(), X_OK) == 0) ==
                 std::string(file.made).ends_with(".sh"));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_last_line_names_what_the_image_has_to_have) {
  const struct {
    const char* system;
    const char* image;
  } rows[] = {{"github", "an image with sortie, git, gh, jq and this project's tools"},
              {"gitlab", "an image with sortie, git, jq and this project's tools"},
              {"jenkins", "an image with sortie, git and this project's tools"}};
  for (const auto& row : rows) {
    const InitRun run(ProjectFiles{{"go.mod", ""}});
    run.make_git();
    const ProgramEnd end = run.init({"--ci", row.system});
    BOOST_TEST(holds(end.output, row.image), end.output);
    // The same words as in the workflow's own first lines.
    const std::string own = run.text(own_file(row.system));
    for (const char* program : {"git", "gh,", "jq"})
      BOOST_TEST(
          holds(own.substr(own.find("SORTIE_IMAGE:"), 60), program) == holds(row.image, program),
          own.substr(0, 900));
  }
}

BOOST_AUTO_TEST_CASE(the_workflow_passes_the_key_that_the_provider_needs) {
  const struct {
    Arguments flags;
    const char* key;
    const char* model;
    const char* bounds;
  } rows[] = {
      {{}, "OPENAI_API_KEY", "", ""},
      {{"--provider", "openai-chat", "--base-url", "http://vllm:8000/v1", "-m", "qwen"},
       "OPENAI_API_KEY",
       R"(model: {provider: openai-chat, name: "qwen", base_url: "http://vllm:8000/v1"})",
       "    OPENAI_API_KEY: [\"http://vllm:8000\"]\n"},
      {{"--provider", "anthropic"},
       "ANTHROPIC_API_KEY",
       R"(model: {provider: anthropic, name: "claude-sonnet-4-5"})",
       ""},
      {{"--provider", "azure", "-m", "ours", "--base-url",
        "https://we.openai.azure.com/?api-version=2025-04-01-preview"},
       "AZURE_OPENAI_API_KEY",
       R"(model: {provider: azure, name: "ours", base_url: "https://we.openai.azure.com/?)",
       "    AZURE_OPENAI_API_KEY: [\"we.openai.azure.com\"]\n"},
      {{"--provider", "local", "-m", "qwen3", "--base-url", "http://ollama:11434/v1"},
       "",
       R"(model: {provider: local, name: "qwen3", base_url: "http://ollama:11434/v1"})",
       "  model_hosts: [\"ollama:11434\"]\n"},
  };
  for (const auto& row : rows)
    for (const std::string system : {"github", "gitlab", "jenkins"}) {
      BOOST_TEST_CONTEXT(system << " with " << row.key << row.model) {
        const InitRun run(ProjectFiles{{"go.mod", ""}});
        run.make_git();
        Arguments words = row.flags;
        words.insert(words.end(), {"--ci", system});
        const ProgramEnd end = run.init(words);

        BOOST_TEST(end.status == 0, end.errors);
        const std::string made = run.text(own_file(system));
        for (const ProviderInfo& one : providers())
          if (!one.key_variable.empty()) {
            // "OPENAI_API_KEY" is a part of azure's.
            const std::string key = std::string(one.key_variable);
            BOOST_TEST((holds(made, " " + key) || holds(made, "'" + key + "'")) == (key == row.key),
                       key << "\n"
                           << made);
          }
        BOOST_TEST(holds(run.text(".sortie/task.yaml"), row.model));
        BOOST_TEST(holds(run.text(".sortie/policy.yaml"), row.bounds));
        BOOST_TEST(holds(run.text(".sortie/policy.yaml"), "bounds:") == (*row.bounds != '\0'));
        // The policy lets that key go there: sortie gets as far as the missing key, or the host.
        ProgramStart start = start_command(run, {"doctor", "--task", ".sortie/task.yaml"});
        if (*row.key != '\0') start.environment[row.key] = "sk-test-of-init-0123456789";
        const ProgramEnd doctor = run_program(start);
        BOOST_TEST(doctor.status == 0, doctor.errors);
        BOOST_TEST(!holds(doctor.output, "must not get"), doctor.output);
      }
    }
}

BOOST_AUTO_TEST_CASE(
    a_provider_without_an_address_or_a_name_is_refused_before_anything_is_written) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  run.make_git();
  const std::pair<Arguments, const char*> rows[] = {
      {{"--provider", "azure"}, "--model"},
      {{"--provider", "azure", "-m", "ours"}, "--base-url"},
      {{"--provider", "local"}, "--model"},
      {{"--provider", "antropic"}, "did you mean 'anthropic'?"},
      {{"--base-url", "ftp://x"}, "ftp"},
  };
  for (const auto& [flags, words] : rows) {
    const ProgramEnd end = run.init(flags);
    BOOST_TEST(end.status == 2, end.output);
    BOOST_TEST(holds(end.errors, words), end.errors);
  }
  BOOST_TEST(run.changed().empty());
}

BOOST_AUTO_TEST_CASE(a_key_of_another_provider_that_is_set_here_is_pointed_out) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  run.make_git();
  ProgramStart start = start_command(run, {"init"});
  start.environment["ANTHROPIC_API_KEY"] = "sk-ant-test-of-init";
  const ProgramEnd end = run_program(start);
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.output, "sortie init --force --provider anthropic\n"), end.output);
  BOOST_TEST(!holds(run.init().output, "--provider"));
}

BOOST_AUTO_TEST_CASE(the_two_jobs_on_github_hand_on_the_key_of_every_provider) {
  const std::string change = template_text("github/workflows/change.yml");
  for (const ProviderInfo& one : providers()) {
    const std::string key(one.key_variable);
    if (key.empty()) continue;
    BOOST_TEST(holds(change, "\n      " + key + ": {required: false}\n"), key);
    BOOST_TEST(holds(change, "\n          " + key + ": ${{ secrets." + key + " }}\n"), key);
  }
}

BOOST_AUTO_TEST_CASE(the_workflows_are_what_their_systems_have_schemas_for,
                     *boost::unit_test::precondition(npm_is_installed)) {
  for (const Arguments& flags : {Arguments{}, Arguments{"--provider", "anthropic"},
                                 Arguments{"--provider", "local", "-m", "x"}})
    for (const std::string& folder : {std::string("."), std::string("packages/shop"), kOddFolder}) {
      BOOST_TEST_CONTEXT(folder << " " << flags.size()) {
        const InitRun run(ProjectFiles{{folder + "/go.mod", ""}});
        run.make_git();
        Arguments github = flags;
        github.insert(github.end(), {"--ci", "github"});
        Arguments gitlab = flags;
        gitlab.insert(gitlab.end(), {"--ci", "gitlab", "--force"});

        BOOST_TEST(run.init(github, folder).status == 0);
        BOOST_TEST(run.init(gitlab, folder).status == 0);

        int workflows = 0;
        std::map<std::string, std::string> included;
        for (const std::string& name : run.changed()) {
          if (name.starts_with(".gitlab")) included[name] = run.text(name);
          if (!name.starts_with(".github/workflows/")) continue;
          ++workflows;
          const Said said = check_github_file(run, name);
          BOOST_TEST(said.status == 0, name << "\n" << said.output);
        }
        BOOST_TEST(workflows == 2);
        BOOST_TEST(included.contains(".gitlab-ci.yml"));
        const Said said = check_for_gitlab(included);
        BOOST_TEST(said.status == 0, said.output);
        BOOST_TEST(holds(said.output, "-merge-request"), said.output);
      }
    }
}

BOOST_AUTO_TEST_CASE(the_name_of_a_folder_stays_one_word_in_every_language) {
  const InitRun run(ProjectFiles{{kOddFolder + "/go.mod", ""}});
  run.make_git();
  BOOST_TEST(run.init({"--ci", "jenkins"}, kOddFolder).status == 0);
  const std::string made = run.text(kOddFolder + "/.sortie/Jenkinsfile");
  BOOST_TEST(holds(made, "SORTIE_WORKSPACE = 'packages/it\\'s \"#1\": {x} \\\\u0027 `z`'\n"), made);
  BOOST_TEST(run.init({"--ci", "github", "--force"}, kOddFolder).status == 0);
  BOOST_TEST(holds(run.text(".github/workflows/sortie-packages-it-s---1----x---u0027--z-.yml"),
                   "workspace: \"packages/it's \\\"#1\\\": {x} \\\\u0027 `z`\"\n"));
}

BOOST_AUTO_TEST_CASE(the_second_job_of_each_system_lands_the_work_of_the_first_in_its_folder) {
  for (const std::string system : {"gitlab", "jenkins"}) {
    BOOST_TEST_CONTEXT(system) {
      const InitRun run({{"tools/calc/Makefile", "test:\n\tgrep -q right answer.txt\n"},
                         {"tools/calc/answer.txt", "wrong\n"}});
      run.make_git();
      BOOST_TEST(run.init({"--ci", system}, "tools/calc").status == 0);
      commit_all(run.workspace());
      git(run.workspace(), {"init", "-q", "--bare", run.path("p.git").string()});
      git(run.path("p.git"), {"config", "receive.advertisePushOptions", "true"});
      git(run.workspace(), {"remote", "add", "origin", run.path("p.git").string()});
      fs::create_directory(run.path("bin"));
      fs::create_symlink(sortie_binary(), run.path("bin/sortie"));
      const ModelServer server(
          served(CassetteWriter()
                     .patch("*** Begin Patch\n*** Update File: answer.txt\n@@\n-wrong\n+right\n"
                            "*** End Patch\n")
                     .next()
                     .message("Corrected.")));
      const auto step = [&](const std::string& script) {
        ProgramStart start;
        start.argv = {run.workspace() / ("." + system) /
                      (system == "gitlab" ? "sortie/" + script : script)};
        start.folder = run.workspace();
        start.environment = {{"PATH", run.path("bin").string() + ":" + std::getenv("PATH")},
                             {"OPENAI_API_KEY", "sk-test-of-init-0123456789"},
                             {"SORTIE_BASE_URL", base_url(server)},
                             {"SORTIE_OUT", run.out().string()},
                             {"SORTIE_TASK", "tools/calc/.sortie/task.yaml"},
                             {"SORTIE_POLICY", "tools/calc/.sortie/policy.yaml"},
                             {"SORTIE_WORKSPACE", "tools/calc"},
                             {"SORTIE_VERSION", SORTIE_VERSION},
                             {"SORTIE_PUSH_TOKEN", "token"},
                             {"CI_SERVER_URL", "file://" + run.path("").string()},
                             {"CI_PROJECT_PATH", "p"},
                             {"CI_DEFAULT_BRANCH", "main"},
                             {"CI_JOB_ID", "1"},
                             {"CI_PIPELINE_URL", "https://gitlab.example/p/1"},
                             {"BUILD_TAG", "1"}};
        return run_program(start);
      };

      const ProgramEnd worked = step("run.sh");
      const ProgramEnd landed = step("land.sh");

      BOOST_TEST(worked.status == 0, worked.errors);
      BOOST_TEST(landed.status == 0, landed.errors);
      BOOST_TEST(git(run.path("p.git"), {"show", "sortie/1:tools/calc/answer.txt"}) == "right\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_registry_is_a_host_or_nothing) {
  const std::string usual = "registry.npmjs.org:443";
  const struct {
    const char* text;
    std::vector<std::string> hosts;
    std::vector<std::string> named;  ///< said to the user, since the project asked for them
  } rows[] = {
      {"registry=https://npm.example.org/mirror/\n",
       {"npm.example.org:443"},
       {"npm.example.org:443"}},
      {"registry = \"https://npm.example.org:8443/\" \r\n",
       {"npm.example.org:8443"},
       {"npm.example.org:8443"}},
      {"  registry=https://A.Example.org\nregistry=https://b.example.org\n",
       {"b.example.org:443"},
       {"b.example.org:443"}},
      {"@acme:registry=https://npm.acme.example/\n//npm.acme.example/:_authToken=${T}\n",
       {usual, "npm.acme.example:443"},
       {"npm.acme.example:443"}},
      {"registry=https://a.example\n@b:registry=https://b.example\n@c:registry=https://b.example\n",
       {"a.example:443", "b.example:443"},
       {"a.example:443", "b.example:443"}},
      {"; registry=https://old.example\n# registry=https://old.example\n", {usual}, {}},
      {"my-registry=https://x.example\nregistry-mirror=https://x.example\n", {usual}, {}},
      {"registry=https://a\"],mode:open\n", {usual}, {}},
      {"registry=https://*.example.org/\n", {usual}, {}},
      {"registry=https://${HOST}/\n", {usual}, {}},
      {"registry=https://user:word@npm.example.org/\n", {usual}, {}},
      {"registry=http://plain.example.org/\n", {usual}, {}},
      {"registry=https:///\n", {usual}, {}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const InitRun run(
          {{"package.json", R"({"dependencies": {"a": "1"}})"}, {".npmrc", row.text}});
      const ProgramEnd end = run.init();
      BOOST_TEST(end.status == 0, end.errors);
      const std::string policy = run.text(".sortie/policy.yaml");
      std::string list = "  allow:\n";
      for (const std::string& host : row.hosts) list += "    - \"" + host + "\"\n";
      BOOST_TEST(holds(policy, list + "\n"), policy);
      for (const std::string& host : row.named) {
        const std::string note = "commands may reach " + host + ", since .npmrc names it";
        BOOST_TEST(holds(end.output, "  note: " + note), end.output);
        BOOST_TEST(holds(policy, "# Note: " + note), policy);
      }
      BOOST_TEST(holds(end.output, "note: ") == !row.named.empty(), end.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_diff_of_the_jobs_own_scripts_is_not_landed) {
  for (const std::string system : {"github", "gitlab", "jenkins"}) {
    BOOST_TEST_CONTEXT(system) {
      const InitRun run(ProjectFiles{{"go.mod", ""}});
      run.make_git();
      BOOST_TEST(run.init({"--ci", system}).status == 0);
      commit_all(run.workspace());
      const std::string script =
          "." + system + (system == "jenkins" ? "/land.sh" : "/sortie/land.sh");
      run.write_task(CassetteWriter()
                         .patch("*** Begin Patch\n*** Update File: " + script +
                                "\n@@\n-set -euo pipefail\n+env\n*** End Patch\n")
                         .next()
                         .message("Changed."));
      // The first job's policy is not what decides.
      const ProgramEnd worked = run.sortie(
          {"run", run.path("task.yaml").string(), "--policy", "auto", "--out", run.out().string()});
      const ProgramEnd landed = run.sortie(
          {"land", run.out().string(), "--policy", ".sortie/policy.yaml", "--onto", "HEAD"});
      // Every policy protects .github, also that of the run.
      BOOST_TEST((worked.status == 0) == (system != "github"), worked.errors);
      if (system != "github") BOOST_TEST(holds(landed.errors, script), landed.errors);
      BOOST_TEST(landed.status != 0);
      BOOST_TEST(landed.output == "");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
