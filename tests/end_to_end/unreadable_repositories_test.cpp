// Repositories in formats that libgit2 does not read: references in a reftable, unknown extensions,
// later versions. The run says so, and works on the files as without git; landing needs a repository.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Row {
  const char* name;
  std::vector<std::pair<const char*, const char*>> settings;
  const char* why;  ///< "" if it can be read
  bool by_hand = false;
};

const Row kRows[] = {
    {"a reftable by name alone",
     {{"core.repositoryformatversion", "1"}, {"extensions.refStorage", "reftable"}},
     "its references are stored as reftable, not as files"},
    {"a reftable by name alone, in format 0",
     {{"extensions.refStorage", "reftable"}},
     "its references are stored as reftable, not as files"},
    {"a reftable with its files",
     {{"core.repositoryformatversion", "1"}, {"extensions.refstorage", "ReFtable"}},
     "its references are stored as reftable, not as files",
     true},
    {"references as files, by name",
     {{"core.repositoryformatversion", "1"}, {"extensions.refStorage", "files"}},
     ""},
    {"an unknown extension",
     {{"core.repositoryformatversion", "1"}, {"extensions.foo", "bar"}},
     "it has the extension foo"},
    {"an unknown extension in format 0, which git ignores", {{"extensions.foo", "bar"}}, ""},
    {"a later version", {{"core.repositoryformatversion", "2"}}, "its format is version 2"},
    {"a version that is no number",
     {{"core.repositoryformatversion", "new"}},
     "its format is version new"},
    {"a configuration for each worktree",
     {{"core.repositoryformatversion", "1"}, {"extensions.worktreeConfig", "true"}},
     ""},
    {"ids of SHA-256 by name alone",
     {{"core.repositoryformatversion", "1"}, {"extensions.objectFormat", "sha256"}},
     "its object ids are sha256, not sha1"},
    {"ids of SHA-256 that can be SHA-1 too",
     {{"core.repositoryformatversion", "1"},
      {"extensions.objectFormat", "sha256"},
      {"extensions.compatObjectFormat", "sha1"}},
     "its object ids are sha256, not sha1"},
    {"ids of SHA-1 that can be SHA-256 too",
     {{"core.repositoryformatversion", "1"}, {"extensions.compatObjectFormat", "sha256"}},
     "it has the extension compatobjectformat"},
};

/// What git writes for `git init --ref-format=reftable`: HEAD and refs/heads are stand-ins.
void write_reftable(const fs::path& git) {
  write_file(git / "HEAD", "ref: refs/heads/.invalid\n");
  fs::remove_all(git / "refs");
  fs::create_directories(git / "refs");
  write_file(git / "refs/heads", "this repository uses the reftable format\n");
  fs::create_directories(git / "reftable");
  write_file(git / "reftable/tables.list", "0x000000000001-0x000000000001-0a1b2c3d.ref\n");
  write_file(git / "reftable/0x000000000001-0x000000000001-0a1b2c3d.ref",
             std::string("REFT\1\0\0\0", 8) + std::string(84, '\0'));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unreadable_repositories)

BOOST_AUTO_TEST_CASE(run_apply_replay_and_verify_work_and_land_says_why_it_can_not) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "one\n");
      folder.write("work/.gitignore", "*.log\n");
      folder.commit_workspace();
      const fs::path config = folder.workspace() / ".git/config";
      std::string text = read_file(config);  // git refuses to write to some of these
      for (const auto& [key, value] : row.settings) {
        const std::string name = key;
        const std::size_t dot = name.find('.');
        text += "[" + name.substr(0, dot) + "]\n\t" + name.substr(dot + 1) + " = " + value + "\n";
      }
      write_file(config, text);
      if (row.by_hand) write_reftable(folder.workspace() / ".git");
      const bool readable = std::string(row.why).empty();
      const auto before = read_tree(folder.workspace() / ".git");
      folder.write_task(
          CassetteWriter()
              .shell({"sh", "-c",
                      "echo two >> a.txt; echo n > new.txt; echo l > x.log; "
                      "echo evil >> .git/config; echo evil > .git/hooks/pre-commit; true"})
              .next()
              .message("done"),
          "policy: auto\nverify: [grep two a.txt]\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(end.errors, row.why), end.errors);
      BOOST_TEST(holds(end.errors, "as in a folder without git") == !readable, end.errors);
      const Json result = folder.result();
      BOOST_TEST(result.string_at("base") == (readable ? "head" : "start"));
      BOOST_TEST(result["head_commit"].is_null() == !readable);
      BOOST_TEST(result.integer_at("changed_files") == 2);
      BOOST_TEST(!holds(folder.artifact("changes.diff"), ".git/"));
      const auto said = [&](std::vector<std::string> words) {
        words.insert(words.begin(), sortie_binary());
        return run_program({.argv = words, .folder = folder.path("")});
      };
      const ProgramEnd verified = said({"verify", "out"});
      BOOST_TEST(verified.status == 0, verified.errors);
      const ProgramEnd replayed = said({"replay", "out"});
      BOOST_TEST(replayed.status == 0, replayed.errors);
      const ProgramEnd landed = said({"land", "out", "-C", "work", "--policy", "auto"});
      BOOST_TEST(landed.status == (readable ? 0 : 7), landed.errors);
      BOOST_TEST(holds(landed.errors, row.why), landed.errors);
      const ProgramEnd onto =
          said({"land", "out", "-C", "work", "--policy", "auto", "--onto", "main"});
      if (!readable) BOOST_TEST(holds(onto.errors, row.why), onto.errors);
      BOOST_TEST(read_file(folder.workspace() / "a.txt") == (readable ? "one\ntwo\n" : "one\n"));

      if (!readable) {
        const ProgramEnd applied = folder.run({"--apply"});
        BOOST_TEST(applied.status == 0, applied.errors);
        BOOST_TEST(read_file(folder.workspace() / "a.txt") == "one\ntwo\n");
        BOOST_TEST((read_tree(folder.workspace() / ".git") == before));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
