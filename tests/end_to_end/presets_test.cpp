#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;
using Argv = std::vector<std::string>;

/// A project of a kind (tests/data/projects), whose one test fails until it is mended.
struct Kind {
  const char* preset;
  Argv needs;              ///< programs; not all there: the row is left out
  std::vector<Argv> test;  ///< what the agent runs before and after its patch: allowed
  const char* file;        ///< what it mends
  const char* before;
  const char* after;
  const char* verify;
  Argv denied;  ///< the same toolchain, with an option that the preset excludes
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> rows = {
      {"python",
       {"python3"},
       {{"python3", "-m", "unittest", "-q"}},
       "slug/__init__.py",
       "    return title.lower()",
       "    return title.lower().replace(\" \", \"-\")",
       "python3 -m unittest -q",
       {"python3", "-c", "print(1)"}},
      {"node",
       {"node"},
       {{"node", "--test"}},
       "slug.js",
       "export const slug = (title) => title.toLowerCase();",
       "export const slug = (title) => title.toLowerCase().replaceAll(\" \", \"-\");",
       "node --test",
       {"node", "--test", "--require", "./evil.js"}},
      {"node",
       {"node", "npm"},
       {{"npm", "test"}},
       "slug.js",
       "export const slug = (title) => title.toLowerCase();",
       "export const slug = (title) => title.toLowerCase().replaceAll(\" \", \"-\");",
       "npm test",
       {"npm", "test", "--script-shell=./evil"}},
      {"rust",
       {"cargo"},
       {{"cargo", "test", "-q", "--offline"}},
       "src/lib.rs",
       "    title.to_lowercase()",
       "    title.to_lowercase().replace(' ', \"-\")",
       "cargo test -q --offline",
       {"cargo", "run", "--config", "a=b"}},
      {"go",
       {"go"},
       {{"go", "test", "./..."}},
       "slug.go",
       "\treturn strings.ToLower(title)",
       "\treturn strings.ReplaceAll(strings.ToLower(title), \" \", \"-\")",
       "go test ./...",
       {"go", "test", "-exec", "./evil", "./..."}},
      {"jvm",
       {"javac", "java"},
       {{"javac", "-d", "out", "src/Slug.java", "src/SlugTest.java"}},
       "src/Slug.java",
       "        return title.toLowerCase();",
       "        return title.toLowerCase().replace(' ', '-');",
       "javac -d out src/Slug.java src/SlugTest.java && java -cp out SlugTest",
       {"javac", "-J-javaagent:evil.jar", "src/Slug.java"}},
      {"cpp",
       {"make", "g++", "cmake"},
       {{"cmake", "-S", ".", "-B", "build"},
        {"cmake", "--build", "build"},
        {"ctest", "--test-dir", "build"},
        {"make", "-s", "test"}},
       "slug.cpp",
       "  return title;",
       "  for (char& c : title) c = c == ' ' ? '-' : c;\n+  return title;",
       "make -s test",
       {"make", "SHELL=./evil", "test"}},
  };
  return rows;
}

bool installed(const std::string& program) {
  return run_program({.argv = {"/bin/sh", "-c", "command -v " + program}}).status == 0;
}

