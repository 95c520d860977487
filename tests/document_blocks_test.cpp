// The YAML and shell of the documents: readers copy it.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/batch/manifest_fields.h"
#include "core/config/yaml.h"
#include "core/files/files.h"
#include "core/rates/rate_limits.h"
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
  const fs::path root = SORTIE_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md")
      pages.push_back(fs::relative(entry.path(), root).string());
  return pages;
}

bool has(const YamlNode& mapping, const char* key) { return mapping.find(key) != nullptr; }

bool is_task(const YamlNode& root) {
  return has(root, "prompt") || has(root, "prompt_file") || has(root, "stages");
}

/// A task or a policy has to load as it stands, with the files that the page has beside it.
void check_loads(const YamlNode& root, const DocumentBlock& block, const fs::path& folder) {
  try {
    if (has(root, "tasks")) {
      Manifest manifest;
      manifest.folder = folder;
      Diagnostics findings;
      manifest_fields(manifest).read(
          read_yaml(findings.add_source(block.place, block.text), findings), findings);
      findings.throw_if_any();
    } else if (has(root, "providers")) {
      write_file(folder / "limits.yaml", block.text);
      load_rate_limits(folder / "limits.yaml");
    } else if (is_task(root)) {
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
    }
  }
  BOOST_TEST(loaded > 15);
}

BOOST_AUTO_TEST_CASE(shell_in_documents_is_valid) {
  int scripts = 0;
  for (const std::string& page : pages())
    for (const DocumentBlock& block : blocks_of(page))
      for (const std::string& script : scripts_of(block)) {
        ++scripts;
        const Said said = run_program({"bash", "-n", "-c", script}, ".");
        BOOST_TEST(said.status == 0, block.place << ": " << said.output);
      }
  BOOST_TEST(scripts > 15);
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
