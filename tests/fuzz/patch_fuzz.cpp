// The input is a patch for a small tree. Whatever it says: applied or refused with a ToolError,
// and when it is refused the tree is as it was.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/error.h"
#include "tests/fakes/memory_files.h"
#include "tools/patch/applier.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sortie::MemoryFiles files;
  files.content["a.txt"] = {"one\ntwo\nthree\n"};
  files.content["d/b.txt"] = {"x\r\ny\r\n\r\nz"};
  files.content["c"] = {"“a” – b\n\n  c \n"};
  files.links["link"] = "d/b.txt";
  const sortie::MemoryFiles before = files;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    sortie::patch::apply_patch(text, files, {.root = "/w"});
  } catch (const sortie::ToolError&) {
    if (!files.same_tree(before)) std::abort();
  }
  return 0;
}
