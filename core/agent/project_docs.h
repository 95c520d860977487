#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files/files.h"

namespace sortie {

/// A document of the repository for agents: context, never configuration.
struct ProjectDoc {
  std::string path;  ///< relative to the repository's root
  std::string text;  ///< valid UTF-8
  bool operator==(const ProjectDoc&) const = default;
};

struct ProjectDocs {
  std::vector<ProjectDoc> docs;      ///< outermost first
  std::vector<std::string> notes{};  ///< for the operator: what was cut or can't be read
};

/// Reads the documents of these names in every folder from the repository's root down to the
/// workspace.
/// @param repository  rooted at the repository's root; where there is no repository, at the
///                    workspace
/// @param workspace   relative to that root; "." where they are the same
/// @param hidden      whether a path, links resolved, must not be read: `paths.hide`
/// @param max_bytes   of all texts together; the one that crosses it is cut, the rest left out
ProjectDocs read_project_docs(const Files& repository, const std::filesystem::path& workspace,
                              const std::vector<std::string>& names, std::uint64_t max_bytes,
                              const std::function<bool(const std::filesystem::path&)>& hidden = {});

}  // namespace sortie
