// The packages of a release, made by ci/release of the program that the tests have built: Debian's, the
// tarball, npm's. What a release has besides (a program without shared libraries, its bill of
// materials, root file systems) takes an hour, and is checked by ci/release/all.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

const fs::path kRelease = fs::path(SORTIE_SOURCE_DIR) / "ci/release";
constexpr const char* kEpoch = "1700000000";

/// A precondition: the programs are installed.
class Have {
 public:
  explicit Have(std::vector<std::string> programs) : programs_(std::move(programs)) {}
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    for (const std::string& program : programs_) {
      const ProgramEnd end = run_program({.argv = {"sh", "-c", "command -v " + program}});
      if (end.status == 0) continue;
      boost::test_tools::assertion_result none(false);
      none.message() << "no " << program << " (ci/setup tests installs it)";
      return none;
    }
    return true;
  }

 private:
  std::vector<std::string> programs_;
};

ProgramEnd run_script(std::vector<std::string> argv) {
  argv.front() = (kRelease / argv.front()).string();
  if (argv.front().ends_with(".py")) argv.insert(argv.begin(), "python3");
  const ProgramStart start{.argv = argv,
                           .environment = {{"SOURCE_DATE_EPOCH", kEpoch},
                                           {"PYTHONDONTWRITEBYTECODE", "1"},
                                           {"DEBFULLNAME", "A Maintainer"},
                                           {"DEBEMAIL", "maintainer@debian.org"}}};
  return Program(start).finish(std::chrono::seconds(800));
}

/// What ci/release/build leaves, but of this build.
class Dist {
 public:
  Dist() : architecture_(trimmed(run_program({.argv = {"dpkg", "--print-architecture"}}).output)) {
    fs::create_directories(made());
    fs::copy_file(sortie_binary(), made() / "sortie");
    write_file(made() / "sortie.cdx.json", "{\"components\": []}\n");
    write_file(made() / "THIRD-PARTY-NOTICES.txt", "Notices of a test.\n");
  }
  fs::path path() const { return folder_.path(); }
  fs::path made() const { return folder_ / architecture_; }
  const std::string& architecture() const { return architecture_; }

 private:
  static std::string trimmed(std::string text) { return text.substr(0, text.find('\n')); }

  TemporaryFolder folder_;
  std::string architecture_;
};

