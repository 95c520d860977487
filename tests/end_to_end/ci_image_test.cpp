// sortie in the image of ci/docker: any user id, no HOME, a read-only root.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "tests/end_to_end/ci_step.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

boost::test_tools::assertion_result can_mount(boost::unit_test::test_unit_id) {
  const bool can =
      ::geteuid() == 0 &&
      run_program({"unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"}, "/").status == 0;
  boost::test_tools::assertion_result result(can);
  if (!can) result.message() << "only root, with the right to mount, can make such a root";
  return result;
}

void write_project(const RunFolder& folder) {
  folder.write("work/answer.txt", "wrong\n");
  CassetteWriter()
      .patch("*** Begin Patch\n*** Update File: answer.txt\n@@\n-wrong\n+right\n*** End Patch\n")
      .next()
      .message("Corrected.")
      .save(folder.path("work/cassette.jsonl"));
  folder.commit_workspace();
}

std::string task_of(const std::string& prompt) {
  return "version: 1\nprompt: " + prompt +
         "\npolicy: auto\nverify: [grep -q right answer.txt]\n"
         "model: {provider: replay, cassette: cassette.jsonl}\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_image)

BOOST_AUTO_TEST_CASE(
    a_user_without_a_name_or_a_home_runs_a_task_on_a_read_only_root_again_and_again,
    *boost::unit_test::precondition(can_mount)) {
  const std::string refuse = std::string(SORTIE_BINARY_DIR) + "/tests/support/refuse_namespaces";
  for (const bool namespaces : {true, false}) {
    BOOST_TEST_CONTEXT((namespaces ? "with namespaces" : "without")) {
      const RunFolder folder;
      const fs::path project = folder.path("a:b, \"c\"/project");
      const fs::path out = folder.path("a:b, \"c\"/sortie-out");
      write_project(folder);
      for (const char* name : {"root", "bin"}) fs::create_directory(folder.path(name));
      fs::create_directories(out);
      fs::rename(folder.workspace(), project);
      BOOST_REQUIRE(::chown(out.c_str(), 12345, 12345) == 0);
      fs::create_symlink(SORTIE_SOURCE_DIR "/tests/end_to_end/ci_docker.py",
                         folder.path("bin/docker"));
      const std::map<std::string, std::string> variables = {
          {"PATH", folder.path("bin").string() + ":" + std::getenv("PATH")},
          {"SORTIE_TEST_ROOT", folder.path("root").string()},
          {"SORTIE_TEST_PROGRAMS", sortie_binary() + ":" + refuse},
          {"SORTIE_TEST_PREFIX", namespaces ? "" : "refuse_namespaces"}};

      for (const char* prompt : {"Do it.", "Do it once more."}) {
        folder.write("a:b, \"c\"/project/task.yaml", task_of(prompt));
        const Said said =
            run_program({SORTIE_SOURCE_DIR "/ci/docker/run.sh", "task.yaml", "--reuse", "none"},
                        project, variables);

        BOOST_TEST(said.status == 0, said.output);
        const Json result = parse_json(read_file(out / "run/result.json"));
        BOOST_TEST(result.string_at("status") == "success");
        BOOST_TEST(read_file(out / "run/changes.diff").find("\n+right\n") != std::string::npos);
        BOOST_TEST(read_file(project / "answer.txt") == "wrong\n");
      }
      BOOST_TEST(fs::exists(out / "run.prev/result.json"));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_out_folder_that_is_a_mount_point_is_refused_before_anything_is_moved,
                     *boost::unit_test::precondition(can_mount)) {
  const RunFolder folder;
  write_project(folder);
  folder.write("work/task.yaml", task_of("Do it."));
  fs::create_directory(folder.path("image-out"));
  const auto run = [&folder](const std::string& flags) {
    return run_program(
        {"unshare", "-m", "--propagation", "private", "sh", "-c",
         "mount --bind \"$1\" \"$1\" && exec \"$2\" run task.yaml --out \"$1\" " + flags, "sh",
         folder.path("image-out").string(), sortie_binary()},
        folder.workspace());
  };
  BOOST_REQUIRE(run("").status == 0);
  const auto files = [&folder] {
    auto found = read_tree(folder.path("image-out"));
    found.erase(".lock");  // of the last one who looked
    return found;
  };
  const auto before = files();

  const Said again = run("--reuse none");

  BOOST_TEST(again.status == 2);
  BOOST_TEST(again.output.find("image-out: is a mount point, so the earlier run can't be moved") !=
                 std::string::npos,
             again.output);
  BOOST_TEST((files() == before));
  BOOST_TEST(run("--fresh").status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
