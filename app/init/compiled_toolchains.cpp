// Go, Rust, Java and its relatives, C and C++, .NET.
#include <string>

#include "app/init/toolchain_readers.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Java reads no variables for proxies; sortie's own is at this address (docs/network.md).
constexpr const char* kJavaProxy = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128";
/// Maven's resolver asks the system properties only then (Maven 3.9 and later).
constexpr const char* kMavenProxy = "-Daether.connector.http.useSystemProperties=true";

/// Whether a Makefile has a rule for that target.
bool has_target(const std::string& makefile, const std::string& target) {
  for (const std::string_view line : split_lines(makefile))
    if (line.starts_with(target + ":") && !line.starts_with(target + ":=")) return true;
  return false;
}

std::string make_command(const std::string& makefile) {
  for (const char* target : {"test", "tests", "check"})
    if (has_target(makefile, target)) return std::string("make ") + target;
  return "make";
}

void read_maven(const Project& project, Toolchain& jvm) {
  const bool wrapper = project.has("mvnw");
  jvm.shown = "Java with Maven";
  jvm.commands = {std::string(wrapper ? "./mvnw" : "mvn") + " -B -q " + kJavaProxy + " " +
                  kMavenProxy + " test"};
  jvm.hosts = {"repo.maven.apache.org:443", "repo1.maven.org:443"};
}

void read_gradle(const Project& project, Toolchain& jvm) {
  const bool wrapper = project.has("gradlew");
  jvm.shown = "Java with Gradle";
  jvm.commands = {std::string(wrapper ? "./gradlew" : "gradle") + " --no-daemon " + kJavaProxy +
                  " test"};
  jvm.hosts = {"repo.maven.apache.org:443", "plugins.gradle.org:443",
               "plugins-artifacts.gradle.org:443"};
  if (wrapper) {
    jvm.hosts.emplace_back("services.gradle.org:443");
    jvm.hosts.emplace_back("downloads.gradle.org:443");
  }
}

}  // namespace

Toolchain read_go(const Project& project) {
  Toolchain go{.name = "go",
               .shown = "Go",
               .sign = project.first_of({"go.mod", "go.work"}),
               .presets = {"go"},
               .commands = {"go test ./..."},
               .restore = {"*_test.go", "**/testdata/**"}};
  const bool packages = project.has("go.sum") || project.has("go.work.sum");
  if (packages && !project.has_folder("vendor")) {
    go.setup = {"go mod download"};
    go.hosts = {"proxy.golang.org:443", "sum.golang.org:443"};
  }
  return go;
}

Toolchain read_rust(const Project& project) {
  Toolchain rust{.name = "rust",
                 .shown = "Rust",
                 .sign = project.first_of({"Cargo.toml"}),
                 .presets = {"rust"},
                 .commands = {"cargo test --offline"}};
  const bool locked = project.has("Cargo.lock");
  const bool packages = locked ? project.mentions({"Cargo.lock"}, "source = \"registry+")
                               : project.mentions({"Cargo.toml"}, "dependencies") ||
                                     // Its members have files of their own.
                                     project.mentions({"Cargo.toml"}, "[workspace]");
  if (packages && !project.has_folder("vendor")) {
    rust.setup = {locked ? "cargo fetch --locked" : "cargo fetch"};
    rust.hosts = {"index.crates.io:443", "static.crates.io:443"};
  }
  rust.restore = {"**/tests/**"};  // also of a workspace's members
  return rust;
}

Toolchain read_jvm(const Project& project) {
  Toolchain jvm{.name = "jvm",
                .shown = "",
                .sign = project.first_of({"pom.xml", "build.gradle", "build.gradle.kts",
                                          "settings.gradle", "settings.gradle.kts"}),
                .presets = {"jvm"}};
  if (jvm.sign.find("gradle") != std::string::npos)
    read_gradle(project, jvm);
  else
    read_maven(project, jvm);
  jvm.restore = {"**/src/test/**"};  // also of modules
  return jvm;
}

Toolchain read_cpp(const Project& project) {
  Toolchain cpp{.name = "cpp",
                .shown = "C or C++ with make",
                .sign = project.first_of({"CMakeLists.txt", "meson.build", "configure",
                                          "configure.ac", "GNUmakefile", "Makefile", "makefile"}),
                .presets = {"cpp"}};
  if (cpp.sign == "CMakeLists.txt") {
    cpp.shown = "C or C++ with CMake";
    cpp.commands = {R"(cmake -S . -B "$TMPDIR/build")",
                    R"(cmake --build "$TMPDIR/build" --parallel 2)",
                    R"(ctest --test-dir "$TMPDIR/build" --output-on-failure)"};
  } else if (cpp.sign == "meson.build") {
    cpp.shown = "C or C++ with Meson";
    cpp.commands = {R"(meson setup "$TMPDIR/build")", R"(meson test -C "$TMPDIR/build")"};
  } else if (cpp.sign.starts_with("configure")) {
    cpp.shown = "C or C++ with configure";
    if (cpp.sign == "configure.ac") cpp.setup = {"autoreconf -i"};
    cpp.commands = {"./configure", "make check"};
  } else {
    cpp.commands = {make_command(project.text(cpp.sign))};
  }
  cpp.restore = project.patterns_of({"tests", "test"});
  return cpp;
}

Toolchain read_dotnet(const Project& project) {
  Toolchain dotnet{.name = "dotnet",
                   .shown = ".NET",
                   .sign = project.first_of({"global.json", "Directory.Build.props"}),
                   .setup = {"dotnet restore"},
                   .commands = {"dotnet test --no-restore"}};
  for (const char* ending : {".sln", ".slnx", ".csproj", ".fsproj", ".vbproj"})
    if (const std::string found = project.first_ending(ending); !found.empty()) {
      dotnet.sign = found;
      break;
    }
  dotnet.hosts = {"api.nuget.org:443"};
  dotnet.variables = {{"DOTNET_CLI_TELEMETRY_OPTOUT", "1"}, {"DOTNET_NOLOGO", "1"}};
  dotnet.restore = project.patterns_of({"tests", "test"});
  dotnet.restore.emplace_back("**/*.Tests/**");
  return dotnet;
}

}  // namespace sortie
