#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "ci/result.h"
#include "core/base/exit_code.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/event_codec.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"
#include "policies/file/policy_warnings.h"
#include "policies/rules/policy.h"
#include "tests/support/schema_keys.h"

using namespace sortie;

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = SORTIE_SOURCE_DIR;

/// The first line of the document that begins so; "" where there is none.
std::string line_of(const std::string& document, const std::string& beginning) {
  for (const auto line : split_lines(document))
    if (line.starts_with(beginning)) return std::string(line);
  return {};
}

bool names(const std::string& text, const std::string& member) {
  return text.find("`" + member + "`") != std::string::npos;
}

/// Relative to the repository.
std::vector<fs::path> documents() {
  std::vector<fs::path> documents = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") documents.push_back(fs::relative(entry.path(), kRoot));
  return documents;
}

/// Where a Markdown link leads: a file of the repository, "" for the document itself, and a heading
/// in it, "" for none.
struct Link {
  std::string file;
  std::string heading;
};
std::vector<Link> links_of(const std::string& document) {
  std::vector<Link> links;
  for (std::size_t at = document.find("]("); at != std::string::npos;
       at = document.find("](", at + 2)) {
    const std::string target = document.substr(at + 2, document.find(')', at) - at - 2);
    if (target.starts_with("http") || target.find(' ') != std::string::npos) continue;
    const std::size_t hash = target.find('#');
    links.push_back({target.substr(0, hash),
                     hash == std::string::npos ? std::string() : target.substr(hash + 1)});
  }
  return links;
}

/// The names by which links reach a document's headings: "## Where time goes" is where-time-goes.
std::set<std::string> headings_of(const std::string& document) {
  std::set<std::string> names;
  for (const auto line : split_lines(document)) {
    if (!line.starts_with('#')) continue;
    std::string name;
    for (const char c : line.substr(std::min(line.find(' '), line.size() - 1) + 1)) {
      const auto letter = static_cast<unsigned char>(c);
      if (c == ' ')
        name += '-';
      else if (std::isalnum(letter) != 0 || c == '-' || c == '_')
        name += static_cast<char>(std::tolower(letter));
    }
    names.insert(name);
  }
  return names;
}

/// The rest of the row of a key in a table of docs/policy.md, in the section of its mapping; ""
/// where there is none.
std::string policy_row(const std::string& page, const std::string& key) {
  const std::size_t dot = key.find('.');
  const std::string section = dot == std::string::npos ? "The file itself" : key.substr(0, dot);
  const std::size_t begin = page.find("\n## " + section + "\n");
  if (begin == std::string::npos) return {};
  const std::string text = page.substr(begin + 1, page.find("\n## ", begin + 1) - begin);
  const std::string head = "| `" + (dot == std::string::npos ? key : key.substr(dot + 1)) + "` | ";
  const std::string row = line_of(text, head);
  return row.empty() ? row : row.substr(head.size());
}

