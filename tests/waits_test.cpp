// Every call that can wait stands in docs/waits.md, with its limit: read from the sources.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

using Calls = std::set<std::string>;

/// Names of the calls in a line of code that can wait for somebody else.
Calls calls_in(const std::string& line) {
  static const std::regex kSystem(
      "(^|[^A-Za-z0-9_>])::(open|openat|poll|ppoll|select|epoll_wait|read|write|send|sendto|"
      "sendmsg|"
      "recv|recvfrom|recvmsg|connect|accept|accept4|flock|waitpid|waitid|wait4|nanosleep|usleep|"
      "sleep|sigwait|sigwaitinfo|sigtimedwait|getaddrinfo|copy_file_range|sendfile|splice|fsync|"
      "posix_spawn|vfork|SSL_connect|SSL_read|SSL_write|SSL_shutdown)\\(");
  static const std::regex kMember("(\\.|->)(wait|wait_for|wait_until|join|sleep_for)\\(");
  static const std::regex kWord(
      "()\\b(std::ifstream|std::ofstream|std::fstream|std::jthread|receive_message|F_SETLKW)\\b");
  Calls calls;
  const std::string code = line.substr(0, line.find("//"));
  for (const std::regex* pattern : {&kSystem, &kMember, &kWord})
    for (std::sregex_iterator match(code.begin(), code.end(), *pattern), end; match != end; ++match)
      calls.insert((*match)[2]);
  return calls;
}

std::map<std::string, Calls> calls_in_sources(const fs::path& root) {
  std::map<std::string, Calls> found;
  for (const char* part : {"app", "core", "policies", "tools", "ci"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / part)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp") continue;
      Calls calls;
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) calls.merge(calls_in(line));
      if (!calls.empty()) found[fs::relative(entry.path(), root).string()] = calls;
    }
  }
  return found;
}

std::string cell(const std::string& row, std::size_t number) {
  std::istringstream cells(row);
  std::string text;
  for (std::size_t i = 0; i <= number + 1; ++i) std::getline(cells, text, '|');
  return text;
}

/// The words between backquotes.
Calls words_of(const std::string& text) {
  Calls words;
  static const std::regex kWord("`([^`]+)`");
  for (std::sregex_iterator match(text.begin(), text.end(), kWord), end; match != end; ++match)
    words.insert((*match)[1]);
  return words;
}

/// The table "All places": file → calls.
std::map<std::string, Calls> calls_in_list(const fs::path& file) {
  std::map<std::string, Calls> listed;
  std::ifstream stream(file);
  bool in_table = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("## ", 0) == 0) in_table = line == "## All places";
    if (!in_table || line.rfind("| `", 0) != 0) continue;
    listed[*words_of(cell(line, 0)).begin()] = words_of(cell(line, 1));
    for (std::size_t i = 2; i < 5; ++i)
      BOOST_TEST(cell(line, i).size() > 2, "an empty cell: " << line);
  }
  return listed;
}

std::string text_of(const Calls& calls) {
  std::string text;
  for (const auto& call : calls) text += (text.empty() ? "" : " ") + call;
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(waits)

BOOST_AUTO_TEST_CASE(every_call_that_can_wait_is_in_the_list_with_its_limit) {
  const fs::path root = SORTIE_SOURCE_DIR;
  const auto found = calls_in_sources(root);
  auto listed = calls_in_list(root / "docs/waits.md");

  BOOST_TEST(found.size() > 50);
  for (const auto& [file, calls] : found)
    BOOST_TEST(text_of(listed[file]) == text_of(calls),
               file << ": docs/waits.md lists '" << text_of(listed[file]) << "', the file has '"
                    << text_of(calls) << "': say there what each waits for, and its limit");
  for (const auto& [file, calls] : listed)
    BOOST_TEST(found.count(file) == 1, file << ": listed in docs/waits.md, and waits for nothing");
}

BOOST_AUTO_TEST_CASE(the_patterns_find_what_they_should) {
  const struct {
    const char* line;
    const char* calls;
  } rows[] = {
      {"  const int ready = ::poll(&wait, 1, -1);", "poll"},
      {"  Fd file(::open(path.c_str(), O_RDONLY));", "open"},
      {"  if (file && ::flock(file.get(), LOCK_EX) == 0) return;", "flock"},
      {"  changed_.wait(lock);", "wait"},
      {"  thread->join();", "join"},
      {"  std::ifstream file(path);", "std::ifstream"},
      {"  fcntl(fd, F_SETLKW, &lock);", "F_SETLKW"},
      {"  // ::poll(nothing)", ""},
      {"bool ExecSession::read() {", ""},
      {"std::optional<ScriptReading> Engine::open(int x) {", ""},
      {"  reader.read(line);", ""},
  };
  for (const auto& row : rows) BOOST_TEST(text_of(calls_in(row.line)) == row.calls, row.line);
}

BOOST_AUTO_TEST_SUITE_END()
