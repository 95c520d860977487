#include "core/workspace/diff/products.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(build_products)

BOOST_AUTO_TEST_CASE(what_tools_make_has_a_line_and_what_people_make_has_none) {
  const struct {
    const char* path;
    const char* line;
  } rows[] = {
      {"src/__pycache__/a.cpython-311.pyc", "__pycache__/"},
      {"a.pyc", "*.pyc"},
      {"lib/b.o", "*.o"},
      {".pytest_cache/v/cache/nodeids", ".pytest_cache/"},
      {"web/node_modules/left-pad/index.js", "node_modules/"},
      {"target/debug/deps/x", "target/"},
      {"target/classes/A.class", "target/"},
      {"src/A.class", "*.class"},
      {"pkg.egg-info/PKG-INFO", "*.egg-info/"},
      {".coverage", ".coverage"},
      {"CMakeFiles/x.dir/flags.make", "CMakeFiles/"},
      // Names that people give to what they write.
      {"target/practice.txt", ""},
      {"build/Dockerfile", ""},
      {"dist/index.html", ""},
      {"src/a.c", ""},
      {".o", ""},
      {"node_modules", ""},
      {"coverage.md", ""},
  };
  for (const auto& row : rows) BOOST_TEST(ignore_line_for(row.path) == row.line, row.path);
}

BOOST_AUTO_TEST_SUITE_END()
