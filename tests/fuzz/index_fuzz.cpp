// The input is a file of git's index, its checksum replaced by zeros, which stand for none. Whatever
// it says: entries are in order, each is found by its path, and no byte beyond the file is read.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/git/index_file.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= 20) bytes.replace(size - 20, 20, 20, '\0');
  const auto index = sortie::IndexFile::parse(bytes);
  if (!index) return 0;
  for (std::size_t i = 0; i < index->size(); ++i) {
    const sortie::IndexEntry entry = index->entry(i);
    check(entry.path == index->path(i) && entry.stage < 4);
    check(i == 0 || index->path(i - 1) <= entry.path);
    check(index->lower_bound(entry.path) <= i);
    if (entry.stage == 0) check(index->find(entry.path).has_value());
  }
  check(index->lower_bound("") == 0);
  return 0;
}
