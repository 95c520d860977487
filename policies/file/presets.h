#pragma once

#include <span>
#include <string>
#include <vector>

namespace sortie {

/// A built-in policy.
struct Preset {
  const char* name;
  const char* text;  ///< YAML with its comments
};

std::span<const Preset> presets() noexcept;

/// The names of all presets, in a stable order.
std::vector<std::string> preset_names();
/// A preset's own text, with its comments.
std::string preset_text(const std::string& name);

/// The preset of that name, or null.
const Preset* find_preset(const std::string& name) noexcept;

/// "unknown preset 'x'"
std::string preset_problem(const std::string& name);

/// Whether a policy's name is that of a file: it has a '/' or ends in .yaml or .yml.
bool names_a_file(const std::string& policy) noexcept;

}  // namespace sortie
