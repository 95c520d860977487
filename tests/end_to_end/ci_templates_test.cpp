// The templates of ci/github and ci/systemd: their commands run as their systems run them, and what
// the YAML may hold.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/end_to_end/ci_step.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

const fs::path kTemplates = fs::path(SORTIE_SOURCE_DIR) / "ci/github";

std::vector<fs::path> templates(const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kTemplates))
    if (entry.path().extension() == ending) files.push_back(entry.path());
  return files;
}

boost::test_tools::assertion_result has_systemd(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(
      run_program({"sh", "-c", "command -v systemd-analyze"}, "/").status == 0);
  if (!result) result.message() << "no systemd-analyze (ci/setup tests installs it)";
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_templates)

BOOST_AUTO_TEST_CASE(the_two_jobs_make_a_pull_request_of_a_task) {
  const Step step;

  const Said worked = step.work();
  const fs::path origin = step.folder().path("origin");
  // A setting of the job's own: origin is known by another name, and git gets the token for it.
  git(step.folder().workspace(), {"remote", "set-url", "origin", "mirror:origin"});
  step.folder().write("bin/git",
                      "#!/bin/sh\ncase \"$*\" in *' push '*) /usr/bin/git config --get-urlmatch "
                      "http.extraheader https://github.com/o/r > '" +
                          step.folder().path("header").string() +
                          "' ;; esac\nexec /usr/bin/git \"$@\"\n");
  fs::permissions(step.folder().path("bin/git"), fs::perms::owner_all);
  const Said landed =
      step.run("github/land.sh",
               {{"SORTIE_BRANCH", "sortie/1"},
                {"GH_TOKEN", "token-of-the-job"},
                {"GITHUB_REF", "refs/heads/release/1.x"},
                {"GIT_CONFIG_COUNT", "1"},
                {"GIT_CONFIG_KEY_0", "url." + step.folder().path("").string() + ".insteadOf"},
                {"GIT_CONFIG_VALUE_0", "mirror:"}});

  BOOST_TEST(worked.status == 0, worked.output);
  BOOST_TEST(read_file(step.folder().path("header")) ==
             "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46dG9rZW4tb2YtdGhlLWpvYg==\n");
  BOOST_TEST(read_file(step.folder().path("step-outputs")).find("status<<sortie_") == 0u);
  BOOST_TEST(landed.status == 0, landed.output);
  BOOST_TEST(git(origin, {"show", "sortie/1:answer.txt"}) == "right\n");
  BOOST_TEST(git(origin, {"rev-parse", "sortie/1~1"}) == step.head() + "\n");
  const std::string request = read_file(step.folder().path("gh.txt"));
  BOOST_TEST(
      request.find("--head\nsortie/1\n--base=release/1.x\n--title=-Corrected $(touch hacked)") !=
          std::string::npos,
      request);
  BOOST_TEST(!fs::exists(step.folder().workspace() / "hacked"));
  BOOST_TEST(landed.output.find("token-of-the-job") == std::string::npos);
  BOOST_TEST(git(step.folder().workspace(), {"config", "--list"}).find("extraheader") ==
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_diff_that_was_changed_between_the_jobs_is_not_landed) {
  const Step step;
  const Said worked = step.work();
  BOOST_REQUIRE(worked.status == 0);
  write_file(step.folder().out() / "changes.diff",
             step.folder().artifact("changes.diff") + "diff --git a/x b/x\n");

  const Said landed =
      step.run("github/land.sh", {{"SORTIE_BRANCH", "sortie/1"}, {"GH_TOKEN", "t"}});

  BOOST_TEST(landed.status == 8, landed.output);
  BOOST_TEST(!fs::exists(step.folder().path("gh.txt")));
}

BOOST_AUTO_TEST_CASE(the_scripts_refuse_what_would_be_a_flag_or_another_version) {
  const Step step;
  using More = std::map<std::string, std::string>;
  for (const More& more : {More{{"SORTIE_TASK", "--help"}}, More{{"SORTIE_TASK", ""}},
                           More{{"SORTIE_VERSION", "0.0.0"}}, More{{"SORTIE_POLICY", "-"}}}) {
    const Said said = step.work(more);
    BOOST_TEST(said.status == 2, said.output);
  }
  for (const char* branch : {"", "-d", "a..b", "a b", "x:refs/heads/main"}) {
    const Said said = step.run("github/land.sh", {{"SORTIE_BRANCH", branch}, {"GH_TOKEN", "t"}});
    BOOST_TEST(said.status == 2, branch << ": " << said.output);
  }
  BOOST_TEST(!fs::exists(step.folder().out()));
}

BOOST_AUTO_TEST_CASE(the_command_of_the_systemd_service_runs_a_task) {
  const RunFolder folder;
  folder.write("work/.sortie/nightly.yaml",
               "version: 1\nprompt: Do it.\nexpect: {changes: any}\n"
               "model: {provider: replay, cassette: cassette.jsonl}\n");
  CassetteWriter().message("Done.").save(folder.path("work/.sortie/cassette.jsonl"));
  folder.write("work/.sortie/policy.yaml", "version: 1\nextends: auto\n");
  folder.write("openai-key", "sk-not-asked-for\n");
  folder.commit_workspace();
  const std::string unit = read_file(fs::path(SORTIE_SOURCE_DIR) / "ci/systemd/sortie.service");
  std::string command = unit.substr(unit.find("ExecStart=") + 10);
  command.resize(command.find('\n'));
  const std::vector<std::pair<std::string, std::string>> places = {
      {"/usr/local/bin/sortie", sortie_binary()},
      {"%d/", folder.path("").string()},
      {"%S/sortie/", folder.path("").string()}};
  for (const auto& [name, place] : places) {
    BOOST_TEST(command.find(name) != std::string::npos, name);
    for (std::size_t at = 0; (at = command.find(name, at)) != std::string::npos; at += place.size())
      command.replace(at, name.size(), place);
  }

  for (int night = 0; night < 2; ++night) {
    const Said said = run_program({"bash", "-c", command}, folder.workspace());

    BOOST_TEST(said.status == 0, said.output);
    BOOST_TEST(read_file(folder.path("status")).find("{\"status\":\"success\"") == 0u);
  }
}

BOOST_AUTO_TEST_CASE(systemd_finds_nothing_wrong_with_the_units,
                     *boost::unit_test::precondition(has_systemd)) {
  const RunFolder folder;
  const fs::path units = fs::path(SORTIE_SOURCE_DIR) / "ci/systemd";
  std::string service = read_file(units / "sortie.service");
  const std::string installed = "ExecStart=/usr/local/bin/sortie ";
  BOOST_REQUIRE(service.find(installed) != std::string::npos);
  // It looks whether the program is there.
  service.replace(service.find(installed), installed.size(), "ExecStart=" + sortie_binary() + " ");
  folder.write("sortie.service", service);
  folder.write("sortie.timer", read_file(units / "sortie.timer"));

  const Said said =
      run_program({"systemd-analyze", "verify", folder.path("sortie.service").string(),
                   folder.path("sortie.timer").string()},
                  "/");

  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(said.output == "");
}

BOOST_AUTO_TEST_CASE(the_yaml_has_pinned_actions_few_rights_and_no_text_of_others_in_scripts) {
  const std::regex pinned("uses: (\\./[^ @]+|[^ @]+@[0-9a-f]{40}  # v[0-9.]+)$");
  int actions = 0;
  for (const fs::path& file : templates(".yml")) {
    BOOST_TEST_CONTEXT(file.filename()) {
      const std::string text = read_file(file);
      const auto lines = split_lines(text);
      const bool workflow = file.parent_path().filename() == "workflows";
      BOOST_TEST(workflow == (text.find("\npermissions: {}\n") != std::string::npos));
      BOOST_TEST(text.find("pull_request_target") == std::string::npos);
      BOOST_TEST(text.find("write-all") == std::string::npos);
      BOOST_TEST(text.find("secrets: inherit") == std::string::npos);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string line(trimmed(lines[i]));
        // A script is one line, which names a file.
        if (const std::size_t at = line.find("run: "); at != std::string::npos)
          BOOST_TEST((line.find("${{") == std::string::npos && line.find('|') == std::string::npos),
                     line);
        if (line.find("uses: ") == std::string::npos) continue;
        ++actions;
        BOOST_TEST(std::regex_search(line, pinned), line);
        if (line.find("actions/checkout@") != std::string::npos)
          BOOST_TEST((i + 1 < lines.size() &&
                      lines[i + 1].find("persist-credentials: false") != std::string_view::npos),
                     line);
      }
    }
  }
  BOOST_TEST(actions >= 6);
}

BOOST_AUTO_TEST_SUITE_END()
