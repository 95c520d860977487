#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"

namespace sortie {

/// Where protected names lead through links in one tree at one time: a name that is a link, or lies
/// behind one, is what it leads to.
struct LinkLeads {
  /// By name, each way that holds a link: its links' texts and the content at its end. All plain
  /// names are there; of what globs match, what has a way.
  std::map<std::string, std::set<std::string>> ways;
  /// Where the search behind links has seen 20,000 entries and given up: matches are missing; ""
  /// where it has seen all.
  std::string beyond{};
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

/// What is not looked at, for people. @param leads  with `beyond`
std::string beyond_text(const LinkLeads& leads);

/// The names that do not lead to the same content by the same links, sorted. One that links lead to
/// nothing is as one that is not there.
std::vector<std::string> names_led_elsewhere(const LinkLeads& start, const LinkLeads& now);

}  // namespace sortie