CassetteWriter mending(const Kind& kind) {
  CassetteWriter cassette;
  cassette.shell({"bash", "-lc", "ls -la && cat " + std::string(kind.file) + " | head -40"}).next();
  for (const Argv& argv : kind.test) cassette.shell(argv).next();
  cassette
      .patch("*** Begin Patch\n*** Update File: " + std::string(kind.file) + "\n@@\n-" +
             kind.before + "\n+" + kind.after + "\n*** End Patch\n")
      .next();
  cassette.shell(kind.denied).next();
  for (const Argv& argv : kind.test) cassette.shell(argv).next();
  cassette.call("run_tests", Json::object()).next();
  cassette.message("Blanks become dashes.");
  return cassette;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(presets)

BOOST_AUTO_TEST_CASE(each_kind_of_project_is_read_built_tested_and_mended_under_strict) {
  int tried = 0;
  for (const Kind& kind : kinds()) {
    BOOST_TEST_CONTEXT(kind.preset) {
      bool there = true;
      for (const auto& program : kind.needs) there = there && installed(program);
      if (!there) {
        BOOST_TEST_MESSAGE(kind.preset << ": left out, " << kind.needs.front()
                                       << " and its like are not installed");
        continue;
      }
      ++tried;
      const RunFolder folder;
      fs::copy(fs::path(SORTIE_SOURCE_DIR) / "tests/data/projects" / kind.preset,
               folder.workspace(), fs::copy_options::recursive);
      folder.commit_workspace();
      folder.write("policy.yaml",
                   "version: 1\nextends: [strict, " + std::string(kind.preset) + "]\n");
      folder.write_task(mending(kind), "policy: policy.yaml\nverify:\n  commands: [" +
                                           write_json(Json(kind.verify)) + "]\n  before: fail\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == 0, end.errors);
      const auto approvals = folder.records("approval");
      const std::size_t tests = kind.test.size();
      BOOST_REQUIRE(approvals.size() == 2 * tests + 4);
      for (std::size_t i = 0; i < approvals.size(); ++i) {
        const bool refused = i == tests + 2;
        BOOST_TEST(approvals[i].string_at("decision") == (refused ? "deny" : "allow"),
                   write_json(approvals[i]));
      }
      const auto outputs = folder.records("tool.output");
      BOOST_TEST(!outputs.at(tests + 2)["success"].boolean(true));
      for (std::size_t i = tests + 3; i < outputs.size(); ++i)
        BOOST_TEST(outputs[i]["success"].boolean(), write_json(outputs[i]));
      BOOST_TEST(folder.result()["verified"].boolean());
      BOOST_TEST(folder.artifact("changes.diff").find(kind.file) != std::string::npos);
    }
  }
  BOOST_TEST(tried >= 2);
}

BOOST_AUTO_TEST_CASE(files_are_moved_about_in_the_workspace_and_nowhere_else) {
  const RunFolder folder;
  const fs::path outside = folder.path("outside");
  fs::create_directories(outside);
  write_file(outside / "kept", "kept\n");
  write_file(folder.workspace() / "a.txt", "a\n");
  write_file(folder.workspace() / "old.txt", "old\n");
  fs::create_symlink(outside, folder.workspace() / "out");
  folder.commit_workspace();
  folder.write("policy.yaml", "version: 1\nextends: [strict, edit]\n");
  CassetteWriter cassette;
  const std::vector<Argv> works = {
      {"mkdir", "-p", "sub/deep"},      {"cp", "a.txt", "sub/deep/b.txt"},
      {"mv", "old.txt", "sub/new.txt"}, {"touch", "sub/empty"},
      {"chmod", "+x", "a.txt"},         {"rm", "-f", "sub/empty"},
      {"ln", "-s", "a.txt", "link"}};
  const std::vector<Argv> fails = {{"cp", "a.txt", "out/b.txt"}, {"rm", "out/kept"},
                                   {"mv", "out/kept", "kept"},   {"touch", ".git/hooks/pre-push"},
                                   {"rm", "-rf", ".git"},        {"mkdir", "out/x"}};
  const std::vector<Argv> denied = {
      {"cp", "/etc/passwd", "x"}, {"rm", "-rf", ".."}, {"ln", "-s", "/proc/self/environ", "x"}};
  for (const auto& list : {works, fails, denied})
    for (const Argv& argv : list) cassette.shell(argv).next();
  cassette.message("Done.");
  folder.write_task(cassette, "policy: policy.yaml\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const auto approvals = folder.records("approval");
  const auto outputs = folder.records("tool.output");
  BOOST_REQUIRE(approvals.size() == works.size() + fails.size() + denied.size());
  BOOST_REQUIRE(outputs.size() == approvals.size());
  for (std::size_t i = 0; i < approvals.size(); ++i) {
    const bool allowed = i < works.size() + fails.size();
    BOOST_TEST(approvals[i].string_at("decision") == (allowed ? "allow" : "deny"),
               write_json(approvals[i]));
    BOOST_TEST(outputs[i]["success"].boolean() == (i < works.size()), write_json(outputs[i]));
  }
  BOOST_TEST(read_file(outside / "kept") == "kept\n");
  BOOST_TEST(!fs::exists(outside / "b.txt"));
  BOOST_TEST(!fs::exists(outside / "x"));
  const std::string diff = folder.artifact("changes.diff");
  for (const char* part : {"sub/deep/b.txt", "sub/new.txt", "b/link", "new mode 100755"})
    BOOST_TEST(diff.find(part) != std::string::npos, part);
}

BOOST_AUTO_TEST_SUITE_END()
