#pragma once

#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie::test {

/// A whole tree as git sees it, by path.
using Tree = std::map<std::string, TreeEntry>;

void put(Tree& tree, const std::string& path, const TreeEntry& entry);
void drop(Tree& tree, const std::string& path);

/// Makes what stands in a folder, `.git` aside, into this tree, touching only what differs.
void become(const std::filesystem::path& folder, const Tree& now, const Tree& wanted);
Tree read_tree(const std::filesystem::path& folder);

/// A file without fsync, which tests have no need of.
void put_file(const std::filesystem::path& path, std::string_view content);

/// Trees with odd names, binary and CRLF content, links, modes; and random changes of them.
class RandomTrees {
 public:
  explicit RandomTrees(unsigned seed) : random_(seed) {}
  Tree make(int files);
  Tree change(const Tree& tree, int changes);

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  std::string name();
  std::string path();
  std::string content();
  TreeEntry entry();
  std::string edited(const std::string& text);
  void change_one(Tree& tree);
  std::mt19937 random_;
};

/// One line for a message: the paths and modes of both that differ.
std::string difference(const Tree& made, const Tree& wanted);

}  // namespace sortie::test
