#include "core/workspace/apply/file_patches.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/error.h"
#include "core/workspace/apply/tree_path.h"
#include "core/workspace/diff/patch_text.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(file_patches)

BOOST_AUTO_TEST_CASE(paths_that_lead_elsewhere_or_into_a_repository_are_refused) {
  for (const char* path :
       {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", ".git/config", "a/.git/x",
        ".GIT/hooks/x", ".Git", "git~1/x", ".git./x", ".git /x", ".git::$INDEX_ALLOCATION/x",
        ".g\xe2\x80\x8cit/x", "a\\.git\\x", ".sortie-apply/journal"})
    BOOST_TEST(!path_problem(path).empty(), path);
  for (const char* path : {"a", "a/b", ".gitignore", ".github/x", "git", "a.git/x", "..a", "...",
                           "\xc3\xa4/\xff", "a b", "-x"})
    BOOST_TEST(path_problem(path).empty(), path);
}

BOOST_AUTO_TEST_CASE(only_what_sortie_writes_is_read_as_a_diff) {
  const PatchText patch = make_patch({{"a", {0100644, "1\n"}}}, {{"a", {0100644, "2\n"}}}, 3, true);
  const std::string good(patch.text.view());
  BOOST_TEST(read_patches(good).size() == 1u);
  BOOST_TEST(read_patches("").empty());
  const std::string id(40, '1');
  for (const std::string& text :
       {std::string("hello\n"), std::string("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"), good + good,
        "diff --git a/s b/s\nnew file mode 160000\nindex " + std::string(40, '0') + ".." + id +
            "\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject commit " + id + "\n",
        std::string("diff --git a/../x b/../x\nold mode 100644\nnew mode 100755\n"),
        std::string("diff --git a/x b/x\nold mode 100644\nnew mode 104755\n"),
        std::string("diff --git a/a b/.git/config\nsimilarity index 100%\nrename from a\n"
                    "rename to .git/config\n"),
        std::string("diff --git a/x b/x\nindex 1234..5678 100644\n--- a/x\n+++ b/x\n")})
    BOOST_CHECK_EXCEPTION(read_patches(text), Error,
                          [](const Error& error) { return error.code() == ExitCode::integrity; });
}

BOOST_AUTO_TEST_SUITE_END()
