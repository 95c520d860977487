#include "app/show/ci_log.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(ci_log)

BOOST_AUTO_TEST_CASE(each_system_has_its_own_groups_and_others_have_none) {
  const CiLog github({.github = true});
  BOOST_TEST(github.begin_group(2, "turn 2", 10) == "::group::turn 2\n");
  BOOST_TEST(github.end_group(2, 10) == "::endgroup::\n");
  const CiLog gitlab({.gitlab = true});
  BOOST_TEST(gitlab.begin_group(2, "turn 2", 10) == "section_start:10:sortie_2\r\x1b[0Kturn 2\n");
  BOOST_TEST(gitlab.end_group(2, 11) == "section_end:11:sortie_2\r\x1b[0K\n");
  const CiLog azure({.azure = true});
  BOOST_TEST(azure.begin_group(2, "turn 2", 10) == "##[group]turn 2\n");
  const CiLog none{CiSystems{}};
  BOOST_TEST(!none.has_groups());
  BOOST_TEST(none.begin_group(1, "x", 1) + none.end_group(1, 1) + none.error("x", "y") == "");
}

BOOST_AUTO_TEST_CASE(texts_of_others_end_no_command_and_begin_none) {
  const CiLog github({.github = true});
  BOOST_TEST(github.error("a: b, c", "100 %\n::set-env name=A::b\r\x1b[31m ##[x]") ==
             "::error title=a%3A b%2C c::100 %25 ::set-env name=A::b  [31m ## [x]\n");
  BOOST_TEST(github.begin_group(1, "x\n::add-path::/evil", 1) == "::group::x ::add-path::/evil\n");
  const CiLog gitlab({.gitlab = true});
  BOOST_TEST(gitlab.begin_group(1, "section_end:1:a\r", 1) ==
             "section_start:1:sortie_1\r\x1b[0Ksection_end :1:a \n");
  const CiLog azure({.azure = true});
  BOOST_TEST(azure.warning("t", "##vso[task.setvariable]x") ==
             "##vso[task.logissue type=warning]t: ##vso [task.setvariable]x\n");
}

BOOST_AUTO_TEST_CASE(a_note_has_its_place_and_no_name_of_a_file_ends_it) {
  const CiPlace place{.file = "a:b,c;d]\n::x::.yaml", .line = 3, .column = 4};
  BOOST_TEST(CiLog({.github = true}).error("t", "x", place) ==
             "::error file=a%3Ab%2Cc;d] %3A%3Ax%3A%3A.yaml,line=3,col=4,title=t::x\n");
  BOOST_TEST(CiLog({.github = true}).warning("t", "x", {.file = "f", .line = 3}) ==
             "::warning file=f,line=3,title=t::x\n");
  BOOST_TEST(CiLog({.azure = true}).error("t", "100%;", place) ==
             "##vso[task.logissue type=error;sourcepath=a:b,c%3Bd%5D "
             "::x::.yaml;linenumber=3;columnnumber=4]t: 100%AZP25;\n");
}

BOOST_AUTO_TEST_SUITE_END()
