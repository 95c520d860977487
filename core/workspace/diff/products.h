#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The .gitignore line for a path that, by its name, was made by a compiler, a test runner or a
/// package manager: "__pycache__/" for "src/__pycache__/a.pyc"; "" for all others. Names that people
/// also give to their own folders ("build", "dist", "out") don't count.
std::string ignore_line_for(std::string_view path);

/// Whether a folder's own name is one that only tools give: "__pycache__", "node_modules".
bool is_product_folder_name(std::string_view name);
/// Whether a file's own name, or its ending, is one that only tools give: "CMakeCache.txt", "a.pyc".
bool is_product_file_name(std::string_view name);

/// A name in a folder that shows that the whole folder was made by a tool.
struct FolderSign {
  std::string_view entry;    ///< a file or folder in it: "CMakeCache.txt"
  std::string_view folder;   ///< the name that the folder must have; "" for any
  std::string_view begins;   ///< what the file must begin with; "" for anything
  std::string_view meaning;  ///< for people: "a build tree of CMake"
};
const std::vector<FolderSign>& folder_signs();

/// What a file is if its first bytes show that a tool made it, such as "an ELF file"; "" otherwise.
/// @param content  all of it, or at least its first 512 bytes
std::string_view product_content(std::string_view content);

}  // namespace sortie
