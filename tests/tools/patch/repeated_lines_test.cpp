#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/error.h"
#include "tests/fakes/memory_files.h"
#include "tools/patch/applier.h"

using namespace sortie;
using namespace sortie::patch;

// Where a search is more than linear these take minutes, which is as good as for ever.
BOOST_AUTO_TEST_SUITE(patch_repeated_lines)

namespace {

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string update(const std::string& chunk) {
  return "*** Begin Patch\n*** Update File: a\n@@\n" + chunk + "*** End Patch\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_long_chunk_that_almost_stands_everywhere_is_refused) {
  MemoryFiles files;
  files.content["a"] = {repeated("x\n", 300'000)};
  BOOST_CHECK_EXCEPTION(apply_patch(update(repeated(" x\n", 150'000) + "-y\n"), files, {}),
                        ToolError, [](const ToolError& error) {
                          return std::string(error.what()).find("The closest match is a, lines") !=
                                 std::string::npos;
                        });
}

BOOST_AUTO_TEST_CASE(a_long_chunk_is_found_at_its_first_place_however_its_lines_repeat) {
  MemoryFiles files;
  const std::string part = repeated("x\n", 1000) + "y\n";
  files.content["a"] = {repeated("x\n", 5000) + repeated(part, 3) + "z\n"};

  apply_patch(update(repeated(" x\n", 1000) + "-y\n" + repeated(" x\n", 1000) + " y\n-x\n"), files,
              {});

  BOOST_TEST((files.content.at("a").content ==
              repeated("x\n", 6000) + part + repeated("x\n", 999) + "y\nz\n"));
}

BOOST_AUTO_TEST_SUITE_END()