/// Compares the defaults of the mapping's keys, and of those below, with the page.
void check_defaults(const Json& mapping, const std::string& prefix, const std::string& page,
                    int& compared) {
  for (const auto& [name, schema] : mapping["properties"].members()) {
    const Json& value = schema["default"];
    if (!value.is_null() && !value.is_array() && !value.is_object()) {
      ++compared;
      const std::string row = policy_row(page, prefix + name);
      const std::string text = value.is_string() ? value.text() : write_json(value);
      BOOST_TEST((row.starts_with(text + " |") || row.starts_with("`" + text + "` |")),
                 prefix << name << ": " << text << ", in docs/policy.md: " << row);
    }
    check_defaults(schema, prefix + name + ".", page, compared);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(docs)

// SORTIE_WRITE_DOCS=1 in the environment writes it anew.
BOOST_AUTO_TEST_CASE(formats_have_the_table_of_records_that_the_program_reads_and_writes_by) {
  const fs::path file = kRoot / "docs/formats.md";
  std::string formats = read_file(file);
  const std::string table = transcript_table();
  const std::size_t begin = formats.find(table.substr(0, table.find('\n')));
  const std::size_t end = formats.find("\n\n", begin) + 1;
  BOOST_REQUIRE(begin < end);
  if (std::getenv("SORTIE_WRITE_DOCS") != nullptr) {
    formats.replace(begin, end - begin, table);
    write_file(file, formats);
    return;
  }
  BOOST_TEST(formats.substr(begin, end - begin) == table,
             "docs/formats.md is not what the codecs say; write it anew with SORTIE_WRITE_DOCS=1 "
             "docs_test");
}

BOOST_AUTO_TEST_CASE(formats_name_every_member_of_result_json) {
  const std::string formats = read_file(kRoot / "docs/formats.md");
  const std::size_t start = formats.find("## result");
  BOOST_REQUIRE(start != std::string::npos);
  const std::string section = formats.substr(start, formats.find("\n## ", start) - start);
  const Json schema = result_schema();
  for (const Json& member : schema["$defs"]["finished"]["required"].items())
    BOOST_TEST(names(section, member.text()), member.text());
}

// status_word(), the manual and the schema of result.json know a code by its row.
BOOST_AUTO_TEST_CASE(every_exit_code_has_a_row_in_the_table) {
  const std::string header = read_file(kRoot / "core/base/exit_code.h");
  static const std::regex kEnumerator(R"( +(\w+) = (\d+),)");
  std::size_t enumerators = 0;
  for (const auto line : split_lines(header)) {
    std::cmatch match;
    if (!std::regex_match(line.begin(), line.end(), match, kEnumerator)) continue;
    ++enumerators;
    const auto table = exit_code_table();
    const bool has_row = std::any_of(table.begin(), table.end(), [&](const ExitCodeRow& row) {
      return static_cast<int>(row.code) == std::stoi(match[2]);
    });
    BOOST_TEST(has_row, match[1]);
  }
  BOOST_TEST(enumerators == exit_code_table().size());
}

BOOST_AUTO_TEST_CASE(every_exit_code_is_described) {
  const std::string table = read_file(kRoot / "docs/exit-codes.md");
  const Json schema = result_schema();
  for (const Json& code : schema["$defs"]["finished"]["properties"]["exit_code"]["enum"].items()) {
    const auto number = static_cast<int>(code.integer().value_or(-1));
    const std::string begin = "| " + code.text();
    const std::string row =
        number >= 130 ? line_of(table, "| 130, 143 |") : line_of(table, begin + " |");
    BOOST_TEST(row.find(status_word(static_cast<ExitCode>(number))) != std::string::npos,
               code.text());
  }
}

// "`tests/x_test.cpp: a_case`": a threat without its test would be a promise.
BOOST_AUTO_TEST_CASE(every_threat_names_tests_that_exist) {
  const std::string document = read_file(kRoot / "docs/SECURITY.md");
  int tests = 0;
  for (std::size_t at = document.find("`tests/"); at != std::string::npos;
       at = document.find("`tests/", at + 1)) {
    const std::string name = document.substr(at + 1, document.find('`', at + 1) - at - 1);
    const std::size_t colon = name.find(": ");
    BOOST_REQUIRE(colon != std::string::npos);
    const std::string source = read_file(kRoot / name.substr(0, colon), 1 << 20);
    const std::string test = "TEST_CASE(" + name.substr(colon + 2);
    ++tests;
    BOOST_TEST((source.find(test + ")") != std::string::npos ||
                source.find(test + ",") != std::string::npos),
               name);
  }
  BOOST_TEST(tests >= 25);
}

// The page's policy is one to copy: it loads without a warning, and holds what the page says.
BOOST_AUTO_TEST_CASE(the_policy_for_untrusted_branches_is_complete) {
  const std::string page = read_file(kRoot / "docs/untrusted-branches.md");
  const std::size_t begin = page.find("```yaml\n");
  BOOST_REQUIRE(begin != std::string::npos);
  const std::size_t at = begin + std::string("```yaml\n").size();
  const Policy policy = parse_policy(page.substr(at, page.find("```", at) - at), "page.yaml", ".");

  for (const PolicyWarning& warning : policy_warnings(policy))
    BOOST_ERROR(warning_text(policy, warning));
  BOOST_TEST((policy.approval == Approval::deny_by_default));
  BOOST_TEST((policy.sandbox == SandboxMode::workspace_write));
  BOOST_TEST((policy.network == NetworkMode::none));
  BOOST_TEST((policy.on_leak == OnLeak::fail));
  BOOST_TEST(policy.verify_by_rules);
  BOOST_TEST(!policy.prices_of_task);
  BOOST_TEST(!policy.own_tree);
  BOOST_TEST(policy.input_untrusted);
  BOOST_TEST(policy.places.count("bounds.budget.cost") == 1u);
  BOOST_TEST((policy.vars_env == std::vector<std::string>{"PR_TITLE"}));
  for (const auto* list :
       {&policy.mcp, &policy.mcp_env, &policy.model_hosts, &policy.workspaces, &policy.carry_over})
    BOOST_TEST(list->empty());

  const CommandCheck check(policy, policy.approval, kRoot);
  const struct {
    std::vector<std::string> argv;
    bool allowed;
  } rows[] = {
      {{"make", "test"}, true},
      {{"make", "lint"}, true},
      {{"make", "lint", "evil"}, false},
      {{"make", "test", "evil"}, false},
      {{"make", "test", "lint"}, false},
      {{"make", "test", "tes"}, false},
      {{"make", "test", "tests"}, false},
      {{"make", "lint", "lin/"}, false},
      {{"make", "test", "-j9"}, false},
      {{"make", "test", "CC=x"}, false},
      {{"make", "-C", "x", "test"}, false},
      {{"make", "evil"}, false},
      {{"make"}, false},
  };
  for (const auto& row : rows)
    BOOST_TEST((check.decide(row.argv).effect == Effect::allow) == row.allowed, row.argv.back());
}

BOOST_AUTO_TEST_CASE(the_policys_page_has_every_key_in_a_table_with_its_default) {
  const std::string page = read_file(kRoot / "docs/policy.md");
  std::set<std::string> keys;
  test::collect_keys(policy_schema(), "", keys);
  BOOST_TEST(keys.size() > 60u);
  for (std::string key : keys) {
    while (key.ends_with("[]") || key.ends_with(".*")) key.resize(key.size() - 2);
    const std::string last = key.substr(key.rfind('.') + 1);
    // `budget.cost`, `but_not: {args: […]}`
    const std::regex in_code("`[^`\\n]*\\b" + last + "\\b[^`\\n]*`");
    BOOST_TEST(std::regex_search(page, in_code), key);
  }
  int compared = 0;
  check_defaults(policy_schema(), "", page, compared);
  BOOST_TEST(compared > 20);
}

BOOST_AUTO_TEST_CASE(links_between_documents_lead_somewhere) {
  int links = 0;
  for (const auto& document : documents()) {
    for (const Link& link : links_of(read_file(kRoot / document))) {
      ++links;
      const fs::path file =
          kRoot / (link.file.empty() ? document : document.parent_path() / link.file);
      BOOST_TEST(fs::exists(file), document << ": " << link.file);
      if (link.heading.empty() || file.extension() != ".md") continue;
      BOOST_TEST(headings_of(read_file(file)).count(link.heading) == 1u,
                 document << ": " << link.file << "#" << link.heading);
    }
  }
  BOOST_TEST(links > 5);
}

BOOST_AUTO_TEST_CASE(prose_has_at_most_120_columns) {
  for (const auto& document : documents()) {
    std::istringstream lines(read_file(kRoot / document));
    int number = 0;
    bool example = false;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.starts_with("```")) example = !example;
      // Rows of tables and lines of examples can't be broken.
      if (example || line.starts_with("|")) continue;
      const auto columns =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      BOOST_TEST(columns <= 120, document << ":" << number << " has " << columns << " columns");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
