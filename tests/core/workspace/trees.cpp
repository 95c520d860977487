#include "tests/core/workspace/trees.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "core/files/files.h"

namespace fs = std::filesystem;

namespace sortie::test {

void drop(Tree& tree, const std::string& path) {
  for (auto it = tree.lower_bound(path); it != tree.end();) {
    const bool below = it->first.compare(0, path.size() + 1, path + "/") == 0;
    if (it->first == path || below) {
      it = tree.erase(it);
    } else if (it->first.compare(0, path.size(), path) != 0) {
      break;
    } else {
      ++it;
    }
  }
}

void put(Tree& tree, const std::string& path, const TreeEntry& entry) {
  drop(tree, path);
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    tree.erase(path.substr(0, slash));
  }
  tree[path] = entry;
}

void put_file(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

void become(const fs::path& folder, const Tree& now, const Tree& wanted) {
  for (const auto& [path, entry] : now) {
    if (wanted.count(path) != 0) continue;
    fs::remove(folder / path);
    for (fs::path up = fs::path(path).parent_path(); !up.empty(); up = up.parent_path()) {
      if (::rmdir((folder / up).c_str()) != 0) break;
    }
  }
  for (const auto& [path, entry] : wanted) {
    const auto old = now.find(path);
    if (old != now.end() && old->second == entry) continue;
    const fs::path file = folder / path;
    fs::create_directories(file.parent_path());
    if (entry.mode == 0120000) {
      fs::remove(file);
      fs::create_symlink(entry.content, file);
      continue;
    }
    if (old != now.end() && old->second.mode == 0120000) fs::remove(file);
    put_file(file, entry.content);
    ::chmod(file.c_str(), entry.mode & 0777);
  }
}

Tree read_tree(const fs::path& folder) {
  Tree tree;
  for (fs::recursive_directory_iterator it(folder), end; it != end; ++it) {
    const std::string path = it->path().lexically_relative(folder).native();
    struct stat status {};
    ::lstat(it->path().c_str(), &status);
    if (it->path().filename() == ".git") it.disable_recursion_pending();
    if (S_ISLNK(status.st_mode)) {
      tree[path] = {0120000, fs::read_symlink(it->path()).native()};
    } else if (S_ISREG(status.st_mode)) {
      tree[path] = {(status.st_mode & 0100) != 0 ? 0100755u : 0100644u, read_file(it->path())};
    }
  }
  return tree;
}

std::string RandomTrees::name() {
  static const std::vector<std::string> names{
      "a",     "b",          "c.txt",       "src",       "main.cpp",  "two words", " lead",
      "trail", "quo\"te",    "back\\slash", "tab\there", "new\nline", "größe",     "\xff\xfe",
      "-dash", "it's",       "a=b;c",       "日本",      "x y\tz",    "end ",      "b.bin",
      "d",     "diff --git", "*glob[1]",    "rename to", ".hidden",   "@@ -1 @@",  "dev",
  };
  return names[below(static_cast<unsigned>(names.size()))];
}

std::string RandomTrees::path() {
  std::string path = name();
  for (unsigned depth = below(3); depth > 0; --depth) path += "/" + name();
  return path;
}

std::string RandomTrees::content() {
  std::string text;
  switch (below(6)) {
    case 0:
      return "";
    case 1:
      for (unsigned i = below(3000); i > 0; --i) text += static_cast<char>(below(256));
      return text + '\0';
    default:
      break;
  }
  static const std::vector<std::string> lines{
      "int main() {",
      "  return 0;",
      "}",
      "",
      "diff --git a/x b/x",
      "--- a",
      "+++ b",
      "\xff\xfe",
      "-- ",
      "@@ -1,2 +3,4 @@",
      "\\ No newline at end of file",
      "rename from a",
      "a\rb",
      "größe",
  };
  const char* const end = below(3) == 0 ? "\r\n" : "\n";
  for (unsigned i = below(60); i > 0; --i) {
    text += lines[below(static_cast<unsigned>(lines.size()))] + std::to_string(below(50)) + end;
  }
  if (below(3) == 0 && !text.empty()) text.pop_back();
  return text;
}

TreeEntry RandomTrees::entry() {
  if (below(8) == 0) return {0120000, below(2) == 0 ? path() : "../" + name()};
  return {below(4) == 0 ? 0100755u : 0100644u, content()};
}

std::string RandomTrees::edited(const std::string& text) {
  if (text.empty()) return content();
  std::string changed = text;
  for (unsigned i = 1 + below(3); i > 0; --i) {
    const std::size_t at = below(static_cast<unsigned>(changed.size() + 1));
    if (below(2) == 0) {
      changed.insert(at, "new " + std::to_string(below(100)) + "\n");
    } else {
      changed.erase(at, below(30));
    }
    if (changed.empty()) return changed;
  }
  return changed;
}

Tree RandomTrees::make(int files) {
  Tree tree;
  for (int i = 0; i < files; ++i) put(tree, path(), entry());
  return tree;
}

void RandomTrees::change_one(Tree& tree) {
  if (tree.empty()) return put(tree, path(), entry());
  const auto old = std::next(tree.begin(), below(static_cast<unsigned>(tree.size())));
  const std::string at = old->first;
  const TreeEntry was = old->second;
  const bool link = was.mode == 0120000;
  switch (below(8)) {
    case 0:
      return put(tree, path(), entry());
    case 1:
      return drop(tree, at);
    case 2:  // moved, and half of the times edited
      drop(tree, at);
      return put(tree, path(), {was.mode, below(2) || link ? was.content : edited(was.content)});
    case 3:
      return put(tree, at, entry());
    case 4:  // a file becomes a folder
      drop(tree, at);
      return put(tree, at + "/" + name(), entry());
    case 5:  // a folder becomes a file
      return put(tree, at.substr(0, at.find('/')), entry());
    case 6:
      if (link) return put(tree, at, entry());
      return put(tree, at, {was.mode == 0100755 ? 0100644u : 0100755u, was.content});
    default:
      if (link) return put(tree, at, {0120000, path()});
      return put(tree, at, {was.mode, edited(was.content)});
  }
}

Tree RandomTrees::change(const Tree& tree, int changes) {
  Tree changed = tree;
  for (int i = 0; i < changes; ++i) change_one(changed);
  return changed;
}

std::string difference(const Tree& made, const Tree& wanted) {
  std::string text;
  for (const auto& [path, entry] : wanted) {
    const auto found = made.find(path);
    if (found == made.end()) {
      text += "missing " + path + "; ";
    } else if (!(found->second == entry)) {
      text += "differs " + path + "; ";
    }
  }
  for (const auto& [path, entry] : made) {
    if (wanted.count(path) == 0) text += "extra " + path + "; ";
  }
  return text;
}

}  // namespace sortie::test
