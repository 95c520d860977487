// Node.js, Ruby and PHP.
#include <string>

#include "app/init/npm_registry.h"
#include "app/init/toolchain_readers.h"
#include "core/json/json.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// A JSON file's value; null if it is none.
Json json_of(const Project& project, const std::string& name) {
  const std::string text = project.text(name);
  if (text.empty()) return {};
  try {
    return parse_json(text);
  } catch (const std::exception&) {
    return {};
  }
}

/// The hosts of the packages, and what the project's .npmrc has to do with them.
void add_node_hosts(const Project& project, const std::string& packager, Toolchain& node) {
  const NpmRegistries own = npm_registries(project.text(".npmrc"));
  if (own.usual.empty()) {
    node.hosts = {"registry.npmjs.org:443"};
    if (packager == "yarn") node.hosts.insert(node.hosts.begin(), "registry.yarnpkg.com:443");
  }
  std::vector<std::string> named = own.scoped;
  if (!own.usual.empty() && !is_one_of(own.usual, named)) named.insert(named.begin(), own.usual);
  for (const std::string& host : named) {
    node.hosts.push_back(host);
    node.notes.push_back("commands may reach " + host +
                         ", since .npmrc names it: see that it is yours");
  }
}

std::string node_packager(const Project& project, const Json& package) {
  const std::string named = package.string_at("packageManager");
  if (project.has("pnpm-lock.yaml") || named.starts_with("pnpm@")) return "pnpm";
  if (project.has("yarn.lock") || named.starts_with("yarn@")) return "yarn";
  return "npm";
}

std::string node_setup(const Project& project, const std::string& packager) {
  if (packager == "pnpm")
    return project.has("pnpm-lock.yaml") ? "pnpm install --frozen-lockfile" : "pnpm install";
  if (packager == "yarn") {
    if (!project.has("yarn.lock")) return "yarn install";
    return project.has(".yarnrc.yml") ? "yarn install --immutable"
                                      : "yarn install --frozen-lockfile";
  }
  return project.has("package-lock.json") || project.has("npm-shrinkwrap.json")
             ? "npm ci --no-audit --no-fund"
             : "npm install --no-package-lock --no-audit --no-fund";
}

bool has_node_dependencies(const Json& package) {
  for (const char* key :
       {"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"})
    if (!package[key].members().empty()) return true;
  return package.find("workspaces") != nullptr;
}

}  // namespace

Toolchain read_node(const Project& project) {
  const Json package = json_of(project, "package.json");
  const std::string packager = node_packager(project, package);
  Toolchain node{.name = "node",
                 .shown = "Node.js with " + packager,
                 .sign = project.first_of({"package.json"}),
                 .presets = {"node"}};
  const std::string test = package["scripts"].string_at("test");
  const bool own_test = !test.empty() && test.find("no test specified") == std::string::npos;
  node.commands = {own_test ? packager + " test" : "node --test"};
  if (has_node_dependencies(package)) {
    node.setup = {node_setup(project, packager)};
    add_node_hosts(project, packager, node);
  }
  node.restore = project.patterns_of({"test", "tests", "spec"});
  // The names that test runners look for, in any folder.
  for (const char* pattern : {"**/__tests__/**", "*.test.*", "*.spec.*"})
    node.restore.emplace_back(pattern);
  if (!own_test)  // node --test
    for (const char* pattern : {"*-test.*js", "*_test.*js", "**/test-*.*js"})
      node.restore.emplace_back(pattern);
  return node;
}

Toolchain read_ruby(const Project& project) {
  Toolchain ruby{.name = "ruby",
                 .shown = "Ruby with bundler",
                 .sign = project.first_of({"Gemfile", "Rakefile", ".rspec"})};
  const bool rspec = project.has_folder("spec") || project.has(".rspec");
  const std::string tests = rspec ? "rspec" : "rake test";
  if (project.has("Gemfile")) {
    // In front of each command, since environment.set of a policy takes no other variables.
    const std::string place = R"(BUNDLE_PATH="$TMPDIR/bundle" )";
    ruby.setup = {place + "bundle install --quiet"};
    ruby.commands = {place + "bundle exec " + tests};
    ruby.hosts = {"rubygems.org:443", "index.rubygems.org:443"};
  } else {
    ruby.shown = "Ruby";
    ruby.commands = {tests};
  }
  ruby.restore = project.patterns_of({"spec", "test"});
  if (rspec) ruby.may_change = {".rspec_status"};
  return ruby;
}

Toolchain read_php(const Project& project) {
  Toolchain php{
      .name = "php", .shown = "PHP with composer", .sign = project.first_of({"composer.json"})};
  const Json composer = json_of(project, "composer.json");
  php.commands = {composer["scripts"].find("test") != nullptr ? "composer test"
                                                              : "vendor/bin/phpunit"};
  php.setup = {"composer install --no-interaction --no-progress"};
  php.hosts = {"repo.packagist.org:443", "api.github.com:443", "codeload.github.com:443"};
  // Without it composer asks, or loads no plugin, where root starts it: in most containers of CI.
  php.variables = {{"COMPOSER_ALLOW_SUPERUSER", "1"}};
  php.restore = project.patterns_of({"tests", "test"});
  // How long each test took. Many projects ignore it, new ones do not yet.
  php.may_change = {".phpunit.result.cache", ".phpunit.cache/**"};
  return php;
}

}  // namespace sortie
