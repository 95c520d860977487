#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace sortie {

/// Whether the text is among the names of a list that std::begin() takes.
template <typename List>
bool is_one_of(std::string_view text, const List& names) {
  return std::find(std::begin(names), std::end(names), text) != std::end(names);
}
inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

}  // namespace sortie
