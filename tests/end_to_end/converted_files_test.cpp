// Files that git converts between its objects and the working tree: `run --apply` and `land` write what
// `git apply` writes, in real repositories.
#include <boost/test/unit_test.hpp>

#include "tests/end_to_end/land_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

struct Row {
  const char* name;
  std::string attributes;
  std::string settings;  ///< of git, for each repository: "core.autocrlf=true"; "" for none
  std::string content;   ///< of a.txt, as it is committed
  std::string script;
  std::string made;             ///< what a.txt is in the end; "" if it is gone or git decides
  std::string dirty_file = "";  ///< changed before the run, and by the run, too
};

/// "a" as "\377\376a\000": what printf(1) takes.
std::string utf16(const std::string& text, bool mark) {
  std::string bytes = mark ? "\xff\xfe" : "";
  for (const char c : text) bytes += std::string{c, '\0'};
  return bytes;
}

const Row kRows[] = {
    {"eol=crlf", "*.txt eol=crlf\n", "", "1\r\n2\r\n", "printf '3\\r\\n' >> a.txt",
     "1\r\n2\r\n3\r\n"},
    {"autocrlf=true", "", "core.autocrlf=true", "1\r\n2\r\n", "printf '3\\r\\n' >> a.txt",
     "1\r\n2\r\n3\r\n"},
    {"autocrlf=input", "", "core.autocrlf=input", "1\n2\n", "printf '3\\n' >> a.txt", "1\n2\n3\n"},
    {"text=auto and core.eol", "* text=auto\n", "core.eol=crlf", "1\n2\n",
     "printf '3\\r\\n' >> a.txt", "1\r\n2\r\n3\r\n"},
    {"mixed line ends of a file that is no text", "*.txt -text\n", "core.autocrlf=true", "1\r\n2\n",
     "printf '3\\n' >> a.txt", "1\r\n2\n3\n"},
    {"CRLF in git's objects", "", "", "1\r\n2\r\n", "printf '3\\r\\n' >> a.txt", "1\r\n2\r\n3\r\n"},
    {"lines with another end", "*.txt eol=crlf\n", "", "1\r\n2\r\n", "printf '3\\n' >> a.txt",
     "1\r\n2\r\n3\r\n"},
    {"a new file", "*.txt eol=crlf\n", "", "1\r\n", "printf 'n\\r\\n' > new.txt", "1\r\n"},
    {"a removed file", "*.txt eol=crlf\n", "", "1\r\n", "rm a.txt", ""},
    {"a mode", "*.txt eol=crlf\n", "", "1\r\n2\r\n", "chmod +x a.txt", "1\r\n2\r\n"},
    {"a rename", "*.txt eol=crlf\n", "", "1\r\n2\r\n", "mv a.txt b.txt", ""},
    {"a rename to a name with other line ends", "*.txt eol=crlf\n", "", "1\r\n2\r\n3\r\n4\r\n",
     "mv a.txt a.bin", ""},
    {"ident", "*.txt ident\n", "", "$Id$\n1\n$Id$\n", "printf '2\\n' >> a.txt", ""},
    {"UTF-16", "*.txt working-tree-encoding=UTF-16\n", "", utf16("1\n2\n", true),
     "printf '3\\000\\n\\000' >> a.txt", utf16("1\n2\n3\n", true)},
    {"UTF-16LE with eol=crlf", "*.txt text working-tree-encoding=UTF-16LE eol=crlf\n", "",
     utf16("1\r\n2\r\n", false), "printf '3\\000\\r\\000\\n\\000' >> a.txt",
     utf16("1\r\n2\r\n3\r\n", false)},
    {"UTF-16 beside a file with changes that are not committed",
     "*.txt working-tree-encoding=UTF-16\n", "", utf16("1\n", true),
     "printf '2\\000\\n\\000' >> a.txt; echo run >> b", utf16("1\n2\n", true), "b"},
};

using Arguments = std::vector<std::string>;

Arguments settings_of(const Row& row) {
  const auto equals = row.settings.find('=');
  if (equals == std::string::npos) return {};
  return {"config", row.settings.substr(0, equals), row.settings.substr(equals + 1)};
}

