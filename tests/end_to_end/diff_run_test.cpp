// Diffs of whole runs: large files, git-lfs, and disks that fill up.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <string>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

CassetteWriter script_run(const std::string& script) {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", script}).next().message("done");
  return cassette;
}

bool warns(const Json& result, const std::string& text) {
  for (const Json& warning : result["warnings"].items())
    if (warning.text().find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diff_run)

BOOST_AUTO_TEST_CASE(a_policy_may_have_large_files_reported) {
  const RunFolder folder;
  folder.write("work/gone", std::string(3000, 'g'));
  folder.commit_workspace();
  folder.write("policy.yaml",
               "version: 1\nextends: auto\nlimits: {diff_file_size: 2KB, on_large_file: report}\n");
  folder.write_task(script_run("yes | head -c 5000 > large; echo s > small; rm gone"),
                    "policy: policy.yaml\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const Json result = folder.result();
  std::vector<std::string> left_out;
  for (const Json& one : result["left_out"].items())
    left_out.push_back(one.string_at("reason") + " " + one.string_at("path") + " " +
                       one.string_at("detail"));
  const std::string large = folder.artifact("kept/large");
  BOOST_TEST(left_out == (std::vector<std::string>{
                             "too-large gone deleted",
                             "too-large large sha256:" + sha256_hex(large) + " 5000"}),
             boost::test_tools::per_element());
  BOOST_TEST(large.size() == 5000u);
  BOOST_TEST(warns(result, "too large for the diff, which lacks them: gone, large"));
  BOOST_TEST(folder.artifact("changes.diff").find("b/small") != std::string::npos);
  BOOST_TEST(verify_run(folder.out()).ok);
}

BOOST_AUTO_TEST_CASE(a_task_may_have_files_of_git_lfs_in_the_diff) {
  const RunFolder folder;
  folder.write("work/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  folder.write("work/a.bin", "the file\n");
  folder.commit_workspace();
  folder.write_task(script_run("echo changed > a.bin"),
                    "policy: auto\noutput: {diff: {lfs: true}}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(warns(folder.result(), "files of git-lfs are in the diff"));
  // As in a clone of somebody who has git-lfs.
  git(folder.workspace(), {"config", "filter.lfs.clean", "false"});
  git(folder.workspace(), {"config", "filter.lfs.required", "true"});
  git(folder.workspace(),
      {"-c", "filter.lfs.clean=", "-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c",
       "filter.lfs.required=false", "apply", (folder.out() / "changes.diff").string()});
  BOOST_TEST(read_file(folder.workspace() / "a.bin") == "changed\n");
}

BOOST_AUTO_TEST_CASE(a_disk_that_fills_up_at_any_write_tears_nothing) {
  const RunFolder folder;
  folder.write("work/a.txt", "1\n");
  folder.commit_workspace();
  folder.write_task(script_run("yes line | head -c 100000 > new"), "policy: auto\n");
  fs::create_directory(folder.path("full"));
  const char* const steps = std::getenv("SORTIE_DISKS");
  const int count = steps == nullptr ? 8 : std::atoi(steps);
  constexpr int kMostBytes = 640 << 10;  // a run of this needs less
  int ended_full = 0;
  for (int i = 1; i <= count; ++i) {
    const int size = kMostBytes / count * i / 4096 * 4096;
    const std::string script =
        "mount -t tmpfs -o size=" + std::to_string(size) +
        " none full || exit 99; rm -rf seen; \"$0\" run task.yaml --out full/out; status=$?; "
        "cp -r full/out seen; mount -o remount,size=64m full || exit 98; "
        "\"$0\" run task.yaml --out full/out --fresh > again 2>&1 || exit 97; "
        "\"$0\" verify full/out > again 2>&1 || exit 96; exit $status";
    const ProgramEnd end =
        run_program({.argv = {"unshare", "-rm", "sh", "-c", script, sortie_binary()},
                     .folder = folder.path("")});
    if (end.status == 99 || end.errors.find("unshare:") != std::string::npos) {
      BOOST_TEST_MESSAGE("skipped: no file system can be mounted here: " << end.errors);
      return;
    }
    BOOST_TEST_CONTEXT(size << " bytes: " << end.errors) {
      const fs::path seen = folder.path("seen");
      BOOST_TEST((end.status == 0 || end.status == 7), end.status);
      if (end.status != 0) {
        ++ended_full;
        BOOST_TEST(end.errors.find("No space left on device") != std::string::npos);
      }
      if (fs::exists(seen / "result.json")) {
        const std::string status = parse_json(read_file(seen / "result.json")).string_at("status");
        BOOST_TEST((status == "running" || status == (end.status == 0 ? "success" : "environment")),
                   status);
      }
      BOOST_TEST(fs::exists(seen / "changes.diff") == (end.status == 0));
      if (fs::exists(seen / "transcript.jsonl") && fs::file_size(seen / "transcript.jsonl") > 0) {
        const VerifyResult verified = verify_run(seen);
        BOOST_TEST((verified.ok || !verified.finished), verified.problem);
      }
    }
  }
  BOOST_TEST(ended_full > 0);
  BOOST_TEST(ended_full < count);
}

BOOST_AUTO_TEST_SUITE_END()
