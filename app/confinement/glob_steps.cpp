#include "app/confinement/glob_steps.h"

namespace sortie {

namespace fs = std::filesystem;

GlobSteps::GlobSteps(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs) {
    std::vector<Part> parts;
    for (const auto& part : fs::path(glob))
      if (!part.empty() && part != ".")
        parts.push_back({part == "**", Pattern::word_glob(part.native(), LetterCase::ignored)});
    globs_.push_back(std::move(parts));
  }
}

GlobSteps::Places GlobSteps::at_link(const fs::path& link) const {
  Places places;
  for (std::size_t i = 0; i < globs_.size(); ++i) add(i, 0, places);
  for (const auto& part : link.parent_path()) places = below(places, part.string());
  std::erase_if(places, [&](const auto& at) { return is_anywhere(at.first, at.second); });
  return below(places, link.filename().string());
}

GlobSteps::Places GlobSteps::below(const Places& places, const std::string& name) const {
  Places next;
  for (const auto& [glob, at] : places) {
    const auto& parts = globs_[glob];
    if (at == parts.size()) continue;
    if (parts[at].any_folders)
      add(glob, at, next);
    else if (parts[at].name.matches(name))
      add(glob, at + 1, next);
  }
  return next;
}

bool GlobSteps::is_anywhere(std::size_t glob, std::size_t at) const {
  return at == 0 && !globs_[glob].empty() && globs_[glob][0].any_folders;
}

void GlobSteps::add(std::size_t glob, std::size_t at, Places& places) const {
  places.insert({glob, at});
  // It may stand for no folder at all.
  if (at < globs_[glob].size() && globs_[glob][at].any_folders) add(glob, at + 1, places);
}

}  // namespace sortie
