// The man page and docs/environment.md: every exit code, variable and file that there is.
#include <CLI/CLI.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "app/commands/manual.h"
#include "core/base/exit_code.h"
#include "core/catalog/providers.h"
#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/support/document_part.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SORTIE_SOURCE_DIR;

/// The words of a list "A, B".
std::set<std::string> words(const std::string& list) {
  std::set<std::string> words;
  static const std::regex kWord("[A-Za-z0-9_./-]+");
  for (std::sregex_iterator at(list.begin(), list.end(), kWord), end; at != end; ++at)
    words.insert(at->str());
  return words;
}

std::set<std::string> documented_variables() {
  std::set<std::string> names;
  for (const VariableRow& row : variable_table()) names.merge(words(row.names));
  return names;
}

/// Names that the sources hand to a function that reads a variable of sortie's own.
std::set<std::string> variables_in_sources() {
  static const std::regex kRead(
      R"((own_variable|getenv|is_set|either|variable|add_variable)\(\s*(own,\s*)?"([A-Z_]+)\")");
  std::set<std::string> names;
  for (const char* folder : {"app", "core", "policies", "tools", "ci"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      const std::string source = read_file(entry.path());
      for (std::sregex_iterator at(source.begin(), source.end(), kRead), end; at != end; ++at)
        names.insert((*at)[3]);
    }
  for (const ProviderInfo& provider : providers()) {
    if (!provider.key_variable.empty()) names.emplace(provider.key_variable);
    for (const auto& variable : provider.address_variables)
      if (!variable.empty()) names.emplace(variable);
  }
  return names;
}

/// What stands in backticks in the first column of the table of files in docs/formats.md.
std::set<std::string> files_in_formats() {
  const std::string page = read_file(kRoot / "docs/formats.md");
  const std::size_t begin = page.find("## Output folder");
  std::istringstream lines(page.substr(begin, page.find("\n## ", begin) - begin));
  static const std::regex kFile("`([a-z.-]+/?)`");
  std::set<std::string> files;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find('|', 2));
    for (std::sregex_iterator at(cell.begin(), cell.end(), kFile), end; at != end; ++at)
      files.insert((*at)[1]);
  }
  return files;
}

std::string page() {
  const CLI::App app("What it does.", "sortie");
  return man_page(app);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(manual)

BOOST_AUTO_TEST_CASE(the_man_page_has_every_exit_code_with_its_meaning) {
  const std::string text = page();
  BOOST_TEST(holds(text, "\n.SH EXIT STATUS\n"));
  for (const ExitCodeRow& row : exit_code_table()) {
    std::string status = row.status;
    if (const auto dash = status.find('-'); dash != std::string::npos) status.insert(dash, "\\");
    BOOST_TEST(holds(text, "\n.B " + std::to_string(static_cast<int>(row.code)) + " " + status),
               row.status);
  }
}

BOOST_AUTO_TEST_CASE(the_man_page_has_every_variable_that_the_program_reads) {
  const std::string text = page();
  BOOST_TEST(holds(text, "\n.SH ENVIRONMENT\n"));
  const auto documented = documented_variables();
  const auto read = variables_in_sources();
  BOOST_TEST(read.size() > 20u);
  for (const std::string& name : read) {
    BOOST_TEST(documented.count(name) == 1u, "missing in app/commands/manual.cpp: " << name);
    BOOST_TEST(holds(text, name), name);
  }
  for (const std::string& name : documented)
    BOOST_TEST(read.count(name) == 1u, "nothing reads " << name);
}

BOOST_AUTO_TEST_CASE(the_man_page_has_every_file_of_an_output_folder) {
  BOOST_TEST(holds(page(), "\n.SH FILES\n"));
  std::set<std::string> listed;
  for (const ArtifactRow& row : artifact_table()) listed.merge(words(row.name));
  BOOST_TEST(listed == files_in_formats(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(docs_have_the_table_of_variables) {
  std::string rows = "| variable | what for |\n|---|---|\n";
  for (const VariableRow& row : variable_table()) {
    std::string names;
    for (std::istringstream list(row.names); !list.eof();) {
      std::string name;
      std::getline(list >> std::ws, name, ',');
      names += (names.empty() ? "`" : ", `") + name + "`";
    }
    rows += "| " + names + " | " + row.meaning + " |\n";
  }
  check_document_part("docs/environment.md", "variables", rows, "docs_test -t manual");
}

BOOST_AUTO_TEST_CASE(a_command_with_commands_below_it_has_its_own_section) {
  CLI::App root("About it.", "sortie");
  root.require_subcommand(1);
  CLI::App& exec = *root.add_subcommand("exec", "Run a prompt.");
  exec.alias("e");
  bool json = false;
  exec.add_flag("--json", json, "events");
  exec.add_subcommand("resume", "Go on.");
  CLI::App& policy = *root.add_subcommand("policy", "Policies.");
  policy.require_subcommand(1);
  policy.add_subcommand("check", "Check one.");

  const std::string page = man_page(root);

  BOOST_TEST(page.find(".SS sortie exec\nRun a prompt.\nShort: sortie e.\n") != std::string::npos,
             page);
  BOOST_TEST(page.find("\\-\\-json") < page.find(".SS sortie exec resume"));
  BOOST_TEST(page.find(".SS sortie policy check") != std::string::npos);
  BOOST_TEST(page.find(".SS sortie policy\n") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
