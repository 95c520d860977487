// Files that are not plain UTF-8 text of a moderate size, as read_file and search_files take them.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/files/open_beneath.h"
#include "core/text/text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temporary_folder.h"
#include "tools/files/list_dir.h"
#include "tools/files/read_file.h"
#include "tools/files/search_files.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(odd_files)

namespace {

using namespace std::string_literals;

/// The two tools over a folder.
struct Readers {
  explicit Readers(fs::path place, SearchFilesOptions options = {})
      : root(std::move(place)),
        reads(files, root, {.stream = stream_below(files.root()), .max_bytes = 10'000}),
        searches(files, root, clock, {}, std::move(options)) {}

  template <class T>
  static std::string result(T& tool, const Json& arguments) {
    try {
      (void)tool.actions(arguments);
      const ToolResult result = tool.run(arguments, {});
      return result.head + result.text + (result.note.empty() ? "" : "Note: " + result.note);
    } catch (const ToolError& error) {
      return "error: "s + error.what();
    }
  }
  std::string read(const std::string& path, int offset = 1) {
    return result(reads, Json::object({{"path", path}, {"offset", offset}, {"limit", 3}}));
  }
  std::string search(const std::string& pattern, const std::string& path = ".") {
    return result(searches, Json::object({{"pattern", pattern}, {"path", path}}));
  }

  fs::path root;
  DiskFiles files{Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  FakeClock clock;
  ReadFile reads;
  SearchFiles searches;
};

/// A folder that a test fills.
struct Folder {
  void write(const std::string& name, std::string_view content) const {
    write_file(folder / name, content);
  }
  TemporaryFolder folder;
  Readers readers{folder.path()};
};

std::string utf16(std::string_view ascii, bool big, bool mark) {
  std::string text = !mark ? ""s : big ? "\xFE\xFF"s : "\xFF\xFE"s;
  for (const char letter : ascii) text += big ? "\0"s + letter : std::string(1, letter) + "\0"s;
  return text;
}

/// Kilobytes that this process had at most since it was last asked.
long peak_memory() {
  long peak = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) peak = std::stol(line.substr(6));
  std::ofstream("/proc/self/clear_refs") << "5";
  return peak;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(texts_in_other_encodings_are_read_and_searched, Folder) {
  const struct {
    const char* name;
    std::string content;
    const char* read;
    const char* found;  ///< of ^sec
  } rows[] = {
      {"utf-16le", utf16("one\r\nsecond\r\n", false, true),
       "Lines 1–2 of 2\n     1\tone\n     2\tsecond\nNote: these lines end in CR LF; the file is "
       "in "
       "UTF-16LE",
       "2:second\n"},
      {"utf-16be", utf16("one\nsecond\n", true, true),
       "Lines 1–2 of 2\n     1\tone\n     2\tsecond\nNote: the file is in UTF-16BE", "2:second\n"},
      {"utf-16, half a character at its end", utf16("one\nsecond\n", false, true) + "x",
       "Lines 1–2 of 2\n     1\tone\n     2\tsecond\nNote: the file is in UTF-16LE", "2:second\n"},
      {"utf-16 without a mark", utf16("one\nsecond\n", false, false),
       "utf-16 without a mark is a binary file of 22 bytes", ""},
      {"utf-32", "\xFF\xFE\0\0s\0\0\0e\0\0\0c\0\0\0"s, "utf-32 is a binary file of 16 bytes", ""},
      {"old mac", "second\rlast\n",
       "Lines 1–1 of 1\n     1\tsecond\rlast\nNote: a CR without LF in these lines ends a line for "
       "apply_patch",
       "1:second last\n"},
      {"utf-8 with a mark", "\xEF\xBB\xBFsecond\nx\n",
       "Lines 1–2 of 2\n     1\tsecond\n     2\tx\n", "1:second\n"},
      {"latin-1", "second caf\xE9\n",
       "Lines 1–1 of 1\n     1\tsecond caf\xEF\xBF\xBD\nNote: bytes that are not UTF-8 are shown "
       "as "
       "\xEF\xBF\xBD",
       "1:second caf\xEF\xBF\xBD\n"},
      {"a mark alone", "\xEF\xBB\xBF", "error: a mark alone has 0 lines", ""},
      {"a NUL", "second\0\n"s, "a NUL is a binary file of 8 bytes", ""},
      {"a late NUL", "second\n" + std::string(9000, 'y') + "\0\n"s, nullptr, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write(row.name, row.content);
      if (row.read != nullptr) BOOST_TEST(readers.read(row.name) == row.read);
      const std::string found = readers.search("^sec", row.name);
      if (row.found[0] == '\0') {
        BOOST_TEST(found.starts_with("No line matches in "), found);
        if (row.content.size() > 3) BOOST_TEST(has(found, "left out: 1 binary file"), found);
      } else {
        BOOST_TEST(has(found, "\n"s + row.found), found);
      }
    }
  }
}

BOOST_FIXTURE_TEST_CASE(what_is_no_regular_file_is_named_at_once, Folder) {
  BOOST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (folder / "socket").string();
  BOOST_REQUIRE(name.size() < sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  BOOST_REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                0);
  fs::create_symlink("pipe", folder / "link");
  fs::create_symlink("/dev/zero", folder / "device");
  fs::create_symlink("/proc/self/environ", folder / "proc");

  for (const char* path : {"pipe", "socket", "link"}) {
    BOOST_TEST(has(readers.read(path), "is not a regular file (a pipe, socket or device)"),
               readers.read(path));
    BOOST_TEST(has(readers.search("x", path), "not a file or folder"), readers.search("x", path));
  }
  for (const char* path : {"device", "proc"}) {
    BOOST_TEST(has(readers.read(path), "leads outside the workspace"), readers.read(path));
    BOOST_TEST(has(readers.search("x", path), "leads outside the workspace"));
  }
  BOOST_TEST(has(readers.search("x"), "left out: 3 links, 2 pipes, sockets and devices"),
             readers.search("x"));

  Readers devices("/dev");
  BOOST_TEST(has(devices.read("zero"), "is not a regular file"), devices.read("zero"));
  BOOST_TEST(has(devices.search("x", "zero"), "not a file or folder"));
}

BOOST_FIXTURE_TEST_CASE(an_odd_name_is_read_by_the_name_that_is_shown, Folder) {
  const std::vector<std::string> names = {"new\nline",
                                          "\x1b[31mred",
                                          "quo\"te",
                                          "back\\slash",
                                          "bytes \xff\xc3",
                                          "a\xe2\x80\xaetxt.exe",
                                          "gr\xc3\xbc\xc3\x9f",
                                          "\"in quotes\"",
                                          "a blank",
                                          "\r"};
  fs::create_directory(folder / "in\n");
  for (const std::string& name : names) write("in\n/" + name, "needle of " + name.substr(0, 1));
  ListDir lists(readers.files, readers.root, readers.clock, {});

  const std::string listed = Readers::result(lists, Json::object({{"depth", 2}}));
  const std::string found = readers.search("needle");

  const auto listed_lines = split_lines(listed);
  BOOST_REQUIRE(listed_lines.size() == names.size() + 1);
  BOOST_TEST(listed_lines[0] == "\"in\\n/\"");
  for (const auto line : listed_lines) {
    BOOST_TEST(one_line(line, line.size()) == line);
    if (line == listed_lines[0]) continue;
    BOOST_TEST(readers.read(std::string(line)).find("needle of ") != std::string::npos, line);
    BOOST_TEST(found.find(std::string(line) + "\n1:needle") != std::string::npos, found);
  }
  const std::string below =
      Readers::result(lists, Json::object({{"path", std::string(listed_lines[0])}}));
  BOOST_TEST(split_lines(below).size() == names.size(), below);
}

BOOST_AUTO_TEST_CASE(files_of_proc_are_read_though_they_have_no_size) {
  Readers readers("/proc/self", {.largest_file = 1u << 20});

  BOOST_TEST(has(readers.read("status"), "     1\tName:\t"), readers.read("status"));
  BOOST_TEST(has(readers.search("^Pid:", "status"), ":Pid:\t" + std::to_string(::getpid()) + "\n"));
  // One that gives more than it has, as one that is written to meanwhile does.
  Readers strict("/proc/self", {.largest_file = 100});
  BOOST_TEST(has(strict.search("Pid", "status"), "not searched: status (too large: it grows)"),
             strict.search("Pid", "status"));
}

BOOST_FIXTURE_TEST_CASE(a_file_full_of_holes_takes_no_memory, Folder) {
  write("sparse", "");
  fs::resize_file(folder / "sparse", 1ull << 30);
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "line " + std::to_string(i) + "\n";
  write("begun", text);
  fs::resize_file(folder / "begun", 1ull << 30);
  (void)peak_memory();
  const long before = peak_memory();

  BOOST_TEST(readers.read("sparse") == "sparse is a binary file of 1024.0 MiB");
  const std::string begun = readers.read("begun");
  BOOST_TEST(has(begun, "Lines 1–3 of more than 2000; more follow from line 4\n     1\tline 0\n"),
             begun);
  const std::string last = readers.read("begun", 2001);
  BOOST_TEST(has(last, " in this line)"), last.substr(0, 300));
  BOOST_TEST(last.size() < 10'000u);
  BOOST_TEST(has(readers.search("line"), "not searched: begun (too large) sparse (too large)"),
             readers.search("line"));

  BOOST_TEST(peak_memory() - before < 32 * 1024);
}

BOOST_AUTO_TEST_CASE(a_file_that_grows_faster_than_it_is_read_is_given_up) {
  const TemporaryFolder folder;
  const DiskFiles files{Fd(::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  std::uint64_t pieces = 0;
  ReadFile tool(files, folder.path(),
                {.stream =
                     [&](const fs::path&, const std::function<bool(std::string_view)>& take) {
                       const std::string piece = std::string((1u << 20) - 1, 'x') + "\n";
                       for (pieces = 1; take(piece); ++pieces) {
                       }
                       return true;
                     },
                 .max_bytes = 10'000});
  const auto read = [&](std::stop_token stop) {
    return tool.run(parse_json(R"({"path":"log","offset":1,"limit":2})"), std::move(stop)).head;
  };

  BOOST_TEST(read({}) == "Lines 1–2 of more than 1025; more follow from line 3\n");
  BOOST_TEST(pieces <= 1026u);
  std::stop_source stop;
  stop.request_stop();
  BOOST_CHECK_THROW(read(stop.get_token()), ToolError);
  BOOST_TEST(pieces == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
