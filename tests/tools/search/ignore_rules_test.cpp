#include "tools/search/ignore_rules.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/files/files.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(ignore_rules)

namespace {

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// As a walk asks: what is in a folder that is ignored is never asked about.
bool is_ignored(const IgnoreFile& file, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (file.verdict(folder, name_of(folder), true) == IgnoreVerdict::ignored) return true;
  }
  return file.verdict(path, name_of(path), false) == IgnoreVerdict::ignored;
}

}  // namespace

BOOST_AUTO_TEST_CASE(files_are_ignored_as_git_ignores_them) {
  const char* const rules[] = {
      "a.o",
      "*.o",
      "/a.o",
      "sub/a.o",
      "sub/",
      "/sub/",
      "build",
      "build/",
      "**/a.o",
      "sub/**",
      "sub/**/a.o",
      "**/deep",
      "**/deep/",
      "/**/a.o",
      "*",
      "*\n!a.o",
      "*\n!*/\n!*.c",
      "sub/*",
      "sub/*\n!sub/x.c",
      "*.[oc]",
      "*.[!o]",
      "?.c",
      "[ab].o",
      "\\#a",
      "#a",
      "\\!b",
      "!b",
      "a.o ",
      "a.o\\ ",
      "a.o\r",
      "  a.o",
      "a*o",
      "s*b",
      "s*b/a.o",
      "s*/a.o",
      "a**o",
      "sub**a.o",
      "**",
      "**/",
      "/",
      "",
      "[",
      "a[",
      "[]a].o",
      "*a.o*",
      "deep/a.o",
      "sub/deep",
      "sub/deep/",
      "*/a.o",
      "*/*/a.o",
      "\\*.o",
      "a\\.o",
      "b/..",
      "./a.o",
      "sub//a.o",
      "/*\n!/sub\n/sub/*\n!/sub/deep",
      "*.c\n!sub/deep/*.c",
      "A.O",
      "sub/deep/**",
      "!a.o\na.o",
      "\xEF\xBB\xBF"
      "a.o",
      "x.?",
      "sub/?.c",
      "/sub/[d]eep",
      "sub\\/a.o",
      "foo*",
      "*/foo",
      "a.o/",
      "x.c/",
  };
  const std::string paths[] = {
      "a.o",
      "b.o",
      "x.c",
      "#a",
      "!b",
      "a.o ",
      "ao",
      "axo",
      "[",
      "a[",
      "]",
      "A.O",
      "foo",
      "foobar",
      "sub/a.o",
      "sub/x.c",
      "sub/y.c",
      "sub/foo",
      "sub/deep/a.o",
      "sub/deep/x.c",
      "sub/deep/build/a.o",
      "build/a.o",
      "deep/a.o",
      "deep/x.c",
      "build/deep/z.c",
      "  a.o",
  };
  TemporaryFolder folder;
  make_repository(folder.path());
  for (const auto& path : paths) {
    std::filesystem::create_directories((folder / path).parent_path());
    write_file(folder / path, "x\n");
  }
  for (const char* const rule : rules) {
    BOOST_TEST_CONTEXT("rules: " << rule) {
      write_file(folder / ".git/info/exclude", std::string(rule) + "\n");
      const IgnoreFile file(std::string(rule) + "\n");
      std::string ours;
      for (const auto& path : paths)
        if (!is_ignored(file, path)) ours += path + "\n";
      std::string theirs;
      const std::string listed =
          "\n" + git(folder.path(),
                     {"-c", "core.quotePath=false", "ls-files", "--others", "--exclude-standard"});
      for (const auto& path : paths)
        if (listed.find("\n" + path + "\n") != std::string::npos ||
            listed.find("\n\"" + path + "\"\n") != std::string::npos)
          theirs += path + "\n";
      BOOST_TEST(ours == theirs);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_deeper_folder_wins_and_the_kinds_have_an_order) {
  using Kind = IgnoreRules::Kind;
  IgnoreRules rules;
  rules.add(Kind::exclude, "", "*.log\n");
  rules.add(Kind::gitignore, "", "*.tmp\n!keep.log\n/top\n");
  rules.add(Kind::gitignore, "sub", "!*.tmp\n/inner\n");
  const auto judge = [&](const std::string& path) {
    return rules.verdict(path, name_of(path), false);
  };

  BOOST_TEST((judge("sub/a.log") == IgnoreVerdict::ignored));
  BOOST_TEST((judge("sub/keep.log") == IgnoreVerdict::kept));
  BOOST_TEST((judge("sub/a.tmp") == IgnoreVerdict::kept));
  BOOST_TEST((judge("sub/inner") == IgnoreVerdict::ignored));
  BOOST_TEST((judge("sub/x/inner") == IgnoreVerdict::nothing));
  BOOST_TEST((judge("sub/top") == IgnoreVerdict::nothing));
  rules.leave("sub");
  BOOST_TEST((judge("a.tmp") == IgnoreVerdict::ignored));
  BOOST_TEST((judge("top") == IgnoreVerdict::ignored));
  rules.add(Kind::ignore, "", "!a.tmp\n");
  BOOST_TEST((judge("a.tmp") == IgnoreVerdict::kept));
}

BOOST_AUTO_TEST_CASE(rules_of_folders_above_count_from_there) {
  IgnoreRules rules;
  rules.add_outer(IgnoreRules::Kind::gitignore, "services/web",
                  "/services/web/out\n/out2\n*.gen\n");

  BOOST_TEST((rules.verdict("out", "out", true) == IgnoreVerdict::ignored));
  BOOST_TEST((rules.verdict("out2", "out2", true) == IgnoreVerdict::nothing));
  BOOST_TEST((rules.verdict("a/b.gen", "b.gen", false) == IgnoreVerdict::ignored));
}

BOOST_AUTO_TEST_SUITE_END()
