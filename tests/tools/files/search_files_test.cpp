#include "tools/files/search_files.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <random>
#include <set>

#include "core/base/error.h"
#include "core/text/text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"
#include "tools/search/line_search.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(search_files)

namespace {

struct Tree {
  explicit Tree(SearchFilesOptions given = {}) : options(std::move(given)) {}
  void write(const std::string& name, std::string_view content) const {
    fs::create_directories((folder / name).parent_path());
    write_file(folder / name, content);
  }
  ToolResult run(const Json& arguments, std::stop_token stop = {}) const {
    SearchFiles tool(files, folder.path(), clock, hidden, options);
    (void)tool.actions(arguments);
    return tool.run(arguments, std::move(stop));
  }
  ToolResult search(const std::string& pattern, const std::string& more = "{}") const {
    Json arguments = parse_json(more);
    arguments.set("pattern", pattern);
    return run(arguments);
  }
  std::string found(const std::string& pattern, const std::string& more = "{}") const {
    return search(pattern, more).text;
  }
  std::string error(const std::string& pattern, const std::string& more = "{}") const {
    try {
      return "found: " + found(pattern, more);
    } catch (const ToolError& error) {
      return error.what();
    }
  }

  TemporaryFolder folder;
  DiskFiles files{Fd(::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  FakeClock clock;
  HiddenPaths hidden = [](const fs::path& path) {
    return path.filename() == "secret.txt" || path == "vault";
  };
  SearchFilesOptions options;
};

}  // namespace

BOOST_AUTO_TEST_CASE(lines_that_match_are_shown_under_their_paths_in_order) {
  const Tree tree;
  tree.write("b.txt", "one\ntwo needle\nthree\n");
  tree.write("a/x.txt", "needle at the start\n\nand needle needle\n");
  tree.write("a.txt", "no newline at the end: needle");
  tree.write("a-b", "needle\r\nx\r\n");
  tree.write("none", "nothing\n");

  const ToolResult result = tree.search("needle");

  BOOST_TEST(result.text ==
             "a-b\n1:needle\n\na.txt\n1:no newline at the end: needle\n\n"
             "a/x.txt\n1:needle at the start\n3:and needle needle\n\nb.txt\n2:two needle\n");
  BOOST_TEST(result.head == "5 lines match, in 4 files\n");
  BOOST_TEST(result.note == "searched 5 files");
  BOOST_TEST(tree.search("absent").head == "No line matches\n");
  BOOST_TEST(tree.found("needle", R"({"path":"a"})").starts_with("a/x.txt\n"));
  BOOST_TEST(tree.found("needle$", R"({"path":"a-b"})") == "a-b\n1:needle\n");
}

BOOST_AUTO_TEST_CASE(many_files_are_shown_and_counted_in_order) {
  Tree tree;
  for (int i = 0; i < 1200; ++i) {
    const std::string name =
        "d" + std::to_string(100 + i / 50) + "/" + std::to_string(100 + i % 50);
    if (i % 3 == 0) tree.write(name, "other\n");
    if (i % 3 == 1)
      tree.write(name, "needle" + std::string(i % 2 == 0 ? 40'000 : 0, '.') + "\nneedle");
    if (i % 3 == 2) tree.write(name, std::string("needle\0", 7));
  }
  const auto search = [&](const char* more) { return tree.search("needle", more); };

  const ToolResult whole = search(R"({"max_matches":2000})");
  const ToolResult cut = search(R"({"max_matches":601})");

  BOOST_TEST(whole.head == "800 lines match, in 400 files\n");
  BOOST_TEST(whole.note == "searched 800 files; left out: 400 binary files");
  BOOST_TEST(
      cut.head ==
      "601 lines match, in 301 files; there are more: the search ended at max_matches, in d118/101\n");
  BOOST_TEST(whole.text.starts_with(cut.text));
}

BOOST_AUTO_TEST_CASE(expressions_are_matched_in_single_lines) {
  const Tree tree;
  tree.write("f",
             "foo bar\nbar foo\n\nFOO\nfoo\xff"
             "bar\n\tend\n");
  const struct {
    const char* pattern;
    const char* lines;
  } rows[] = {
      {"^foo",
       "f\n1:foo bar\n5:foo\xEF\xBF\xBD"
       "bar\n"},
      {"foo$", "f\n2:bar foo\n"},
      {"(?i)^foo$", "f\n4:FOO\n"},
      {"foo\\s+bar", "f\n1:foo bar\n"},
      {"bar\\nbar", ""},
      {"bar\\s*bar", ""},
      {"^$", "f\n3:\n"},
      {"^",
       "f\n1:foo bar\n2:bar foo\n3:\n4:FOO\n5:foo\xEF\xBF\xBD"
       "bar\n6:\tend\n"},
      {"x*",
       "f\n1:foo bar\n2:bar foo\n3:\n4:FOO\n5:foo\xEF\xBF\xBD"
       "bar\n6:\tend\n"},
      {"[^a]nd", "f\n6:\tend\n"},
      {"\\bbar\\b",
       "f\n1:foo bar\n2:bar foo\n5:foo\xEF\xBF\xBD"
       "bar\n"},
      {"foo|end",
       "f\n1:foo bar\n2:bar foo\n5:foo\xEF\xBF\xBD"
       "bar\n6:\tend\n"},
      {" ", "f\n1:foo bar\n2:bar foo\n"},
      {"\\Afoo", "f\n1:foo bar\n"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.pattern) {
      BOOST_TEST(tree.found(row.pattern) == row.lines);
    }
}

BOOST_AUTO_TEST_CASE(a_bad_expression_glob_or_path_is_told_with_its_reason) {
  const Tree tree;
  tree.write("src/main.cpp", "x\n");
  BOOST_REQUIRE(::mkfifo((tree.folder / "pipe").c_str(), 0600) == 0);
  const struct {
    const char* pattern;
    const char* more;
    const char* says;
  } rows[] = {
      {"a(b", "{}", "missing ): a(b"},
      {"(?=x)", "{}", "invalid perl operator: (?="},
      {"a\\1", "{}", "invalid escape sequence: \\1"},
      {"*", "{}", "no argument for repetition operator: *"},
      {"a{2000}", "{}", "invalid repetition size: {2000}"},
      {"a\nb", "{}", "newline"},
      {"x", R"({"path":"scr"})", "scr: no such file or folder; did you mean src?"},
      {"x", R"({"path":"src/mian.cpp"})", "did you mean src/main.cpp?"},
      {"x", R"({"path":"../x"})", "Path outside the workspace"},
      {"x", R"({"path":"pipe"})", "pipe: not a file or folder"},
  };
  for (const auto& row : rows)
    BOOST_TEST(tree.error(row.pattern, row.more).find(row.says) != std::string::npos,
               tree.error(row.pattern, row.more));
}

BOOST_AUTO_TEST_CASE(a_glob_picks_files_by_name_or_path) {
  const Tree tree;
  for (const char* name : {"a.cpp", "a.h", "b.py", "src/a.cpp", "src/deep/c.ts", "src/min.js"})
    tree.write(name, "x\n");
  const struct {
    const char* glob;
    const char* files;
  } rows[] = {
      {"*.cpp", "a.cpp src/a.cpp"},
      {"*.{h,py}", "a.h b.py"},
      {"a.cpp", "a.cpp src/a.cpp"},
      {"/a.cpp", "a.cpp"},
      {"src/*", "src/a.cpp src/min.js"},
      {"src/**", "src/a.cpp src/deep/c.ts src/min.js"},
      {"src/", "src/a.cpp src/deep/c.ts src/min.js"},
      {"./src/**/*.ts", "src/deep/c.ts"},
      {"**/*.ts", "src/deep/c.ts"},
      {"!*.js", "a.cpp a.h b.py src/a.cpp src/deep/c.ts"},
      {"[ab].*", "a.cpp a.h b.py src/a.cpp"},
      {"*.none", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.glob) {
      const auto result = tree.search("x", write_json(Json::object({{"glob", row.glob}})));
      std::string files;
      for (const auto line : split_lines(result.text))
        if (!line.empty() && line != "1:x") files += (files.empty() ? "" : " ") + std::string(line);
      BOOST_TEST(files == row.files);
    }
  }
  BOOST_TEST(tree.search("x", R"({"glob":"*.py"})").note ==
             "searched 1 file; left out: 5 files excluded by the glob");
}

BOOST_AUTO_TEST_CASE(context_lines_join_where_they_touch) {
  const Tree tree;
  tree.write("f", "1\nx2\n3\n4\nx5\n6\n7\n8\n9\nx10\n11");

  BOOST_TEST(tree.found("x", R"({"context":1})") ==
             "f\n1-1\n2:x2\n3-3\n4-4\n5:x5\n6-6\n--\n9-9\n10:x10\n11-11\n");
  BOOST_TEST(tree.found("x", R"({"context":9})") ==
             "f\n1-1\n2:x2\n3-3\n4-4\n5:x5\n6-6\n7-7\n8-8\n9-9\n10:x10\n11-11\n");
}

BOOST_AUTO_TEST_CASE(long_lines_are_cut_around_the_match) {
  const Tree tree;
  tree.write("f", std::string(3'000'000, 'a') + "needle" + std::string(3'000'000, 'b') + "\n");

  const std::string text = tree.found("needle");

  BOOST_TEST(text.size() < 600u);
  BOOST_TEST(text.find("aneedleb") != std::string::npos);
  BOOST_TEST(text.find("(6000006 bytes in this line)") != std::string::npos);
  // Cut in the middle of characters of three bytes each.
  std::string wide;
  for (int i = 0; i < 1000; ++i) wide += "\xE2\x82\xAC";
  tree.write("f", wide + "needle" + wide + "\n");
  BOOST_TEST(tree.found("needle").find("\xEF\xBF\xBD") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(ignore_files_dot_names_and_binary_files_are_left_out_and_counted) {
  const Tree tree;
  tree.write(".gitignore", "*.log\n/build/\n!.github\n");
  tree.write(".git/config", "x\n");
  tree.write(".git/info/exclude", "private\n");
  tree.write("a.log", "x\n");
  tree.write("build/b", "x\n");
  tree.write("sub/.gitignore", "!keep.log\nlocal\n");
  tree.write("sub/keep.log", "x\n");
  tree.write("sub/local", "x\n");
  tree.write("sub/private", "x\n");
  tree.write("other/.ignore", "gen\n");
  tree.write("other/gen", "x\n");
  tree.write(".hidden/f", "x\n");
  tree.write(".github/flow", "x\n");
  tree.write("binary", std::string("x\0x\n", 4));
  tree.write("late", "x\n" + std::string(9000, 'y') + std::string(1, '\0') + "\n");
  fs::create_symlink("sub", tree.folder / "link");
  fs::create_symlink("/", tree.folder / "root");
  fs::create_symlink(".", tree.folder / "loop");
  BOOST_REQUIRE(::mkfifo((tree.folder / "pipe").c_str(), 0600) == 0);

  const ToolResult result = tree.search("x");

  BOOST_TEST(result.text == ".github/flow\n1:x\n\nsub/keep.log\n1:x\n");
  BOOST_TEST(result.note.find("5 ignored names") != std::string::npos, result.note);
  BOOST_TEST(result.note.find("2 binary files,") != std::string::npos, result.note);
  BOOST_TEST(result.note.find("3 links, 1 pipe, socket or device") != std::string::npos,
             result.note);
  // What a call names is searched.
  BOOST_TEST(tree.found("x", R"({"path":"a.log"})") == "a.log\n1:x\n");
  BOOST_TEST(tree.found("x", R"({"path":"build"})") == "build/b\n1:x\n");
  BOOST_TEST(tree.found("x", R"({"path":".hidden"})") == ".hidden/f\n1:x\n");
  BOOST_TEST(tree.found("x", R"({"path":"sub"})") == "sub/keep.log\n1:x\n");
  BOOST_TEST(tree.found("x", R"({"path":"link"})") == "sub/keep.log\n1:x\n");
}

BOOST_AUTO_TEST_CASE(dot_names_are_searched_where_git_tracks_them_or_the_call_names_them) {
  Tree tree;
  for (const char* name : {".github/workflows/ci.yml", ".github/.cache/x", ".github/new.yml",
                           ".gitlab-ci.yml", ".venv/lib.py", "web/.eslintrc", "web/.local", "a.txt",
                           ".build/.secret/secret.txt", ".git/hooks/x"})
    tree.write(name, "x\n");
  tree.write(".gitignore", ".build\n");
  int asked = 0;
  tree.options.dot_names = [&asked]() -> std::set<std::string, std::less<>> {
    ++asked;
    return {".github", ".gitlab-ci.yml", "web/.eslintrc", ".build", ".git"};
  };
  const auto files = [&](const char* more) {
    std::string names;
    const std::string found = tree.found("x", more);
    for (const auto line : split_lines(found))
      if (!line.empty() && line != "1:x") names += (names.empty() ? "" : " ") + std::string(line);
    return names;
  };

  BOOST_TEST(files("{}") ==
             ".github/new.yml .github/workflows/ci.yml .gitlab-ci.yml a.txt web/.eslintrc");
  BOOST_TEST(tree.search("x").note ==
             "searched 5 files; left out: 1 ignored name, 4 names that begin with a "
             "dot");
  BOOST_TEST(files(R"({"path":"web"})") == "web/.eslintrc");
  BOOST_TEST(files(R"({"path":"web/.local"})") == "web/.local");
  BOOST_TEST(files(R"({"path":".venv"})") == ".venv/lib.py");
  BOOST_TEST(files(R"({"glob":"*.yml"})") ==
             ".github/new.yml .github/workflows/ci.yml .gitlab-ci.yml");
  // A glob that names one asks for such names. What ignore files and the policy say still holds.
  BOOST_TEST(files(R"({"glob":".venv/**"})") == ".venv/lib.py");
  BOOST_TEST(files(R"({"glob":"**/.{local,cache}/**"})") == ".github/.cache/x");
  BOOST_TEST(files(R"({"glob":"web/.*"})") == "web/.eslintrc web/.local");
  BOOST_TEST(files(R"({"glob":".git/**"})") == "");
  BOOST_TEST(files(R"({"glob":".build/.secret/*"})") == "");
  BOOST_TEST(files(R"({"path":".build"})") == "");
  // Without git nothing tells them apart from caches.
  tree.options.dot_names = {};
  BOOST_TEST(files("{}") == "a.txt");
}

BOOST_AUTO_TEST_CASE(hidden_paths_do_not_show) {
  const Tree tree;
  tree.write("secret.txt", "needle\n");
  tree.write("vault/f", "needle\n");
  tree.write("open.txt", "needle\n");
  tree.write("deep/secret.txt", "needle\n");

  const ToolResult result = tree.search("needle");

  BOOST_TEST(result.text == "open.txt\n1:needle\n");
  BOOST_TEST(result.note.find("secret") == std::string::npos, result.note);
  BOOST_TEST(result.note.find("vault") == std::string::npos, result.note);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_read_is_named) {
  if (::geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can become another user here");
    return;
  }
  const Tree tree;
  tree.write("closed.txt", "needle\n");
  tree.write("secret.txt", "needle\n");
  tree.write("closed/f", "needle\n");
  tree.write("open.txt", "needle\n");
  for (const char* name : {"closed.txt", "secret.txt", "closed"})
    fs::permissions(tree.folder / name, fs::perms::none);
  fs::permissions(tree.folder.path(), fs::perms::all);

  // In a child, which can't become root again.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(1000, 1000, 1000) != 0) ::_exit(2);
    const ToolResult result = tree.search("needle");
    const bool good = result.text == "open.txt\n1:needle\n" &&
                      result.note ==
                          "searched 1 file; left out: 1 unreadable folder; not searched: "
                          "closed.txt (no permission)";
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_search_is_bounded_in_matches_output_size_time_and_depth) {
  Tree tree({.time_limit = std::chrono::seconds(5), .largest_file = 1000});
  for (int i = 0; i < 200; ++i) tree.write("f" + std::to_string(i), "x\nx\n");
  tree.write("large", std::string(1001, 'x'));

  const ToolResult first = tree.search("x", R"({"max_matches":3})");
  BOOST_TEST(first.head ==
             "3 lines match, in 2 files; there are more: the search ended at "
             "max_matches, in f1\n");
  BOOST_TEST(first.text == "f0\n1:x\n2:x\n\nf1\n1:x\n");
  BOOST_TEST(tree.search("x", R"({"path":"large"})").note ==
             "searched 0 files; not searched: large (too large)");

  tree.options.max_output = 200;
  const ToolResult cut = tree.search("x", R"({"max_matches":2000})");
  BOOST_TEST(cut.head.find("the search ended at 200 bytes of output") != std::string::npos,
             cut.head);
  BOOST_TEST(cut.text.size() < 220u);

  tree.options.time_limit = std::chrono::seconds(0);
  BOOST_TEST(tree.search("x").head.find("ended at its time limit") != std::string::npos);
  std::stop_source stop;
  stop.request_stop();
  BOOST_TEST(tree.run(Json::object({{"pattern", "x"}}), stop.get_token()).head.find("stopped") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(folders_without_files_are_walked_no_longer_than_all_else) {
  Tree tree;
  for (int i = 100; i < 300; ++i) fs::create_directories(tree.folder / ("d" + std::to_string(i)));
  int folders = 0;
  std::stop_source stop;
  const auto head = [&](const std::function<void()>& on_folder) {
    folders = 0;
    tree.hidden = [&, on_folder](const fs::path&) {
      ++folders;
      on_folder();
      return false;
    };
    return tree.run(Json::object({{"pattern", "x"}}), stop.get_token()).head;
  };

  BOOST_TEST(head([] {}) == "No line matches\n");
  BOOST_TEST(folders == 200);
  BOOST_TEST(head([&] {
               tree.clock.monotonic += std::chrono::seconds(3);
             }).find("ended at its time limit") != std::string::npos);
  BOOST_TEST(folders == 7);
  BOOST_TEST(head([&] {
               if (folders == 5) stop.request_stop();
             }).find("was stopped") != std::string::npos);
  BOOST_TEST(folders == 5);
}

BOOST_AUTO_TEST_CASE(hostile_trees_do_no_harm) {
  const Tree tree;
  // Names that are no text.
  tree.write("new\nline", "needle\n");
  tree.write("bad\xff", "needle\n");
  // A chain of 10,000 folders, made from the inside: no path to its end would be short enough.
  Fd at(::open(tree.folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 10'000; ++i) {
    BOOST_REQUIRE(::mkdirat(at.get(), "d", 0755) == 0);
    at = Fd(::openat(at.get(), "d", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  // Ignore files that are none, and one that waits for a writer.
  fs::create_directories(tree.folder / "odd/.gitignore");
  fs::create_directories(tree.folder / "pipes");
  BOOST_REQUIRE(::mkfifo((tree.folder / "pipes/.gitignore").c_str(), 0600) == 0);
  fs::create_symlink("/etc/passwd", tree.folder / "pipes/.ignore");
  tree.write("pipes/f", "needle\n");

  const ToolResult result = tree.search("needle");

  BOOST_TEST(is_utf8(result.text));
  BOOST_TEST(result.head == "3 lines match, in 3 files\n");
  BOOST_TEST(result.text.find("\"new\\nline\"\n1:needle") != std::string::npos, result.text);
  BOOST_TEST(result.note.find("1 folder too deep") != std::string::npos, result.note);
  run_program({"rm", "-rf", (tree.folder / "d").string()}, "/");
}

BOOST_AUTO_TEST_CASE(plain_and_expression_search_find_the_same_lines_as_a_simple_loop) {
  std::mt19937 random(7);  // NOLINT: the same texts in every run
  for (int round = 0; round < 400; ++round) {
    std::string text;
    const std::size_t size = random() % 400;
    for (std::size_t i = 0; i < size; ++i) text += "ab\n"[random() % 3];
    std::string needle;
    for (std::size_t i = 0; i < 1 + random() % 4; ++i) needle += "ab"[random() % 2];
    const auto numbers = [&](const LineSearch& search) {
      std::vector<std::size_t> found;
      search.search(
          text,
          [&](const LineMatch& match) {
            BOOST_TEST(text.substr(match.match_begin, needle.size()) == needle);
            found.push_back(match.number);
            return true;
          },
          [] { return true; });
      return found;
    };
    std::vector<std::size_t> expected;
    const auto lines = split_lines(text);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].find(needle) != lines[i].npos) expected.push_back(i + 1);

    BOOST_TEST((numbers(LineSearch(needle)) == expected));
    BOOST_TEST((numbers(LineSearch("(?:" + needle + ")")) == expected));
  }
}

BOOST_AUTO_TEST_SUITE_END()
