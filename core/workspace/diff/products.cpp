#include "core/workspace/diff/products.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/text/text.h"

namespace sortie {
namespace {

/// Folders that tools make for themselves. Source: github.com/github/gitignore and the tools' docs.
constexpr auto kFolders =
    std::to_array<std::string_view>({"__pycache__",   ".pytest_cache", ".mypy_cache",
                                     ".ruff_cache",   ".tox",          ".nox",
                                     ".hypothesis",   ".eggs",         ".venv",
                                     "htmlcov",       "node_modules",  "bower_components",
                                     ".nyc_output",   ".parcel-cache", ".turbo",
                                     ".svelte-kit",   ".gradle",       ".ccls-cache",
                                     "CMakeFiles",    "_deps",         "autom4te.cache",
                                     ".deps",         ".libs",         ".stack-work",
                                     "dist-newstyle", ".dart_tool",    ".terraform",
                                     ".zig-cache",    "zig-cache",     ".ipynb_checkpoints"});

/// Names of single files.
constexpr auto kFiles = std::to_array<std::string_view>(
    {".coverage", "CMakeCache.txt", "cmake_install.cmake", "CTestTestfile.cmake",
     "install_manifest.txt", ".ninja_log", ".ninja_deps", "config.log", "config.status",
     ".rustc_info.json", ".DS_Store", ".eslintcache", "npm-debug.log", "yarn-error.log",
     "core.dump"});

/// Endings of files that compilers and test tools write.
constexpr auto kEndings = std::to_array<std::string_view>(
    {".pyc", ".pyo", ".o", ".obj", ".class", ".gcda", ".gcno", ".lo", ".la", ".hi", ".rlib",
     ".rmeta", ".tsbuildinfo", ".profraw"});

std::string_view name_of_path(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

/// "X.egg-info/" and folders of the list, anywhere above the file.
std::string folder_line(std::string_view path) {
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    if (folder.ends_with(".egg-info")) return "*.egg-info/";
    if (is_one_of(folder, kFolders)) return std::string(folder) + "/";
    // Cargo's and Maven's, which people's own folders of that name don't look like.
    path.remove_prefix(slash + 1);
    if (folder == "target" &&
        (path.starts_with("debug/") || path.starts_with("release/") ||
         path.starts_with("classes/") || path == ".rustc_info.json" || path == "CACHEDIR.TAG"))
      return "target/";
  }
  return "";
}

/// Source: PE format, Microsoft: the offset of "PE\0\0" is in the four bytes at 0x3c.
bool is_windows_program(std::string_view content) {
  if (!content.starts_with("MZ") || content.size() < 0x40) return false;
  std::uint32_t at = 0;
  for (std::size_t i = 4; i-- > 0;) at = at << 8 | static_cast<unsigned char>(content[0x3c + i]);
  return at < content.size() && content.substr(at, 4) == std::string_view("PE\0\0", 4);
}

/// Files that `configure` and CMake fill in say so in their first lines.
bool is_filled_in(std::string_view content) {
  const std::string_view head = content.substr(0, 512);
  if (head.starts_with("# CMAKE generated file: DO NOT EDIT!")) return true;
  const auto from = head.find("enerated from ");
  return from != head.npos && head.find(" by configure.", from) != head.npos;
}

}  // namespace

bool is_product_folder_name(std::string_view name) {
  return name.ends_with(".egg-info") || is_one_of(name, kFolders);
}

bool is_product_file_name(std::string_view name) {
  return is_one_of(name, kFiles) ||
         std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
           return name.ends_with(ending) && name.size() > ending.size();
         });
}

std::string ignore_line_for(std::string_view path) {
  if (std::string line = folder_line(path); !line.empty()) return line;
  const std::string_view name = name_of_path(path);
  if (is_one_of(name, kFiles)) return std::string(name);
  for (const std::string_view ending : kEndings)
    if (name.ends_with(ending) && name.size() > ending.size()) return "*" + std::string(ending);
  return "";
}

const std::vector<FolderSign>& folder_signs() {
  // Source of the tag: bford.info/cachedir.
  static const std::vector<FolderSign> signs = {
      {"CACHEDIR.TAG", "", "Signature: 8a477f597d28d172789f06886806bc55", "a cache"},
      {"CMakeCache.txt", "", "", "a build tree of CMake"},
      {".ninja_log", "", "", "a build tree of ninja"},
      {"meson-private", "", "", "a build tree of Meson"},
      {"config.status", "", "", "a build tree of configure"},
      {".rustc_info.json", "", "", "a build tree of Cargo"},
      {"pyvenv.cfg", "", "home", "a virtual environment of Python"},
      {"conda-meta", "", "", "an environment of conda"},
      {"maven-status", "target", "", "a build tree of Maven"},
      {"surefire-reports", "target", "", "a build tree of Maven"},
      {"classes", "target", "", "a build tree of Maven"},
      {"tmp/compileJava", "build", "", "a build tree of Gradle"},
      {"tmp/compileKotlin", "build", "", "a build tree of Gradle"},
  };
  return signs;
}

std::string_view product_content(std::string_view content) {
  constexpr struct {
    std::string_view begins;
    std::string_view meaning;
  } kMagic[] = {
      {"\177ELF", "an ELF file"},
      {"!<arch>\n", "a static library"},
      {"\xcf\xfa\xed\xfe", "a Mach-O file"},
      {"\xce\xfa\xed\xfe", "a Mach-O file"},
      {"\xca\xfe\xba\xbe", "a class of Java, or a Mach-O file"},
      {"BC\xc0\xde", "LLVM bitcode"},
  };
  for (const auto& magic : kMagic)
    if (content.starts_with(magic.begins)) return magic.meaning;
  if (is_windows_program(content)) return "a program of Windows";
  return is_filled_in(content) ? "filled in by a build tool" : "";
}

}  // namespace sortie
