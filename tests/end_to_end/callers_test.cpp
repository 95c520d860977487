#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const Caller kRefused{.name = "without namespaces", .namespaces = false};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(callers)

BOOST_AUTO_TEST_CASE(without_namespaces_the_run_says_so_and_works_on_a_copy) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b >> a.txt"}).next().message("done"),
                    "policy: auto\nverify: ['grep b a.txt']\n");

  const ProgramEnd end = folder.run_as(kRefused);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "sandbox: namespaces: "), end.errors);
  BOOST_TEST(holds(end.errors, "isolation: copy (overlay: "), end.errors);
  const Json result = folder.result();
  BOOST_TEST(result["isolation"].string_at("mode") == "copy");
  BOOST_TEST(holds(result["isolation"].string_at("reason"), "namespaces"));
  BOOST_TEST(!result["layers"]["namespaces"].boolean(true));
  BOOST_TEST(result["layers"]["seccomp"].boolean());
  BOOST_TEST(result["layers"].integer_at("landlock_abi") > 0);
  BOOST_REQUIRE(!result["layers"]["missing"].items().empty());
  BOOST_TEST(result["layers"]["missing"].items().front().text().starts_with("namespaces: "));
  for (const char* guarantee : {"writes", "secrets", "network"})
    BOOST_TEST(result["guarantees"][guarantee]["proved"].boolean(), guarantee);
  BOOST_TEST(holds(folder.artifact("changes.diff"), "+b"));
  BOOST_TEST(!std::filesystem::exists(folder.out() / "state"));
}

BOOST_AUTO_TEST_CASE(an_isolation_asked_for_by_name_is_never_another_in_silence) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), "policy: auto\n");

  const ProgramEnd end = folder.run_as(kRefused, folder.start({"--isolation", "overlay"}));

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(holds(end.errors, "--isolation overlay does not work here: namespaces"), end.errors);
  BOOST_TEST(holds(end.errors, "--isolation copy"), end.errors);
  BOOST_TEST(folder.result().string_at("status") == "environment");
}

BOOST_AUTO_TEST_CASE(without_namespaces_out_inside_the_workspace_is_kept_apart_too) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "ls sortie-out | grep . ; echo b > b"})
                        .next()
                        .patch("*** Begin Patch\n*** Add File: sortie-out/x\n+x\n*** End Patch\n")
                        .next()
                        .message("done"),
                    "policy: auto\n");

  const ProgramEnd end =
      folder.run_as(kRefused, folder.start({"--out", folder.path("work/sortie-out").string()}));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(!std::filesystem::exists(folder.path("work/sortie-out/x")));
  BOOST_TEST(!std::filesystem::exists(folder.path("work/b")));
}

// Files of root in a user's tree would lock the user out of them.
BOOST_AUTO_TEST_CASE(what_root_runs_in_a_users_folder_belongs_to_the_user) {
  if (::getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: giving files to another user needs root");
    return;
  }
  for (const bool namespaces : {true, false}) {
    BOOST_TEST_CONTEXT((namespaces ? "with" : "without") << " namespaces") {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      give_to(folder.workspace(), 1000);
      folder.write_task(
          CassetteWriter()
              .shell({"sh", "-c", "id -u; touch made; mkdir f; echo b >> a.txt"})
              .patch("*** Begin Patch\n*** Add File: g/patched\n+x\n*** Update File: a.txt\n"
                     "@@\n a\n-b\n+c\n*** End Patch\n")
              .shell({"stat", "-c", "%u:%g", "a.txt", "made", "f", "g", "g/patched", "."})
              .next()
              .message("done"),
          "policy: auto\n");

      const ProgramEnd end = folder.run_as({.namespaces = namespaces});

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(folder.output(0), "1000\n"), folder.output(0));
      BOOST_TEST(holds(folder.output(2),
                       "1000:1000\n1000:1000\n1000:1000\n1000:1000\n1000:1000\n1000:1000"),
                 folder.output(2));
      BOOST_TEST(holds(folder.artifact("changes.diff"), "+++ b/g/patched"));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_policys_home_is_the_callers_with_namespaces_and_without) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.write("home/data/notes", "shown\n");
      folder.write("home/.docker/config.json", "hidden\n");
      folder.write("policy.yaml",
                   "version: 1\nextends: auto\npaths: {read: [~/data, ~/.docker]}\n");
      const std::string home = folder.path("home").string();
      folder.write_task(CassetteWriter()
                            .shell({"cat", home + "/data/notes"})
                            .next()
                            .shell({"cat", home + "/.docker/config.json"})
                            .next()
                            .message("done"),
                        "policy: policy.yaml\nexpect: {changes: any}\n");
      ProgramStart start = folder.start();
      start.argv.insert(start.argv.begin(), {"/usr/bin/env", "HOME=" + home});

      const ProgramEnd end = folder.run_as(caller, start);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(folder.output(0) == "shown\n");
      BOOST_TEST(folder.output(1).find("hidden") == std::string::npos, folder.output(1));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
