#include "core/text/ci_commands.h"

#include <boost/test/unit_test.hpp>

#include "core/json/json.h"

using namespace sortie;

namespace {

constexpr CiSystems kGithub{.github = true};
constexpr CiSystems kGitlab{.gitlab = true};
constexpr CiSystems kAzure{.azure = true};
constexpr CiSystems kTeamcity{.teamcity = true};

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_commands)

BOOST_AUTO_TEST_CASE(a_command_is_made_harmless_where_its_system_reads_it) {
  const struct {
    const char* name;
    CiSystems systems;
    std::string text;
    std::string shown;
  } rows[] = {
      {"no CI", {}, "::error::x\n##vso[a]b\n", "::error::x\n##vso[a]b\n"},
      {"at the start", kGithub, "::error::x", ": :error::x"},
      {"behind a line break", kGithub, "a\n::add-path::/x\n", "a\n: :add-path::/x\n"},
      {"behind a CR", kGithub, "50%\r::add-path::/x\n", "50%\r: :add-path::/x\n"},
      {"indented", kGithub, "a\n \t ::x::\n", "a\n \t : :x::\n"},
      {"behind a no-break space", kGithub, "\xc2\xa0::x::", "\xc2\xa0: :x::"},
      {"with a soft hyphen inside", kGithub, ":\xc2\xad:x::", ":\xc2\xad :x::"},
      {"in the midst of a line", kGithub, "std::string a; x ::b", "std::string a; x ::b"},
      {"three colons", kGithub, ":::x", ": ::x"},
      {"one colon", kGithub, ": ::x", ": ::x"},
      {"the older sign", kGithub, "say ##[set-env name=A]b", "say ## [set-env name=A]b"},
      {"three signs", kGithub, "###[error]b", "### [error]b"},
      {"a heading", kGithub, "## [link](x)\n### b", "## [link](x)\n### b"},
      {"not GitHub's", kGithub, "##vso[a]b ##teamcity[c]", "##vso[a]b ##teamcity[c]"},
      {"Azure's", kAzure, "a ##vso[task.setvariable variable=A]b",
       "a ##vso [task.setvariable variable=A]b"},
      {"Azure's in capitals", kAzure, "##VSO[x]", "##VSO [x]"},
      {"Azure's formats", kAzure, "##[section]x", "## [section]x"},
      {"with an escape inside", kAzure, "#\x01#vs\xe2\x80\x8bo[x]", "#\x01#vs\xe2\x80\x8bo [x]"},
      {"not Azure's", kAzure, "::x::", "::x::"},
      {"TeamCity's", kTeamcity, "x ##teamcity[buildStatus]", "x ##teamcity [buildStatus]"},
      {"GitLab's", kGitlab, "\x1b[0Ksection_start:1:a\r\x1b[0Kb",
       "\x1b[0Ksection_start :1:a\r\x1b[0Kb"},
      {"GitLab's end", kGitlab, "x section_end:1:a\r", "x section_end :1:a\r"},
      {"over two lines", kAzure, "##vso\n[x]", "##vso\n[x]"},
      {"all at once",
       {true, true, true, true},
       "::a\n##vso[b]##teamcity[c]section_end:",
       ": :a\n##vso [b]##teamcity [c]section_end :"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(without_ci_commands(row.text, row.systems) == row.shown);
      CiCommandFilter filter(row.systems);
      std::string shown;
      for (const char c : row.text) shown += filter.feed(std::string(1, c));
      BOOST_TEST(shown == row.shown);
      // Once more changes nothing.
      BOOST_TEST(without_ci_commands(row.shown, row.systems) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_json_text_keeps_its_value) {
  const CiSystems all{true, true, true, true};
  const std::string text =
      R"({"a": "##vso[x]", "##[b": ["section_start:1", 2], "c": ["##teamcity[", "::d"]})";

  const std::string shown = CiCommandFilter::json(text, all);

  BOOST_TEST((parse_json(shown) == parse_json(text)));
  BOOST_TEST(without_ci_commands(shown, all) == shown);
}

BOOST_AUTO_TEST_SUITE_END()
