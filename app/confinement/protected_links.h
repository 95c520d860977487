#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"

namespace sortie {

/// The targets of protected names through links, in one tree at one time: a name that is a link, or
/// is behind one, means its target.
struct LinkLeads {
  /// By name, each way with a link: the texts of its links and the content at its end. Has all plain
  /// names, and the matches of globs that have a way.
  std::map<std::string, std::set<std::string>> ways;
  /// The place where the search behind links gave up after 20,000 entries; "" if it was complete.
  std::string beyond{};
};

/// Follows the protected names of a policy's paths.protect through links.
class ProtectedLinks {
 public:
  /// @param places   the trees' paths for commands: absolute links to one of them are followed
  /// @param protect  relative; names, and globs
  ProtectedLinks(std::vector<std::filesystem::path> places,
                 const std::vector<std::string>& protect);

  /// Finds names in any letter case; for globs, each link that matches and each match behind a link to
  /// a folder.
  /// @param links  relative: links that may be in the tree
  LinkLeads look(const Files& tree, const std::set<std::filesystem::path>& links) const;

 private:
  std::vector<std::filesystem::path> places_;
  std::vector<std::filesystem::path> names_;
  std::vector<std::string> globs_;
};

/// Says where the search gave up, for people. @param leads  with `beyond`
std::string beyond_text(const LinkLeads& leads);

/// The names that do not lead to the same content by the same links, sorted. A name whose links lead
/// nowhere counts as missing.
std::vector<std::string> names_led_elsewhere(const LinkLeads& start, const LinkLeads& now);

}  // namespace sortie
