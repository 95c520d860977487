#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// The items of one response, as their own events bring them and as its terminal event repeats them.
/// Gateways repeat an index, or have items in one of the two places alone: none is passed over.
class ResponseItems {
 public:
  /// @param index  `output_index`; an item with the index of another one comes behind the last
  /// @param item   taken if there is a place for it
  /// @return       false: there is none behind the largest index
  bool add(std::optional<std::int64_t> index, Json& item);
  /// Whether there are some, and a terminal event with this output has no others, by the ids.
  bool are_all_of(const Json& output) const;
  /// Takes the items in order, and those of the terminal event's output that are not among them: an
  /// item is known again by its ids, else by its content, since gateways may give new ids.
  std::vector<Json> take_with(std::vector<Json> output);
  const std::map<std::int64_t, Json>& items() const noexcept { return items_; }

 private:
  std::map<std::int64_t, Json> items_;  ///< by output_index
};

}  // namespace sortie
