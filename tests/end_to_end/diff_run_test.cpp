// Diffs of whole runs: hostile repositories, large files, git-lfs, and disks that fill up.
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

std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat status {};
    ::lstat(entry.path().c_str(), &status);
    std::string text = std::to_string(status.st_mode) + ' ' +
                       std::to_string(status.st_mtim.tv_sec) + '.' +
                       std::to_string(status.st_mtim.tv_nsec);
    if (S_ISREG(status.st_mode)) text += ' ' + sha256_hex(read_file(entry.path()));
    files[entry.path().string()] = text;
  }
  return files;
}

void write_program(const fs::path& file, const std::string& script) {
  fs::create_directories(file.parent_path());
  write_file(file, "#!/bin/sh\n" + script + "\n", 0755);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diff_run)

BOOST_AUTO_TEST_CASE(nothing_of_a_hostile_repository_runs_and_its_git_folder_stays_as_it_was) {
  const RunFolder folder;
  folder.write("work/a.txt", "1\n");
  folder.write("work/b.bin", "b\n");
  folder.commit_workspace();
  const fs::path work = folder.workspace();
  const std::string marker = folder.path("marker").string();
  const std::string evil = folder.path("evil.sh").string();
  write_program(evil, "touch " + marker);
  git(work, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q",
             "--allow-empty", "-m", "second"});
  std::string more = "[include]\n\tpath = included\n[core]\n\tfsmonitor = " + evil +
                     "\n\thooksPath = " + folder.path("hooks").string() +
                     "\n\tattributesFile = " + folder.path("attributes").string() + "\n";
  for (const char* key : {"clean", "smudge", "process"})
    more += std::string("[filter \"evil\"]\n\t") + key + " = " + evil + "\n\trequired = true\n";
  more += "[diff]\n\texternal = " + evil + "\n[diff \"evil\"]\n\ttextconv = " + evil +
          "\n\tcommand = " + evil + "\n[merge \"evil\"]\n\tdriver = " + evil + "\n";
  write_file(work / ".git/included", "[core]\n\tpager = " + evil + "\n\teditor = " + evil + "\n");
  write_file(work / ".git/config", read_file(work / ".git/config") + more);
  write_file(folder.path("attributes"), "* filter=evil diff=evil merge=evil\n");
  write_file(work / ".git/info/attributes", "*.txt filter=evil diff=evil text eol=crlf\n");
  for (const char* hook : {"pre-commit", "post-checkout", "post-index-change", "pre-applypatch"}) {
    write_program(folder.path("hooks") / hook, evil);
    write_program(work / ".git/hooks" / hook, evil);
  }
  // HEAD replaced by its parent, and a graft.
  const auto commit = [&](const char* name) {
    std::string id = git(work, {"-c", "core.fsmonitor=false", "rev-parse", name});
    return id.substr(0, 40);
  };
  fs::create_directories(work / ".git/refs/replace");
  write_file(work / ".git/refs/replace" / commit("HEAD"), commit("HEAD~1") + "\n");
  write_file(work / ".git/info/grafts", commit("HEAD") + "\n");
  fs::remove(marker);
  CassetteWriter cassette;
  cassette.call("git_status", Json::object()).call("git_diff", Json::object()).next();
  cassette.shell({"sh", "-c", "echo 2 > a.txt; echo c > c.txt; chmod +x b.bin"}).next();
  cassette.call("git_status", Json::object()).call("git_diff", Json::object()).next();
  cassette.message("done");
  folder.write_task(cassette, "policy: auto\n");
  const auto before = files_below(work / ".git");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(!fs::exists(marker));
  BOOST_TEST((files_below(work / ".git") == before));
  const std::string diff = folder.artifact("changes.diff");
  for (const char* path : {"b/a.txt", "b/c.txt", "b/b.bin"})
    BOOST_TEST(diff.find(path) != std::string::npos, diff);
}

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
