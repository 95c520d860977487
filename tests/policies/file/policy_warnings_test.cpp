// What the author of a policy probably did not mean, and keys that nothing acts on.
#include "policies/file/policy_warnings.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "policies/file/policy_loader.h"
#include "policies/file/presets.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// A PATH of one folder.
auto only(const TemporaryFolder& folder) {
  return [path = folder.path()] { return std::vector<std::filesystem::path>{path}; };
}

std::string warnings_of(const std::string& yaml, const PolicySurroundings& surroundings) {
  const Policy policy = parse_policy("version: 1\n" + yaml + "\n", "p.yaml", "/");
  std::string text;
  for (const PolicyWarning& warning : policy_warnings(policy, surroundings))
    text += warning_text(policy, warning) + "\n";
  return text;
}

/// The sources that act on a value: not those that read, write, describe or warn of it.
std::string acting_sources() {
  const fs::path root = SORTIE_SOURCE_DIR;
  std::string text;
  for (const char* part : {"app", "ci", "core", "policies", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(root / part)) {
      const fs::path& path = entry.path();
      const std::string name = path.filename().string();
      if (path.extension() != ".cpp" && path.extension() != ".h") continue;
      if (name.find("_fields.") != name.npos || name.find("policy_values") != name.npos ||
          name == "policy_rules.cpp" || name == "policy_warnings.cpp" || name == "task.h" ||
          name == "policy.h" || name == "task_draft.cpp")
        continue;
      text += read_file(path, 1u << 20);
    }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(policy_warnings_suite)

BOOST_AUTO_TEST_CASE(what_was_probably_not_meant_is_warned_of_with_a_remedy) {
  const TemporaryFolder path;
  write_file(path / "cargo", "");
  const PolicySurroundings all{.functions = {{"deploy"}}, .path = only(path), .home = "/home/me"};
  const PolicySurroundings none;
  const struct {
    const char* yaml;
    const PolicySurroundings& surroundings;
    const char* says;  ///< "": nothing
  } rows[] = {
      {"paths: {read: ['/']}", none, "p.yaml:2: warning: '/' lets commands read"},
      {"paths: {read: ['/.']}", none, "name the folders that are needed"},
      {"paths: {read: ['~']}", none, "'~' lets commands read"},
      {"paths: {read: ['/home']}", all, "'/home' lets commands read"},
      {"paths: {read: ['/home/me/x', /opt, /usr/../srv]}", all, ""},
      {"paths: {write: ['/']}", none, "'/' lets commands change"},
      {"paths: {write: ['/home/me']}", all, "name the folders that are needed"},
      {"paths: {write: [., build]}", all, ""},
      {"environment: {set: {PATH: /x}}", none, "'PATH' has no effect"},
      {"environment: {set: {LD_PRELOAD: x.so}}", none, "'LD_PRELOAD' has no effect"},
      {"environment: {set: {MY_PATH: /x}}", none, ""},
      {"tools: [{allow: [shel]}]", none, "there is no tool 'shel'; did you mean 'shell'?"},
      {"tools: [{deny: [aply_patch]}]", all, "did you mean 'apply_patch'?"},
      {"tools: [{allow: [deploy]}]", none, ""},
      {"tools: [{allow: [deploy]}]", all, ""},
      {"tools: [{allow: [publish]}]", none, ""},
      {"tools: [{allow: [publish]}]", all, "there is no tool 'publish'"},
      {"tools: [{allow: ['mcp__docs__*', 'read_*', shell, local_shell]}]", all, ""},
      {"commands: [{allow: [crgo, test]}]", all, "no program 'crgo' is on the PATH"},
      {"commands: [{allow: [cargo, test]}, {allow: [[crgo, cargo], build]}]", all, ""},
      {"commands: [{allow: [crgo, test]}]", none, ""},
      {"commands: [{allow: [export, A]}, {deny: [crgo]}]", all, ""},
      {"network: {mode: allow-list, allow: ['localhost:8080']}", none,
       "'localhost:8080' is in NO_PROXY of commands"},
      {"network: {mode: allow-list, allow: ['127.0.0.1:5432']}\n"
       "environment: {set: {NO_PROXY: '127.0.0.1', no_proxy: ''}}",
       none, "environment.set: {NO_PROXY: '', no_proxy: ''}"},
      {"network: {mode: allow-list, allow: ['localhost:8080']}\n"
       "environment: {set: {NO_PROXY: '', no_proxy: ''}}",
       none, ""},
      {"network: {mode: allow-list, allow: ['a.example.com:443']}", none, ""},
      {"network: {allow: [a.example.com]}", none, "the mode is none; add mode: allow-list"},
      // The index is the one host that the same policy lets commands reach: it is meant.
      {"network: {mode: allow-list, allow: [pypi.a.example]}\n"
       "environment: {set: {PIP_INDEX_URL: 'https://pypi.a.example/simple'}}",
       none, ""},
      {"network: {mode: allow-list, allow: ['pypi.a.example:8443']}\n"
       "environment: {set: {PIP_INDEX_URL: 'https://pypi.a.example:8443/simple'}}",
       none, ""},
      {"network: {mode: allow-list, allow: [pypi.a.example]}\n"
       "environment: {set: {PIP_INDEX_URL: 'https://pypi.b.example/simple'}}",
       none, "contact other servers"},
      {"network: {mode: allow-list, allow: ['*.a.example']}\n"
       "environment: {set: {PIP_INDEX_URL: 'https://pypi.a.example/simple'}}",
       none, "contact other servers"},
      {"network: {mode: allow-list, allow: [pypi.a.example]}\n"
       "environment: {set: {PIP_INDEX_URL: 'https://pypi.a.example https://b.example'}}",
       none, "contact other servers"},
      {"network: {mode: allow-list, allow: [a.example]}\n"
       "environment: {set: {HTTPS_PROXY: 'https://a.example'}}",
       none, "contact other servers"},
      {"environment: {set: {PIP_INDEX_URL: 'https://pypi.a.example/simple'}}", none,
       "contact other servers"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.yaml) {
      const std::string text = warnings_of(row.yaml, row.surroundings);
      BOOST_TEST(text.empty() == (*row.says == '\0'), text);
      BOOST_TEST(text.find(row.says) != std::string::npos, text);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_presets_give_no_reason_for_a_warning) {
  const TemporaryFolder empty;
  const PolicySurroundings surroundings{
      .functions = std::vector<std::string>(), .path = only(empty), .home = "/home/me"};
  for (const std::string& name : preset_names()) {
    if (name == "auto-net") continue;  // its list is empty: policies that extend it have hosts
    const Policy policy = load_policy(name);
    for (const PolicyWarning& warning : policy_warnings(policy, surroundings))
      BOOST_TEST(warning.of_risk, warning_text(policy, warning));
  }
}

BOOST_AUTO_TEST_CASE(something_acts_on_every_key_of_a_task_and_a_policy) {
  const std::string sources = acting_sources();
  std::size_t members = 0;
  for (const char* header : {"policies/rules/policy.h", "core/task/task.h"}) {
    std::ifstream file(fs::path(SORTIE_SOURCE_DIR) / header);
    const std::regex member(R"(^  [A-Za-z_][\w:<>, ]* (\w+)( = .*|\{.*)?;.*$)");
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if (!std::regex_match(line, found, member) || line.starts_with("  bool operator")) continue;
      if (found[1] == "needs") continue;  // `requires` is checked when it is read
      ++members;
      const std::string name = found[1];
      const bool used = sources.find("." + name) != std::string::npos ||
                        sources.find("->" + name) != std::string::npos;
      BOOST_TEST(used, header << ": nothing acts on '" << name << "'");
    }
  }
  BOOST_TEST(members > 120u);
}

BOOST_AUTO_TEST_SUITE_END()
