#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/files.h"

namespace sortie {

/// Where protected names lead through links in one tree at one time: a name that is a link, or lies
/// behind one, is what it leads to.
struct LinkLeads {
  /// By name, each way that holds a link: its links' texts and the content at its end. All plain
  /// names are there; of what globs match, what has a way.
  std::map<std::string, std::set<std::string>> ways;
  bool complete = true;  ///< false: more lies behind links than is looked at; matches are missing
};

/// What protected names to look at: those of a policy's paths.protect.
class ProtectedLinks {
 public:
  /// @param places   where the trees are for commands: absolute links to one of them are followed
  /// @param protect  relative; names, and globs
  ProtectedLinks(std::vector<std::filesystem::path> places,
                 const std::vector<std::string>& protect);

  /// Names in any letter case. Of globs each link that matches, and each match behind a link to a
  /// folder.
  /// @param links  relative: links that may be in the tree
  LinkLeads look(const Files& tree, const std::set<std::filesystem::path>& links) const;

 private:
  std::vector<std::filesystem::path> places_;
  std::vector<std::filesystem::path> names_;
  std::vector<std::string> globs_;
};

/// The names that do not lead to the same content by the same links, sorted. One that links lead to
/// nothing is as one that is not there.
std::vector<std::string> names_led_elsewhere(const LinkLeads& start, const LinkLeads& now);

}  // namespace sortie
