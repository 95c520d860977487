#pragma once

#include <string>
#include <string_view>

#include "core/workspace/diff/patch_header.h"

namespace sortie {

/// The part of a diff that is about one file.
class PatchPiece {
 public:
  /// Removes the first patch from the text.
  explicit PatchPiece(std::string_view& rest);

  /// @throws Error  with the invalid line
  PatchHeader header() const;
  /// What it makes of the file's content.
  /// @param before  "" for a file that it adds
  /// @return        "" for a file that it deletes
  /// @throws Error  it does not apply
  std::string apply(const std::string& before) const;
  /// Whether it makes this of the file's content.
  /// @throws Error  it does not apply
  bool gives(const std::string& before, const std::string& after) const;
  /// The line "diff --git …", for people.
  std::string title() const;

 private:
  std::string_view text_;
};

}  // namespace sortie