/// The check's own lines say what failed.
void check_all_passed(const ProgramEnd& end, int at_least) {
  BOOST_TEST(end.status == 0, end.printed());
  int passed = 0;
  for (const auto line : split_lines(end.output)) passed += line.starts_with("passed: ") ? 1 : 0;
  BOOST_TEST(passed >= at_least, end.printed());
  BOOST_TEST(end.output.find("failed: ") == std::string::npos, end.printed());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(release_packages)

BOOST_AUTO_TEST_CASE(the_scripts_know_the_version_of_the_program) {
  BOOST_TEST(run_script({"version"}).output == SORTIE_VERSION "\n");
}

BOOST_AUTO_TEST_CASE(
    a_tarball_holds_all_that_is_installed_and_the_readmes_first_run_works_from_it) {
  const Dist dist;
  const ProgramEnd made = run_script({"tarball", SORTIE_BINARY_DIR, dist.made().string()});
  BOOST_TEST_REQUIRE(made.status == 0, made.printed());
  const fs::path file =
      dist.path() / ("sortie-" SORTIE_VERSION "-linux-" + dist.architecture() + ".tar.gz");
  const std::string bytes = read_file(file);

  check_all_passed(run_script({"check_tarball.py", dist.path().string(), dist.architecture()}), 18);

  BOOST_TEST(run_script({"tarball", SORTIE_BINARY_DIR, dist.made().string()}).status == 0);
  BOOST_TEST((read_file(file) == bytes), "a second tarball has other bytes");
}

BOOST_AUTO_TEST_CASE(debians_package_has_what_it_depends_on_and_lintian_finds_nothing,
                     *boost::unit_test::precondition(Have({"lintian", "dpkg-shlibdeps"}))) {
  const TemporaryFolder folder;
  const ProgramEnd made = run_script({"deb", SORTIE_BINARY_DIR, folder.path().string()});
  BOOST_TEST_REQUIRE(made.status == 0, made.printed());
  const std::string package = made.output.substr(0, made.output.find('\n'));

  const ProgramEnd fields = run_program({.argv = {"dpkg-deb", "--field", package}});
  BOOST_TEST(fields.output.find("\nVersion: " SORTIE_VERSION "-1\n") != std::string::npos,
             fields.output);
  BOOST_TEST(fields.output.find("\nMaintainer: A Maintainer <maintainer@debian.org>\n") !=
                 std::string::npos,
             fields.output);
  for (const char* library : {"libssl3", "libgit2-1.5", "libseccomp2", "libc6"})
    BOOST_TEST(fields.output.find(library) != std::string::npos, library << " is not in\n"
                                                                         << fields.output);

  const ProgramEnd files = run_program({.argv = {"dpkg-deb", "--contents", package}});
  for (const char* name :
       {"/usr/bin/sortie", "/usr/share/man/man1/sortie.1.gz", "/usr/share/doc/sortie/copyright",
        "/usr/share/bash-completion/completions/sortie",
        "/usr/share/zsh/vendor-completions/_sortie",
        "/usr/share/fish/vendor_completions.d/sortie.fish", "/usr/share/doc/sortie/changelog.gz",
        "/usr/share/sortie/schemas/task.schema.json", "/usr/share/doc/sortie/docs/task.md"})
    BOOST_TEST(files.output.find(std::string(" .") + name + "\n") != std::string::npos, name);

  const ProgramEnd lintian = run_program({.argv = {"lintian", "--allow-root", "--tag-display-limit",
                                                   "0", "--fail-on", "error,warning", package}});
  BOOST_TEST(lintian.status == 0, lintian.printed());
}

BOOST_AUTO_TEST_CASE(npx_runs_the_program_and_stands_nowhere_between,
                     *boost::unit_test::precondition(Have({"npm", "npx"}))) {
  const Dist dist;
  const ProgramEnd made =
      run_script({"npm_packages.py", dist.path().string(), dist.architecture()});
  BOOST_TEST_REQUIRE(made.status == 0, made.printed());

  check_all_passed(run_script({"check_npm.py", dist.path().string(), dist.architecture()}), 19);
}

BOOST_AUTO_TEST_CASE(an_architecture_that_is_not_built_is_refused) {
  const Dist dist;
  const ProgramEnd end = run_script({"npm_packages.py", dist.path().string(), "riscv64"});
  BOOST_TEST(end.status == 1);
  BOOST_TEST(
      end.errors.find("expected architectures of amd64, arm64, got 'riscv64'") != std::string::npos,
      end.errors);
}

// What the linker's map says is compared with the bill, byte by byte that was kept.
BOOST_AUTO_TEST_CASE(a_bill_of_materials_that_leaves_something_out_is_found) {
  const TemporaryFolder folder;
  const std::string program = "OpenSSL 3.0.19 27 Jan 2026";
  write_file(folder / "program", program);
  write_file(folder / "map",
             "Archive member included to satisfy reference by file (symbol)\n\n"
             "Memory Configuration\n\nLinker script and memory map\n\n"
             " .text.a        0x0000000000001000       0x10 /usr/lib/liba.a(a.o)\n"
             " .text.of_a_function_with_a_long_name\n"
             "                0x0000000000001010        0x8 /usr/lib/libssl.a(s.o)\n"
             " .text.dropped  0x0000000000000000        0x0 /usr/lib/libnone.a(n.o)\n");
  const std::string digest =
      run_program({.argv = {"sha256sum", (folder / "program").string()}}).output.substr(0, 64);
  const auto bill_of = [&](const std::string& first_file) {
    write_file(folder / "bill", R"({"metadata": {"component": {"hashes": [{"content": ")" + digest +
                                    R"("}]}}, "components": [
      {"name": "liba-dev", "version": "1", "licenses": [1], "properties": [{"name": "sortie:file", "value": ")" +
                                    first_file + R"("}]},
      {"name": "libssl-dev", "version": "3.0.19-1", "licenses": [1],
       "properties": [{"name": "sortie:file", "value": "libssl.a"}]}]})");
    return run_script({"check_bill.py", (folder / "program").string(), (folder / "map").string(),
                       (folder / "bill").string()});
  };

  const ProgramEnd whole = bill_of("liba.a");
  BOOST_TEST(whole.status == 0, whole.printed());
  BOOST_TEST(whole.output.find("2 components, 2 files, as in the map") != std::string::npos,
             whole.output);

  const ProgramEnd other = bill_of("libnone.a");
  BOOST_TEST(other.status == 1);
  BOOST_TEST(
      other.errors.find("liba.a is in the program, and not in the bill") != std::string::npos,
      other.errors);
  BOOST_TEST(other.errors.find("no byte of libnone.a is in the program") != std::string::npos,
             other.errors);
}

BOOST_AUTO_TEST_CASE(where_two_programs_differ_is_named_by_section) {
  const TemporaryFolder folder;
  const std::string first = (folder / "first").string();
  const std::string second = (folder / "second").string();
  fs::copy_file("/bin/true", first);
  const ProgramEnd changed =
      run_program({.argv = {"objcopy", "--remove-section", ".comment", "--add-section",
                            ".added=/etc/hostname", first, second}});
  BOOST_TEST_REQUIRE(changed.status == 0, changed.printed());

  const ProgramEnd end = run_script({"differing_sections.py", first, second});

  BOOST_TEST(end.status == 0, end.printed());
  BOOST_TEST(end.output.find("  .added: in the second one alone\n") != std::string::npos,
             end.output);
  BOOST_TEST(end.output.find("  .text:") == std::string::npos, end.output);
}

BOOST_AUTO_TEST_SUITE_END()
