#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// Tells at once, for most paths, that none of a list of path globs matches: by the first byte and the
/// last ones of their names, or by a text in them. To match all names of a tree of 80,000 files against
/// the globs of paths.hide took most of a start there.
class NameFilter {
 public:
  /// @param globs  as for Pattern::path_globs(); letters are compared in any case
  explicit NameFilter(const std::vector<std::string>& globs);

  /// False if no glob matches the path, or a folder on the way to it.
  bool may_match(std::string_view path) const;
  /// The same for one name of a path: it is false for each of a path that does not match.
  bool name_may_match(std::string_view name) const;

 private:
  /// A bit for each glob; of more than 64, some share one.
  using Globs = std::uint64_t;
  static constexpr std::size_t kTail = 4;
  static constexpr std::size_t kNoByte = 256;  ///< before a name's first byte

  /// What is in each name that a glob matches of which neither begin nor end are given.
  struct Inner {
    Globs glob;
    std::string text;
  };

  void add(std::string_view glob, Globs bit);

  std::array<Globs, 256> first_{};
  std::array<std::array<Globs, 257>, kTail> tail_{};  ///< by the distance from the end
  std::vector<Inner> inner_{};
};

}  // namespace sortie
