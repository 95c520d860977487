#include "app/init/project.h"

#include "core/files/files.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostProjectFile = 1 << 20;

}  // namespace

bool Project::has(const std::string& name) const {
  std::error_code error;
  return fs::is_regular_file(folder_ / name, error);
}

bool Project::has_folder(const std::string& name) const {
  std::error_code error;
  return fs::is_directory(folder_ / name, error);
}

std::string Project::first_of(std::initializer_list<const char*> names) const {
  for (const char* name : names)
    if (has(name)) return name;
  return "";
}

std::string Project::first_ending(std::string_view ending) const {
  std::string first;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() > ending.size() && name.ends_with(ending) && (first.empty() || name < first) &&
        has(name))
      first = name;
  }
  return first;
}

std::string Project::text(const std::string& name) const {
  return read_bytes_file(folder_ / name, kMostProjectFile).text;
}

bool Project::mentions(std::initializer_list<const char*> names, std::string_view word) const {
  for (const char* name : names)
    if (text(name).find(word) != std::string::npos) return true;
  return false;
}

std::vector<std::string> Project::patterns_of(std::initializer_list<const char*> folders) const {
  std::vector<std::string> patterns;
  for (const char* name : folders)
    if (has_folder(name)) patterns.push_back(std::string(name) + "/**");
  return patterns;
}

}  // namespace sortie
