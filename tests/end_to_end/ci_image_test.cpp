// sortie in the image of ci/docker: any user id, no HOME, a read-only root.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
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

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_image)

BOOST_AUTO_TEST_CASE(a_user_without_a_name_or_a_home_runs_a_task_on_a_read_only_root,
                     *boost::unit_test::precondition(can_mount)) {
  const std::string refuse = std::string(SORTIE_BINARY_DIR) + "/tests/support/refuse_namespaces";
  for (const bool namespaces : {true, false}) {
    BOOST_TEST_CONTEXT((namespaces ? "with namespaces" : "without")) {
      const RunFolder folder;
      folder.write("work/answer.txt", "wrong\n");
      folder.write("work/task.yaml",
                   "version: 1\nprompt: Do it.\npolicy: auto\nverify: [grep -q right answer.txt]\n"
                   "model: {provider: replay, cassette: cassette.jsonl}\n");
      CassetteWriter()
          .patch(
              "*** Begin Patch\n*** Update File: answer.txt\n@@\n-wrong\n+right\n*** End Patch\n")
          .next()
          .message("Corrected.")
          .save(folder.path("work/cassette.jsonl"));
      folder.commit_workspace();
      for (const char* name : {"root", "image-out"}) fs::create_directory(folder.path(name));
      BOOST_REQUIRE(::chown(folder.path("image-out").c_str(), 12345, 12345) == 0);
      std::vector<std::string> argv = {"unshare",
                                       "-m",
                                       "--propagation",
                                       "private",
                                       SORTIE_SOURCE_DIR "/tests/end_to_end/ci_image_root.sh",
                                       folder.path("root"),
                                       folder.workspace(),
                                       folder.path("image-out"),
                                       sortie_binary(),
                                       refuse,
                                       "--"};
      if (!namespaces) argv.push_back("refuse_namespaces");
      argv.insert(argv.end(), {"sortie", "run", "task.yaml", "--out", "/sortie-out"});

      const Said said = run_program(argv, folder.path(""));

      BOOST_TEST(said.status == 0, said.output);
      const Json result = parse_json(read_file(folder.path("image-out/result.json")));
      BOOST_TEST(result.string_at("status") == "success");
      BOOST_TEST(read_file(folder.path("image-out/changes.diff")).find("\n+right\n") !=
                 std::string::npos);
      BOOST_TEST(read_file(folder.workspace() / "answer.txt") == "wrong\n");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
