#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace sortie {

/// A value of an enumeration, and its name in files, flags and events.
template <typename Enum>
struct Spelled {
  Enum value;
  const char* name;
};

/// All names of an enumeration, in the order in which people see them. Specialised beside the
/// enumeration, as an array with one row a value: the only place with the spelling.
template <typename Enum>
inline constexpr std::nullptr_t kSpelling = nullptr;

template <typename Enum>
concept SpelledEnum = std::is_enum_v<Enum> && requires {
  kSpelling<Enum>.size();
};

template <SpelledEnum Enum>
constexpr const char* name_of(Enum value) noexcept {
  for (const auto& row : kSpelling<Enum>)
    if (row.value == value) return row.name;
  return "";
}

/// The value of that name, or nothing.
template <SpelledEnum Enum>
constexpr std::optional<Enum> value_named(std::string_view name) noexcept {
  for (const auto& row : kSpelling<Enum>)
    if (name == row.name) return row.value;
  return std::nullopt;
}

}  // namespace sortie
