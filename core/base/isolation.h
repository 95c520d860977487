#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// How a run's tree is kept apart from the user's own.
enum class Isolation { automatic, overlay, copy, none };

/// One way: its word in tasks, flags, help and results.
struct IsolationChoice {
  Isolation isolation;
  const char* name;
  bool supported;  ///< else it is known, and refused as not supported yet
};

inline constexpr IsolationChoice kIsolations[] = {
    {Isolation::automatic, "auto", true},
    {Isolation::overlay, "overlay", true},
    {Isolation::copy, "copy", true},
    {Isolation::none, "none", false},
};

/// "overlay", "copy", …
constexpr const char* name_of(Isolation isolation) noexcept {
  for (const IsolationChoice& choice : kIsolations)
    if (choice.isolation == isolation) return choice.name;
  return "auto";
}

/// The way of that name, whether supported or not; nothing for another word.
constexpr std::optional<Isolation> isolation_named(std::string_view name) noexcept {
  for (const IsolationChoice& choice : kIsolations)
    if (choice.name == name) return choice.isolation;
  return std::nullopt;
}

/// The words that are supported, or those that are not yet, in the table's order.
inline std::vector<std::string> isolation_names(bool supported = true) {
  std::vector<std::string> names;
  for (const IsolationChoice& choice : kIsolations)
    if (choice.supported == supported) names.emplace_back(choice.name);
  return names;
}

}  // namespace sortie
