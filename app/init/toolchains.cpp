#include "app/init/toolchains.h"

#include <algorithm>
#include <array>

#include "app/init/toolchain_readers.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShownProjects = 6;
constexpr int kMostListedFolders = 500;

Toolchain read_plain(const Project& project) {
  Toolchain plain{.name = "plain", .shown = "files without a toolchain", .sign = ""};
  plain.sign = project.first_of({"README.md", "README"});
  return plain;
}

struct Reader {
  const char* name;
  Toolchain (*read)(const Project& project);
};

/// In the order of precedence: a package.json or a Makefile often lies in a project of another
/// kind, for its website or for short names of commands.
constexpr auto kReaders = std::to_array<Reader>({
    {"go", read_go},
    {"rust", read_rust},
    {"jvm", read_jvm},
    {"dotnet", read_dotnet},
    {"php", read_php},
    {"ruby", read_ruby},
    {"python", read_python},
    {"node", read_node},
    {"cpp", read_cpp},
    {"plain", read_plain},
});

/// Adds the projects in the folders of `folder`, not going into one that is a project.
void add_projects(const fs::path& top, const fs::path& below, int levels, int& listed,
                  std::vector<std::pair<fs::path, std::string>>& found) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(top / below, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (++listed > kMostListedFolders) break;
    if (name.starts_with('.') || name == "node_modules" || name == "vendor") continue;
    std::error_code unknown;
    if (!it->is_symlink(unknown) && it->is_directory(unknown)) folders.push_back(below / name);
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    if (found.size() >= kMostShownProjects) return;
    // A script alone makes no project of a folder.
    if (const auto one = find_toolchains(top / folder);
        !one.empty() && !one.front().sign.ends_with(".py"))
      found.emplace_back(folder, one.front().name);
    else if (levels > 1)
      add_projects(top, folder, levels - 1, listed, found);
  }
}

}  // namespace

const std::vector<std::string>& toolchain_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Reader& reader : kReaders) all.emplace_back(reader.name);
    return all;
  }();
  return names;
}

std::vector<Toolchain> find_toolchains(const fs::path& folder) {
  const Project project(folder);
  std::vector<Toolchain> found;
  for (const Reader& reader : kReaders)
    if (Toolchain one = reader.read(project); !one.sign.empty() && one.name != "plain")
      found.push_back(std::move(one));
  // A Makefile beside another toolchain's files most often calls that toolchain.
  std::erase_if(found, [&](const Toolchain& one) {
    return found.size() > 1 && one.name == "cpp" && one.sign.find("akefile") != std::string::npos;
  });
  return found;
}

Toolchain toolchain_of(const std::string& name, const fs::path& folder) {
  const auto* reader = std::find_if(kReaders.begin(), kReaders.end(),
                                    [&](const Reader& one) { return one.name == name; });
  return (reader == kReaders.end() ? kReaders.back() : *reader).read(Project(folder));
}

std::vector<std::pair<fs::path, std::string>> find_projects_below(const fs::path& folder) {
  std::vector<std::pair<fs::path, std::string>> found;
  int listed = 0;
  add_projects(folder, {}, 2, listed, found);
  return found;
}

}  // namespace sortie
