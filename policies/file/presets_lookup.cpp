#include <algorithm>

#include "core/base/error.h"
#include "core/text/text.h"
#include "policies/file/presets.h"

namespace sortie {

const Preset* find_preset(const std::string& name) noexcept {
  const auto all = presets();
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const Preset& preset) { return preset.name == name; });
  return it == all.end() ? nullptr : &*it;
}

std::string preset_problem(const std::string& name) {
  return "unknown preset '" + one_line(name, 60) + "'";
}

bool names_a_file(const std::string& policy) noexcept {
  return policy.find('/') != std::string::npos || policy.ends_with(".yaml") ||
         policy.ends_with(".yml");
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : presets()) names.emplace_back(preset.name);
  return names;
}

std::string preset_text(const std::string& name) {
  if (const Preset* preset = find_preset(name)) return preset->text;
  const std::string nearest = nearest_name(name, preset_names());
  throw InputError(preset_problem(name) +
                   (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

}  // namespace sortie
