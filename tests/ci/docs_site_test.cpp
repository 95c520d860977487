// ci/docs: the documents as a static site. Where there is no mkdocs its test is skipped, and counted.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

const fs::path kSource = SORTIE_SOURCE_DIR;

boost::test_tools::assertion_result mkdocs_is_installed(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(::access("/usr/bin/mkdocs", X_OK) == 0);
  if (!result) result.message() << "no mkdocs (ci/setup tests installs it)";
  return result;
}

ProgramEnd check_site(const fs::path& site) {
  return run_program(
      {.argv = {"python3", (kSource / "docs/site/check.py").string(), site.string()}});
}

/// A copy of what the site is made of, which a test may break.
struct Documents {
  Documents() {
    for (const char* name :
         {"docs", "samples", "policies/shell/GRAMMAR.md", "policies/file/presets", "README.md",
          "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "ci/docs", "core", "tests/data/checks",
          "tests/support/npm", "tests/end_to_end/own_tree_test.cpp"}) {
      fs::create_directories((folder / name).parent_path());
      fs::copy(kSource / name, folder / name, fs::copy_options::recursive);
    }
  }
  ProgramEnd build() const {
    return run_program({.argv = {"bash", (folder / "ci/docs").string(), (folder / "site").string()},
                        .environment = {{"PATH", "/usr/bin:/bin"}}});
  }
  TemporaryFolder folder;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(docs_site)

BOOST_AUTO_TEST_CASE(the_site_is_built_with_every_page_and_a_search_index,
                     *boost::unit_test::precondition(mkdocs_is_installed)) {
  const TemporaryFolder folder;
  const fs::path site = folder / "site";

  const ProgramEnd end =
      run_program({.argv = {"bash", (kSource / "ci/docs").string(), site.string()},
                   .environment = {{"PATH", "/usr/bin:/bin"}}});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.printed());
  const std::string index = read_file(site / "search/search_index.json", 64 << 20);
  int pages = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "docs")) {
    if (entry.path().extension() != ".md") continue;
    const fs::path page = fs::relative(entry.path(), kSource).replace_extension(".html");
    BOOST_TEST(fs::exists(site / page), page);
    BOOST_TEST(index.find("\"location\":\"" + page.string() + "\"") != std::string::npos, page);
    ++pages;
  }
  BOOST_TEST(pages >= 30);
  const std::string start = read_file(site / "index.html");
  BOOST_TEST(start.find("Content-Security-Policy\" content=\"default-src 'none'") !=
             std::string::npos);
  BOOST_TEST(fs::exists(site / "search/lunr.js"));
}

BOOST_AUTO_TEST_CASE(a_link_that_leads_nowhere_and_a_page_outside_of_the_navigation_are_errors,
                     *boost::unit_test::precondition(mkdocs_is_installed)) {
  const Documents documents;
  const std::string words = read_file(documents.folder / "docs/words.md");
  const struct {
    const char* file;
    std::string content;
    const char* said;
  } rows[] = {
      {"docs/words.md", words + "\nSee [there](nowhere.md).\n", "nowhere.md"},
      {"docs/words.md", words + "\nSee [there](task.md#no-such-heading).\n", "#no-such-heading"},
      {"docs/words.md", words + "\n![there](https://example.com/a.png)\n", "loads https"},
      {"docs/lost.md", "# A page\n", "docs/lost.md"},
  };
  for (const auto& row : rows) {
    write_file(documents.folder / row.file, row.content);
    const ProgramEnd end = documents.build();
    BOOST_TEST(end.status == 1, row.said);
    BOOST_TEST(end.printed().find(row.said) != std::string::npos, end.printed());
    write_file(documents.folder / "docs/words.md", words);
  }
}

BOOST_AUTO_TEST_CASE(the_check_of_a_site_finds_what_is_broken_or_comes_from_elsewhere) {
  const struct {
    const char* name;
    const char* page;
    const char* fault;
  } rows[] = {
      {"whole", R"(<h1 id="a">A</h1><a href="#a">a</a><a href="https://example.com/">b</a>)", ""},
      {"page", R"(<a href="b.html">b</a>)", "a.html: no such page: b.html\n"},
      {"heading", R"(<a href="#b">b</a>)", "a.html: no such heading: #b\n"},
      {"outside", R"(<a href="../b.html">b</a>)", "a.html: no such page: ../b.html\n"},
      {"script", R"(<script src="https://example.com/a.js"></script>)",
       "a.html: loads https://example.com/a.js\n"},
      {"font", R"(<link rel="stylesheet" href="//example.com/a.css">)",
       "a.html: loads //example.com/a.css\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryFolder folder;
      fs::create_directories(folder / "site");
      write_file(folder / "b.html", "");
      write_file(folder / "site/a.html", row.page);
      const ProgramEnd end = check_site(folder / "site");
      BOOST_TEST(end.status == (*row.fault == '\0' ? 0 : 1), end.printed());
      BOOST_TEST(end.output == row.fault);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
