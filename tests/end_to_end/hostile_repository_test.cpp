// A repository whose configuration, attributes, hooks and references name programs: no command of
// sortie runs one, and none changes its `.git`.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <string>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

using Arguments = std::vector<std::string>;

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

/// Each key of git's that names a program, with one that leaves a mark.
std::string programs_of(const std::string& evil) {
  const struct {
    const char* section;
    const char* keys;
  } rows[] = {
      {"core", "fsmonitor sshCommand gitProxy askPass pager editor alternateRefsCommand"},
      {"credential", "helper"},
      {"credential \"https://example.org\"", "helper"},
      {"diff", "external tool"},
      {"diff \"evil\"", "textconv command"},
      {"difftool \"evil\"", "cmd"},
      {"merge", "tool"},
      {"merge \"evil\"", "driver"},
      {"mergetool \"evil\"", "cmd"},
      {"gpg", "program"},
      {"gpg \"ssh\"", "program defaultKeyCommand"},
      {"sequence", "editor"},
      {"interactive", "diffFilter"},
      {"uploadpack", "packObjectsHook"},
      {"trailer \"evil\"", "command cmd"},
      {"pager", "diff status log show branch"},
      {"web", "browser"},
      {"sendemail", "smtpServer toCmd"},
      {"remote \"origin\"", "uploadpack receivepack vcs"},
  };
  std::string text;
  for (const auto& row : rows) {
    text += "[" + std::string(row.section) + "]\n";
    std::string word;
    for (const char c : row.keys + std::string(" ")) {
      if (c != ' ') {
        word += c;
        continue;
      }
      text += "\t" + word + " = " + evil + "\n";
      word.clear();
    }
  }
  for (const char* filter : {"evil", "lfs"})
    for (const char* key : {"clean", "smudge", "process"})
      text += "[filter \"" + std::string(filter) + "\"]\n\t" + key + " = " + evil +
              "\n\trequired = true\n";
  for (const char* command : {"status", "diff", "apply", "rev-parse", "log", "x"})
    text += "[alias]\n\t" + std::string(command) + " = !" + evil + "\n";
  // An object that is missing would be fetched.
  return text + "[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = ext::" + evil +
         "\n\tpromisor = true\n[protocol \"ext\"]\n\tallow = always\n[submodule \"s\"]\n\turl = ext::" +
         evil + "\n\tupdate = !" + evil + "\n\tactive = true\n[commit]\n\tgpgSign = true\n";
}

/// Turns the workspace, a repository, into a hostile one.
/// @return  the file that each of its programs makes
fs::path make_hostile(const RunFolder& folder) {
  const fs::path work = folder.workspace();
  const fs::path marker = folder.path("marker");
  const std::string evil = folder.path("evil.sh").string();
  write_program(evil, "echo \"$0 $*\" >> " + marker.string());
  git(work, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q",
             "--allow-empty", "-m", "second"});
  const auto commit = [&](const char* name) {
    return git(work, {"rev-parse", name}).substr(0, 40);
  };
  const std::string head = commit("HEAD");
  const std::string parent = commit("HEAD~1");
  write_file(work / ".git/included", programs_of(evil));
  write_file(folder.path("included"), programs_of(evil));
  write_file(
      work / ".git/config",
      read_file(work / ".git/config") + "[include]\n\tpath = included\n\tpath = " +
          folder.path("included").string() + "\n[includeIf \"gitdir:**\"]\n\tpath = included\n" +
          "[core]\n\thooksPath = " + folder.path("hooks").string() +
          "\n\tattributesFile = " + folder.path("attributes").string() + "\n" + programs_of(evil));
  write_file(folder.path("attributes"), "* filter=evil diff=evil merge=evil\n");
  write_file(work / ".git/info/attributes", "*.txt filter=evil diff=evil text eol=crlf\n");
  for (const char* hook :
       {"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout",
        "post-index-change", "pre-applypatch", "applypatch-msg", "post-applypatch",
        "reference-transaction", "post-update", "update", "pre-auto-gc", "fsmonitor-watchman"}) {
    write_program(folder.path("hooks") / hook, evil);
    write_program(work / ".git/hooks" / hook, evil);
  }
  // HEAD replaced by its parent, and a graft.
  fs::create_directories(work / ".git/refs/replace");
  write_file(work / ".git/refs/replace" / head, parent + "\n");
  write_file(work / ".git/info/grafts", head + "\n");
  return marker;
}

CassetteWriter changes() {
  CassetteWriter cassette;
  cassette.call("git_status", Json::object()).call("git_diff", Json::object()).next();
  cassette.shell({"sh", "-c", "echo 2 > a.txt; echo c > c.txt; chmod +x b.bin"}).next();
  cassette.call("git_status", Json::object()).call("git_diff", Json::object()).next();
  cassette.message("done");
  return cassette;
}

ProgramEnd command(const RunFolder& folder, const Arguments& arguments) {
  ProgramStart start;
  start.argv = {sortie_binary()};
  start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
  start.folder = folder.workspace();
  start.environment = {{"OPENAI_API_KEY", "k"}};
  return run_program(start);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_repository)

BOOST_AUTO_TEST_CASE(nothing_of_a_hostile_repository_runs_and_its_git_folder_stays_as_it_was) {
  const struct {
    const char* name;
    std::vector<std::string> flags;  ///< of the run
    Arguments then = {};             ///< another command after it; OUT is the run's folder
    bool makes_commit = false;
  } rows[] = {
      {"run", {}},
      {"run with a copy", {"--isolation", "copy"}},
      {"run in the tree itself", {"--isolation", "none"}},
      {"run --apply", {"--apply"}},
      {"land", {}, {"land", "OUT", "--policy", "auto"}},
      {"land --three-way", {}, {"land", "OUT", "--policy", "auto", "--three-way"}},
      {"land --onto", {}, {"land", "OUT", "--policy", "auto", "--onto", "other"}, true},
      {"verify -C", {}, {"verify", "OUT", "-C", "."}},
      {"replay", {}, {"replay", "OUT"}},
      {"doctor", {}, {"doctor"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "1\n");
      folder.write("work/b.bin", "b\n");
      folder.commit_workspace();
      const fs::path work = folder.workspace();
      git(work, {"branch", "other"});
      const fs::path marker = make_hostile(folder);
      run_program({"git", "status"}, work);
      BOOST_REQUIRE(fs::exists(marker));  // git itself runs one
      fs::remove(marker);
      folder.write_task(changes(), "policy: auto\n");
      const auto before = files_below(work / ".git");

      const ProgramEnd end = folder.run(row.flags);

      BOOST_TEST(end.status == 0, end.errors);
      const std::string diff = folder.artifact("changes.diff");
      for (const char* path : {"b/a.txt", "b/c.txt", "b/b.bin"})
        BOOST_TEST(diff.find(path) != std::string::npos, diff);
      BOOST_TEST(!fs::exists(marker));
      BOOST_TEST((files_below(work / ".git") == before));
      if (row.then.empty()) continue;
      Arguments then = row.then;
      std::replace(then.begin(), then.end(), std::string("OUT"), folder.out().string());
      const ProgramEnd next = command(folder, then);
      BOOST_TEST(next.status == 0, next.errors);
      BOOST_TEST(!fs::exists(marker));
      if (!row.makes_commit) BOOST_TEST((files_below(work / ".git") == before));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
