#include "tools/patch/parser.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"

using namespace sortie;
using namespace sortie::patch;

BOOST_AUTO_TEST_SUITE(patch_parser)

BOOST_AUTO_TEST_CASE(a_patch_becomes_its_hunks_with_their_lines) {
  const auto hunks = parse_patch(
      "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@ anchor\n one\n"
      "-two\n+2\n*** End of File\n*** Delete File: d\n*** End Patch");

  const Chunk chunk{.anchor = "anchor",
                    .lines = {{ChunkLine::Kind::context, "one"},
                              {ChunkLine::Kind::removed, "two"},
                              {ChunkLine::Kind::added, "2"}},
                    .end_of_file = true,
                    .line = 6};
  const std::vector<Hunk> expected = {
      {.kind = Hunk::Kind::add, .path = "a", .content = "x\n", .line = 2},
      {.kind = Hunk::Kind::update, .path = "b", .move_to = "c", .chunks = {chunk}, .line = 4},
      {.kind = Hunk::Kind::remove, .path = "d", .line = 11}};
  BOOST_TEST((hunks == expected));
}

BOOST_AUTO_TEST_CASE(a_file_of_nothing_but_blanks_is_no_patch) {
  for (const char* text : {"", "\n", "\xC2\xA0\n", "<<EOF\n\n\nEOF"})
    BOOST_CHECK_THROW(parse_patch(text), ToolError);
}

BOOST_AUTO_TEST_SUITE_END()
