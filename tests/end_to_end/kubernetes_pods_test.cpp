// The command lines of ci/kubernetes as its pods have them: a user without a name, no HOME, no
// capabilities, a read-only root. A cluster is not there; what a pod gets is made by hand.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/end_to_end/command_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

boost::test_tools::assertion_result can_mount(boost::unit_test::test_unit_id) {
  const bool can =
      ::geteuid() == 0 &&
      run_program({.argv = {"unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"}}).status == 0;
  boost::test_tools::assertion_result result(can);
  if (!can) result.message() << "only root, with the right to mount, can make such a root";
  return result;
}

/// The `args` of the container "sortie" in a file of ci/kubernetes: a list in a line, or a line each.
std::vector<std::string> args_of(const std::string& name) {
  const std::string text = read_file(fs::path(SORTIE_SOURCE_DIR) / "ci/kubernetes" / name);
  const std::size_t at = text.find("args:", text.find("command: [sortie]"));
  BOOST_TEST_REQUIRE(at != std::string::npos);
  std::vector<std::string> args;
  const std::string_view rest = std::string_view(text).substr(at + 5);
  if (trimmed(rest.substr(0, rest.find('\n'))).empty()) {
    for (const auto line : split_lines(rest.substr(rest.find('\n') + 1))) {
      if (!trimmed(line).starts_with("- ") || !line.starts_with("            ")) break;
      args.emplace_back(trimmed(line).substr(2));
    }
    return args;
  }
  std::string word;
  for (const char c : rest.substr(0, rest.find(']'))) {
    if (c != ',' && c != '[' && c != ' ') word += c;
    if (c == ',') args.push_back(std::move(word)), word.clear();
  }
  args.push_back(word);
  return args;
}

/// A project with a batch of three tasks, and the folder that all pods write to.
class Pods {
 public:
  Pods() {
    for (int n = 1; n <= 3; ++n) {
      const std::string number = std::to_string(n);
      folder_.write("work/.sortie/" + number + ".yaml",
                    "version: 1\nprompt: Do it.\npolicy: auto\nworkspace: {path: ..}\n"
                    "model: {provider: replay, cassette: " +
                        number + ".jsonl}\n");
      CassetteWriter()
          .patch("*** Begin Patch\n*** Add File: " + number + ".txt\n+" + number + "\n*** End Patch\n")
          .next()
          .message("Done.")
          .save(folder_.path("work/.sortie/" + number + ".jsonl"));
    }
    folder_.write("work/.sortie/batch.yaml", "version: 1\ntasks: [1.yaml, 2.yaml, 3.yaml]\n");
    folder_.write("work/key", "sk-of-a-secret-0123456789\n");
    folder_.commit_workspace();
    for (const char* name : {"root", "volume"}) fs::create_directory(folder_.path(name));
    BOOST_TEST_REQUIRE(::chown(folder_.path("volume").c_str(), 12345, 12345) == 0);
  }
  /// `sortie` with these words in a pod; with its place in the Job, if it has one.
  ProgramEnd run(std::vector<std::string> words, const std::string& index) const {
    const std::string script = SORTIE_SOURCE_DIR "/tests/end_to_end/ci_image_root.sh";
    ProgramStart start{.argv = {"unshare", "-m", "--propagation", "private", script,
                                folder_.path("root").string(), folder_.workspace().string(),
                                folder_.path("volume").string(), sortie_binary(), "--", "env",
                                "JOB_COMPLETION_INDEX=" + index, "SORTIE_SHARDS=2", "sortie"}};
    for (std::string& word : words)
      if (word == "--api-key-file=/run/secrets/sortie/key") word = "--api-key-file=/work/key";
    start.argv.insert(start.argv.end(), words.begin(), words.end());
    return run_program(start);
  }
  std::string file(const std::string& name) const {
    return read_file(folder_.path("volume") / name);
  }

 private:
  RunFolder folder_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(kubernetes_pods)

BOOST_AUTO_TEST_CASE(the_pods_of_a_job_run_a_batch_and_the_last_one_merges_it,
                     *boost::unit_test::precondition(can_mount)) {
  const Pods pods;
  const auto batch = args_of("batch.yaml");
  BOOST_TEST_REQUIRE(batch.size() == 6u);

  const ProgramEnd first = pods.run(batch, "0");
  const ProgramEnd early = pods.run(args_of("merge.yaml"), "");
  const ProgramEnd second = pods.run(batch, "1");
  const ProgramEnd again = pods.run(batch, "1");
  const ProgramEnd merged = pods.run(args_of("merge.yaml"), "");

  BOOST_TEST(first.status == 0, first.printed());
  BOOST_TEST(early.status == 1, early.printed());
  BOOST_TEST(holds(early.errors, "missing"), early.errors);
  for (const ProgramEnd* end : {&second, &again, &merged})
    BOOST_TEST(end->status == 0, end->printed());
  int rows = 0;
  const std::string results = pods.file("batch/results.jsonl");
  for (const auto line : split_lines(results))
    rows += holds(std::string(line), "\"success\"") ? 1 : 0;
  BOOST_TEST(rows == 3);
}

BOOST_AUTO_TEST_SUITE_END()