/// A clone of the workspace's commit, with its settings.
fs::path clone_of(const RunFolder& folder, const Row& row, const std::string& name) {
  const fs::path clone = folder.path(name);
  git(folder.path(""), {"clone", "-q", "--no-checkout", folder.workspace().string(), name});
  for (const Arguments& command :
       {settings_of(row), Arguments{"config", "user.name", "Test"},
        Arguments{"config", "user.email", "test@example.org"}, Arguments{"checkout", "-q", "main"}})
    if (!command.empty()) git(clone, command);
  return clone;
}

std::map<std::string, std::string> files_of(const fs::path& root) {
  return Pipeline::tree_of(root);
}

void prepare(const RunFolder& folder, const Row& row) {
  const fs::path work = folder.workspace();
  folder.write("work/.gitattributes", row.attributes);
  folder.write("work/a.txt", row.content);
  folder.write("work/b", "b\n");
  make_repository(work);
  if (const Arguments setting = settings_of(row); !setting.empty()) git(work, setting);
  commit_all(work);
  for (const char* name : {".gitattributes", "a.txt", "b"}) fs::remove(work / name);
  git(work, {"checkout", "-f", "--", "."});
  if (!row.dirty_file.empty()) folder.write("work/" + row.dirty_file, "mine\n");
  folder.write_task(script(row.script), "policy: auto\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(converted_files)

BOOST_AUTO_TEST_CASE(run_apply_and_land_write_what_git_apply_writes) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      prepare(folder, row);
      const fs::path by_git = clone_of(folder, row, "by_git");
      const fs::path landed = clone_of(folder, row, "landed");
      const fs::path mailed = clone_of(folder, row, "mailed");
      if (!row.dirty_file.empty())
        for (const fs::path& clone : {by_git, landed})
          folder.write(clone.filename().string() + "/" + row.dirty_file, "mine\n");
      const auto repository = read_tree(folder.workspace() / ".git");

      const ProgramEnd end = folder.run({"--apply"});

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      BOOST_TEST((read_tree(folder.workspace() / ".git") == repository));
      const std::string diff = (folder.out() / "changes.diff").string();
      const Said said = run_program({"git", "apply", "--whitespace=nowarn", diff}, by_git, {});
      BOOST_TEST(said.status == 0, said.output << folder.artifact("changes.diff"));
      BOOST_TEST((files_of(folder.workspace()) == files_of(by_git)));
      if (!row.made.empty()) BOOST_TEST((read_file(folder.workspace() / "a.txt") == row.made));
      ProgramStart start;
      start.argv = {sortie_binary(), "land", folder.out().string(), "--policy", "auto"};
      start.folder = landed;
      start.environment = {{"OPENAI_API_KEY", ""}};
      const ProgramEnd landing = run_program(start);
      BOOST_TEST(landing.status == 0, landing.errors);
      BOOST_TEST((files_of(landed) == files_of(by_git)));
      if (!row.dirty_file.empty()) continue;
      const std::string mail = (folder.out() / "change.mbox").string();
      const Said am = run_program({"git", "am", "-q", "--keep-cr", mail}, mailed, {});
      BOOST_TEST(am.status == 0, am.output);
      BOOST_TEST((files_of(mailed) == files_of(by_git)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_has_changed_meanwhile_is_a_conflict_and_is_merged_if_asked) {
  const RunFolder folder;
  const Row row{
      "", "*.txt eol=crlf\n", "", "1\r\n2\r\n3\r\n4\r\n5\r\n", "printf '6\\r\\n' >> a.txt", ""};
  prepare(folder, row);
  const fs::path landed = clone_of(folder, row, "landed");
  BOOST_REQUIRE(folder.run().status == 0);
  folder.write("landed/a.txt", "mine\r\n2\r\n3\r\n4\r\n5\r\n");
  ProgramStart start;
  start.argv = {sortie_binary(), "land", folder.out().string(), "--policy", "auto"};
  start.folder = landed;
  start.environment = {{"OPENAI_API_KEY", ""}};

  const ProgramEnd refused = run_program(start);
  start.argv.push_back("--three-way");
  const ProgramEnd merged = run_program(start);

  BOOST_TEST(refused.status == 13, refused.errors);
  BOOST_TEST(merged.status == 0, merged.errors);
  BOOST_TEST(read_file(landed / "a.txt") == "mine\r\n2\r\n3\r\n4\r\n5\r\n6\r\n");
}

BOOST_AUTO_TEST_SUITE_END()
