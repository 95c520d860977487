// The whole program under the preset auto against every attempt that succeeds without it, for each
// caller; and the ways out that are no single call: what a command leaves behind or lets grow.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "tests/policies/sandbox/scene.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// A repository in the scene's workspace, whose hooks folder is still to be made.
void make_workspace(const Scene& scene) {
  fs::remove_all(scene.workspace() / ".git");
  const std::string git = "git -C '" + scene.workspace().string() +
                          "' -c safe.directory='*' -c user.name=t -c user.email=t@example.com ";
  const std::string line = git + "init -q -b main && " + git + "commit -q --allow-empty -m start";
  BOOST_REQUIRE(std::system(line.c_str()) == 0);
  fs::remove_all(scene.workspace() / ".git/hooks");
  if (::geteuid() == 0) give_to(scene.workspace(), scene.owner());
}

/// @param readable  beyond the tools
void write_escape_task(const RunFolder& folder, const Scene& scene, const CassetteWriter& cassette,
                       const std::string& readable = {}) {
  cassette.save(folder.path("cassette.jsonl"));
  const std::string workspace = write_json(scene.workspace().string());
  folder.write("policy.yaml", "version: 1\nextends: [auto]\npaths: {read: [" +
                                  write_json(scene.tools().string()) +
                                  (readable.empty() ? "" : ", " + write_json(readable)) +
                                  "]}\nbounds: {workspace: [" + workspace + "]}\n");
  folder.write("task.yaml", "version: 1\nprompt: Do it.\nworkspace: {path: " + workspace +
                                "}\nmodel: {provider: replay, cassette: cassette.jsonl}\n"
                                "policy: policy.yaml\nexpect: {changes: any}\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(escapes)

BOOST_AUTO_TEST_CASE(no_attempt_gets_out_of_the_program) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const Scene scene(caller.uid.value_or(::geteuid()));
      make_workspace(scene);
      const std::vector<std::string> possible = possible_attempts(scene, caller.namespaces);
      std::vector<std::string> argv = {scene.tools() / "escape", to_text(scene.ground())};
      argv.insert(argv.end(), possible.begin(), possible.end());
      const RunFolder folder;
      write_escape_task(folder, scene, CassetteWriter().shell(argv).next().message("done"));
      const auto outside = read_tree(scene.ground().outside);
      const auto inside = read_tree(scene.workspace());

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST_MESSAGE(caller.name << ": " << possible.size() << " attempts");
      BOOST_TEST(possible.size() >= (::geteuid() == 0 ? 120u : 70u));
      BOOST_TEST(end.status == 0, end.errors);
      const std::string output = folder.output(0);
      BOOST_TEST(("\n" + output).ends_with("\ntried " + std::to_string(possible.size()) + "\n"),
                 output);
      BOOST_TEST(folder.records("tool.output").at(0)["success"].boolean(), output);
      for (const std::string& name : possible)
        BOOST_TEST(("\n" + output).find("\n" + name + "\n") == std::string::npos, name);
      BOOST_TEST((read_tree(scene.ground().outside) == outside));
      BOOST_TEST((read_tree(scene.workspace()) == inside));
      BOOST_TEST(folder.artifact("changes.diff") == "");
    }
  }
}

// A mount that is read-only keeps nobody from connecting.
BOOST_AUTO_TEST_CASE(a_socket_in_a_readable_folder_is_out_of_reach) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const Scene scene(caller.uid.value_or(::geteuid()));
      make_workspace(scene);
      const RunFolder folder;
      const std::vector<std::string> argv = {scene.tools() / "escape", "connect_socket_file",
                                             to_text(scene.ground())};
      write_escape_task(folder, scene, CassetteWriter().shell(argv).next().message("done"),
                        scene.ground().outside);
      BOOST_TEST(in_child(scene.owner(), [&] {
                   return escape::run_attempt("connect_socket_file", scene.ground());
                 }).code == 0);

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(!folder.records("tool.output").at(0)["success"].boolean(true));
      if (caller.namespaces) {
        const std::string output = folder.output(0);
        BOOST_TEST(output.find("connect_socket_file: 13") != std::string::npos, output);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
