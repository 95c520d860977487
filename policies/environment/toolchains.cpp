#include "policies/environment/toolchains.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "core/files/path_below.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// A tool's folder below HOME, the variable that moves it, and the credential files in it.
struct Known {
  const char* folder;
  const char* variable;                       ///< "": none
  std::vector<const char*> credentials = {};  /// relative to the folder
};

const std::vector<Known>& known_folders() {
  static const std::vector<Known> list = {
      {".cargo", "CARGO_HOME", {"credentials.toml", "credentials"}},
      {".rustup", "RUSTUP_HOME"},
      {".nvm", "NVM_DIR"},
      {".volta", "VOLTA_HOME"},
      {".local/share/fnm", "FNM_DIR"},
      {".local/share/pnpm", "PNPM_HOME"},
      {".bun", "BUN_INSTALL"},
      {".deno", "DENO_INSTALL"},
      {".pyenv", "PYENV_ROOT"},
      {".rbenv", "RBENV_ROOT"},
      {".asdf", "ASDF_DATA_DIR"},
      {".local/share/mise", "MISE_DATA_DIR"},
      {".sdkman", "SDKMAN_DIR"},
      {"go", "GOPATH"},
      {"go/pkg/mod", "GOMODCACHE"},
      {".m2", "", {"settings.xml", "settings-security.xml"}},
      {".gradle", "GRADLE_USER_HOME", {"gradle.properties"}},
      {".gem", "GEM_HOME", {"credentials"}},
      {".cache/pip", "PIP_CACHE_DIR"},
      {".cache/uv", "UV_CACHE_DIR"},
      {".cache/pypoetry", "POETRY_CACHE_DIR"},
      {".cache/go-build", "GOCACHE"},
      {".ccache", "CCACHE_DIR", {"ccache.conf"}},  // before the other: ccache prefers it
      {".cache/ccache", "CCACHE_DIR", {"ccache.conf"}},
      {".cache/sccache", "SCCACHE_DIR"},
      {".cache/deno", "DENO_DIR"},
      {".cache/node/corepack", "COREPACK_HOME"},
      {".cache/yarn", "YARN_CACHE_FOLDER"},
      {".npm", "npm_config_cache"},
      {".local/share/uv", "", {"credentials"}},
      {".local/share/uv/python", "UV_PYTHON_INSTALL_DIR"},
      {".local/share/uv/tools", "UV_TOOL_DIR"},
      {".local/share/pipx", "PIPX_HOME"},
      {".local/pipx", ""},
      {".local/lib", ""},
  };
  return list;
}

/// Base directories below HOME that a variable moves, with the tools' folders in them.
/// Source: XDG Base Directory Specification 0.8, "Environment variables".
struct Base {
  std::string_view folder;
  const char* variable;
};
constexpr Base kBases[] = {{".cache/", "XDG_CACHE_HOME"}, {".local/share/", "XDG_DATA_HOME"}};

/// The folder in a moved base directory; "" if none is moved, or if it has no such folder: some
/// tools look below HOME all the same.
fs::path in_moved_base(std::string_view folder, const Environment& own) {
  for (const Base& base : kBases) {
    if (!folder.starts_with(base.folder)) continue;
    const auto variable = own.find(base.variable);
    if (variable == own.end() || !fs::path(variable->second).is_absolute()) return {};
    fs::path moved = fs::path(variable->second) / folder.substr(base.folder.size());
    std::error_code error;
    return fs::is_directory(moved, error) ? moved : fs::path();
  }
  return {};
}

/// Where a variable of the caller's has the folder; "" if none moves it.
fs::path moved_place(const Known& known, const Environment& own) {
  const auto variable = own.find(known.variable);
  if (variable != own.end() && !variable->second.empty()) return variable->second;
  return in_moved_base(known.folder, own);
}

/// Files outside these folders that hold credentials of such tools.
constexpr const char* kCredentials[] = {".netrc",
                                        ".npmrc",
                                        ".yarnrc.yml",
                                        ".yarnrc",
                                        ".pypirc",
                                        ".config/pip/pip.conf",
                                        ".pip/pip.conf",
                                        ".config/pypoetry/auth.toml",
                                        ".config/uv/uv.toml",
                                        ".bundle/config",
                                        ".composer/auth.json",
                                        ".config/gh",
                                        ".config/gcloud",
                                        ".aws",
                                        ".azure"};

fs::path plain(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

/// Whether a folder may be shown as a toolchain: it must not contain other places.
bool is_fit(const fs::path& folder, const fs::path& home, const std::vector<fs::path>& kept) {
  std::error_code error;
  if (!folder.is_absolute() || !fs::is_directory(folder, error)) return false;
  const fs::path real = fs::canonical(folder, error);
  if (error) return false;
  for (const fs::path& path : {folder, real}) {
    // "/x" is a folder of the system, or a whole disk.
    if (std::distance(path.begin(), path.end()) < 3) return false;
    for (const char* of_system : {"/proc", "/sys", "/dev", "/run", "/boot"})
      if (is_below(path, of_system)) return false;
    if (is_below(home, path)) return false;
    const auto mixed = [&](const fs::path& place) {
      return is_below(place, path) || is_below(path, place);
    };
    if (std::any_of(kept.begin(), kept.end(), mixed)) return false;
  }
  return true;
}

}  // namespace

Toolchains find_toolchains(const Environment& own, const fs::path& caller_home,
                           const fs::path& run_home, const std::vector<fs::path>& kept) {
  Toolchains found;
  const bool has_home = caller_home.is_absolute() && caller_home != "/";
  for (const Known& known : known_folders()) {
    const fs::path place = moved_place(known, own);
    const bool moved = !place.empty();
    if (!moved && !has_home) continue;
    const fs::path folder = plain(moved ? place : caller_home / known.folder);
    for (const char* file : known.credentials) found.credentials.push_back(folder / file);
    if (!is_fit(folder, caller_home, kept)) continue;
    found.folders.push_back(folder);
    if (*known.variable != '\0' && (moved || run_home != caller_home))
      found.variables.emplace(known.variable, folder.string());
  }
  if (has_home) {
    for (const char* file : kCredentials) found.credentials.push_back(caller_home / file);
  }
  // The caller's cache can't be written to there, and ccache fails then: it only looks into it, and
  // has its own files where the run has room. Source: ccache(1), CCACHE_READONLY, CCACHE_TEMPDIR.
  if (run_home != caller_home && found.variables.count("CCACHE_DIR") != 0) {
    found.variables.emplace("CCACHE_READONLY", "1");
    found.variables.emplace("CCACHE_TEMPDIR", (run_home / "tmp").string());
  }
  // A folder in another one is shown with it.
  std::sort(found.folders.begin(), found.folders.end());
  found.folders.erase(std::unique(found.folders.begin(), found.folders.end()), found.folders.end());
  std::vector<fs::path> outermost;
  for (const fs::path& folder : found.folders) {
    if (outermost.empty() || !is_below(folder, outermost.back())) outermost.push_back(folder);
  }
  found.folders = std::move(outermost);
  return found;
}

}  // namespace sortie
