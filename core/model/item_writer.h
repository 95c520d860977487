#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/item.h"

namespace sortie {

/// Writes the items of one conversation into a request's body, as it grows. What it writes for an
/// item depends on it and the items before it, never on when it is asked; what it has to know of
/// those before, it keeps.
class ItemWriter {
 public:
  virtual ~ItemWriter() = default;
  /// Appends the items that were not there the last time, with what has to stand between them and
  /// the ones before. What closes the last of them may be left to the tail, or to the next call.
  /// @param items  those of the call before, and more
  virtual void write(const std::vector<Item>& items, std::string& to) = 0;
  /// What closes a body that ends with the items written so far.
  virtual std::string_view tail() const = 0;
};

}  // namespace sortie
