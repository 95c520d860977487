#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/search/tree_walk.h"

namespace sortie {

/// What search_files searches of a file: its whole text, decoded, without CR at line ends.
struct SearchedText {
  enum class Kind {
    nothing,  ///< removed meanwhile, or no regular file
    text,
    binary,
    unread,
  };
  class Reader;

  Kind kind = Kind::nothing;
  std::string_view text{};  ///< until the reader's next file
  const char* why{};        ///< of `unread`: "no permission"
};

/// Reads file after file into one buffer; for one thread.
class SearchedText::Reader {
 public:
  /// @param largest  bytes; a larger file is not read
  explicit Reader(std::uint64_t largest) : largest_(largest) {}
  SearchedText read(const WalkedFile& file);

 private:
  SearchedText read_from(int file, std::size_t size);
  static SearchedText unread(const char* why) { return {Kind::unread, {}, why}; }

  std::uint64_t largest_;
  std::vector<char> buffer_;
  std::string decoded_;  ///< text of a UTF-16 file
};

}  // namespace sortie
