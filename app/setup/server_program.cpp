#include "app/setup/server_program.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/files/path_below.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Beside shells and wrappers: what looks in its working folder for what it runs. Versions behind
/// the name are passed over.
constexpr std::array<std::string_view, 60> kRunners = {
    "python", "pypy",   "ipython", "node",    "nodejs", "npx",     "npm",    "pnpm",  "pnpx",
    "yarn",   "bun",    "bunx",    "deno",    "tsx",    "ts-node", "uv",     "uvx",   "pipx",
    "pip",    "poetry", "pdm",     "hatch",   "rye",    "pixi",    "conda",  "mamba", "tox",
    "nox",    "ruby",   "bundle",  "bundler", "rake",   "gem",     "perl",   "php",   "composer",
    "lua",    "luajit", "java",    "mvn",     "gradle", "jbang",   "kotlin", "scala", "dotnet",
    "go",     "cargo",  "make",    "gmake",   "ninja",  "just",    "task",   "mise",  "asdf",
    "direnv", "nix",    "fish",    "busybox", "R",      "Rscript"};

std::string base_name(const std::string& program) {
  std::string name = fs::path(program).filename().string();
  while (!name.empty() && (name.back() == '.' || (name.back() >= '0' && name.back() <= '9')))
    name.pop_back();
  return name;
}

/// The path below the workspace, "." for itself; "" where it lies elsewhere.
std::string below(const std::string& word, const fs::path& workspace) {
  const auto relative = path_below((workspace / word).lexically_normal(), workspace);
  if (!relative) return "";
  std::string text = relative->string();
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool may_load_anything(const std::vector<std::string>& argv, const fs::path& workspace) {
  const std::string& program = argv.front();
  if (program.find('/') != std::string::npos && !below(program, workspace).empty()) return true;
  const std::string name = base_name(program);
  const bool runs_others = is_shell(name) || is_wrapper(name) ||
                           std::find(kRunners.begin(), kRunners.end(), name) != kRunners.end();
  if (!runs_others) return false;
  return argv.size() < 2 || !argv[1].starts_with('/') || !below(argv[1], workspace).empty();
}

/// Whether the path is what is named, lies below it, or is it with a suffix.
bool is_of(const std::string& path, const std::string& named) {
  if (named.empty()) return false;
  if (named == ".") return true;
  if (!path.starts_with(named)) return false;
  return path.size() == named.size() || path[named.size()] == '/' || path[named.size()] == '.';
}

/// What the words of an argv name in the workspace: whole words, and what stands behind a "=".
std::vector<std::string> named_places(const std::vector<std::string>& argv,
                                      const fs::path& workspace, const Files& view) {
  std::vector<std::string> places;
  const auto add = [&](const std::string& word) {
    const std::string place = below(word, workspace);
    if (word.empty() || place.empty()) return;
    places.push_back(place);
    if (const std::string target = view.resolve(place).string(); target != place)
      places.push_back(target.empty() ? "." : target);
  };
  for (const std::string& word : argv) {
    add(word);
    if (const auto at = word.find('='); at != std::string::npos) add(word.substr(at + 1));
  }
  return places;
}

}  // namespace

std::string changed_under(const std::vector<std::string>& argv, const fs::path& workspace,
                          const std::vector<ChangedPath>& changed, const Files& view) {
  if (changed.empty() || argv.empty()) return "";
  std::vector<std::string> places;
  try {
    places = named_places(argv, workspace, view);
  } catch (const ToolError&) {  // a link that leads nowhere, or out of it
    return changed.front().path;
  }
  for (const std::string& place : places)
    for (const ChangedPath& change : changed)
      if (is_of(change.path, place) || is_of(place, change.path)) return change.path;
  return may_load_anything(argv, workspace) ? changed.front().path : "";
}

}  // namespace sortie
