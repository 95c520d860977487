// The YAML and shell of the documents: readers copy it.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/yaml.h"
#include "core/task/task_loader.h"
#include "policies/file/policy_loader.h"
#include "policies/file/policy_warnings.h"
#include "tests/support/document_blocks.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> pages() {
  std::vector<std::string> pages = {"README.md", "samples/README.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(SORTIE_SOURCE_DIR) / "docs"))
    pages.push_back("docs/" + entry.path().filename().string());
  return pages;
}

bool has(const YamlNode& mapping, const char* key) { return mapping.find(key) != nullptr; }

bool is_task(const YamlNode& root) {
  return has(root, "prompt") || has(root, "prompt_file") || has(root, "stages");
}

/// All texts that a shell runs: GitHub's `run`, GitLab's `script`, the `args` of a container.
void collect_scripts(const YamlNode& node, bool is_script, std::vector<std::string>& scripts) {
  if (is_script && node.is_scalar()) scripts.push_back(node.text);
  for (const YamlNode& item : node.items) collect_scripts(item, is_script, scripts);
  for (const YamlMember& member : node.members) {
    const std::string& key = member.key.text;
    collect_scripts(member.value, key == "run" || key == "script" || key == "args", scripts);
  }
}

void check_shell(const std::string& script, const std::string& place) {
  const Said said = run_program({"bash", "-n", "-c", script}, ".");
  BOOST_TEST(said.status == 0, place << ": " << said.output);
}

/// A task or a policy has to load as it stands, with the files that the page has beside it.
void check_loads(const YamlNode& root, const DocumentBlock& block, const fs::path& folder) {
  try {
    if (is_task(root)) {
      const fs::path file = folder / (block.file.empty() ? "block.yaml" : block.file);
      if (block.file.empty()) {
        DocumentBlock named = block;
        named.file = "block.yaml";
        write_files({named}, folder);
      }
      load_task(file.string());
    } else {
      const Policy policy = parse_policy(block.text, "block.yaml", folder);
      for (const PolicyWarning& warning : policy_warnings(policy))
        BOOST_ERROR(block.place << ": " << warning_text(policy, warning));
    }
  } catch (const Error& error) {
    BOOST_ERROR(block.place << ": " << error.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(document_blocks)

BOOST_AUTO_TEST_CASE(yaml_in_documents_parses_and_tasks_and_policies_load) {
  int loaded = 0;
  for (const std::string& page : pages()) {
    const TemporaryFolder folder;
    const auto blocks = blocks_of(page);
    write_files(blocks, folder.path());
    for (const DocumentBlock& block : blocks) {
      if (block.language != "yaml") continue;
      Diagnostics findings;
      const YamlNode root = read_yaml(findings.add_source(block.place, block.text), findings);
      BOOST_TEST(findings.empty(), findings.render());
      if (has(root, "version")) {
        ++loaded;
        check_loads(root, block, folder.path());
      }
      std::vector<std::string> scripts;
      if (has(root, "jobs") || has(root, "sortie") || has(root, "spec"))
        collect_scripts(root, false, scripts);
      for (const std::string& script : scripts) check_shell(script, block.place);
    }
  }
  BOOST_TEST(loaded > 15);
}

BOOST_AUTO_TEST_CASE(shell_in_documents_is_valid) {
  int scripts = 0;
  for (const std::string& page : pages())
    for (const DocumentBlock& block : blocks_of(page)) {
      std::string script = block.language == "sh" ? block.text : std::string();
      const std::string quotes = "'''";
      if (const auto begin = block.text.find("sh " + quotes);
          block.language == "groovy" && begin != std::string::npos)
        script = block.text.substr(begin + 6, block.text.find(quotes, begin + 6) - begin - 6);
      if (script.empty()) continue;
      ++scripts;
      check_shell(script, block.place);
    }
  BOOST_TEST(scripts > 6);
}

// A pipe's exit code is its last command's: a run that failed would look like a success.
BOOST_AUTO_TEST_CASE(each_script_with_a_pipe_sets_pipefail) {
  for (const std::string& page : pages())
    for (const DocumentBlock& block : blocks_of(page)) {
      if (block.language != "sh") continue;
      const bool pipes = block.text.find(" | sortie run") != std::string::npos ||
                         block.text.find(" | git apply") != std::string::npos;
      BOOST_TEST((!pipes || block.text.find("pipefail") != std::string::npos), block.place);
    }
}

BOOST_AUTO_TEST_SUITE_END()
