#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

#include "ci/report/page/html.h"

namespace sortie {

/// One part of the page, made by that function of an Html.
template <class Write>
std::string part_of_page(Write write) {
  std::ostringstream out;
  Html part(out);
  write(part);
  return std::move(out).str();
}

/// The bytes that a section may have: a part that is too large is left out, and the section says so.
class PageRoom {
 public:
  explicit PageRoom(std::size_t bytes) : left_(bytes) {}

  /// Writes the part, if it fits. @return  whether it did
  template <class Write>
  bool write(Html& html, Write write_part) {
    const std::string part = part_of_page(write_part);
    if (!take(part.size())) return false;
    html.own(part);
    return true;
  }
  bool take(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  std::size_t left() const noexcept { return left_; }

 private:
  std::size_t left_;
};

}  // namespace sortie
