#include "tools/offered_tools.h"

#include <utility>

#include "core/base/error.h"
#include "core/text/text.h"
#include "policies/engine/explain.h"

namespace sortie {

OfferedTool::OfferedTool(std::unique_ptr<Tool> given)
    : tool(std::move(given)), foreign(!tool->origin().is_null()) {
  try {
    schema.emplace(tool->spec().parameters);
  } catch (const InputError&) {
    if (!foreign) throw;
  }
}

OfferedTools::OfferedTools(std::vector<std::unique_ptr<Tool>> own, const Engine& engine,
                           OfferOptions options)
    : own_(own.size()), engine_(engine), options_(std::move(options)) {
  for (auto& tool : own) tools_.push_back(std::make_unique<OfferedTool>(std::move(tool)));
  load_source();
}

/// Replaces the tools that came from the source before.
void OfferedTools::load_source() {
  tools_.resize(own_);
  if (options_.source == nullptr) return;
  for (auto& tool : options_.source->tools()) {
    const std::string& name = tool->spec().name;
    if (find(name) != nullptr || (options_.keeps && !options_.keeps(name))) continue;
    tools_.push_back(std::make_unique<OfferedTool>(std::move(tool)));
  }
}

bool OfferedTools::renew(std::stop_token stop) {
  if (options_.source == nullptr || !options_.source->renew(std::move(stop))) return false;
  load_source();
  return true;
}

std::vector<ToolSpec> OfferedTools::specs() const {
  std::vector<ToolSpec> specs;
  for (const auto& one : tools_)
    if (engine_.shows_tool(one->tool->identity())) specs.push_back(one->tool->spec());
  return specs;
}

std::vector<std::string> OfferedTools::names() const {
  std::vector<std::string> names;
  for (const auto& one : tools_) names.push_back(one->tool->spec().name);
  return names;
}

const OfferedTool* OfferedTools::find(const std::string& name) const {
  for (const auto& one : tools_)
    if (one->tool->spec().name == name) return one.get();
  return nullptr;
}

std::string OfferedTools::why_unknown(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& spec : specs()) names.push_back(spec.name);
  std::string text = "Unknown tool \"" + one_line(name, 80) + "\"";
  if (const auto why = options_.absent.find(name); why != options_.absent.end()) {
    text += " in this run: " + why->second + ".";
  } else {
    text += ".";
    const std::string nearest = nearest_name(name, names);
    if (!nearest.empty()) return text + " Did you mean \"" + nearest + "\"?";
  }
  text += " Available tools:";
  for (const auto& known : names) text += " " + known;
  return text;
}

}  // namespace sortie
