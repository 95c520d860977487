#include "app/show/event_writer.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <future>

#include "core/base/error.h"
#include "tests/app/show/stream_reader.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {
namespace {

using std::chrono::seconds;

std::string line(int number, std::size_t bytes) {
  std::string text = std::to_string(number) + ":";
  text.resize(bytes - 1, 'x');
  return text + "\n";
}

struct Ends {
  Fd reader;
  Fd writer;
};

Ends pipe_ends() {
  Pipe pipe = make_pipe();
  return {std::move(pipe.read), std::move(pipe.write)};
}

Ends socket_ends() {
  int ends[2];
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

/// Whether this process has a file without a name open in the folder.
bool has_file_in(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (target.string().starts_with(folder.string() + "/")) return true;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_reader_that_sleeps_gets_every_line_in_order_wherever_the_lines_waited) {
  const TemporaryFolder folder;
  const struct {
    const char* name;
    std::size_t memory;
    std::filesystem::path folder;
    Ends (*ends)();
    bool in_file;
  } rows[] = {{"in memory", 64u << 20, folder.path(), pipe_ends, false},
              {"in the file", 1u << 20, folder.path(), pipe_ends, true},
              {"in memory, since no file can be made", 1u << 20, "/nonexistent", pipe_ends, false},
              {"a socket, in the file", 1u << 20, folder.path(), socket_ends, true}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto [reader, end] = row.ends();
      std::string expected;
      auto writer = std::make_unique<EventWriter>(
          end.get(), EventWriter::Options{.memory_bytes = row.memory, .folder = row.folder});
      for (int i = 0; i < 3000; ++i) {  // 12 MB, before a byte is read
        expected += line(i, 4000);
        writer->write(line(i, 4000));
      }
      BOOST_TEST(has_file_in(folder.path()) == row.in_file);

      auto read = std::async(std::launch::async, [&r = reader] { return read_all(r.get()); });
      BOOST_TEST(writer->finish(kLong, {}) == 0u);
      writer.reset();
      end.reset();
      BOOST_TEST((read.get() == expected));
      BOOST_TEST(std::filesystem::is_empty(folder.path()));
    }
  }
}

BOOST_AUTO_TEST_CASE(lines_written_while_others_are_read_keep_their_order) {
  const TemporaryFolder folder;
  auto [reader, end] = pipe_ends();
  auto read = std::async(std::launch::async, [&r = reader] { return read_all(r.get()); });
  std::string expected;
  {
    EventWriter writer(end.get(), {.memory_bytes = 20'000, .folder = folder.path()});
    for (int i = 0; i < 5000; ++i) {
      const std::string text = line(i, 10 + static_cast<std::size_t>(i * 37 % 9000));
      expected += text;
      writer.write(text);
    }
    BOOST_TEST(writer.finish(kLong, {}) == 0u);
  }
  end.reset();
  BOOST_TEST((read.get() == expected));
}

BOOST_AUTO_TEST_CASE(what_can_not_be_written_is_told_once_and_nothing_waits_for_it) {
  std::signal(SIGPIPE, SIG_IGN);
  Ends closed = pipe_ends();
  closed.reader.reset();
  Ends shut = socket_ends();
  shut.reader.reset();
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Fd unwritable(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const struct {
    const char* name;
    int descriptor;
    const char* says;
  } rows[] = {{"a pipe whose reader has gone", closed.writer.get(), "Broken pipe"},
              {"a socket whose reader has gone", shut.writer.get(), "Broken pipe"},
              {"a full disk", full.get(), "No space left on device"},
              {"what stands in for a closed one", unwritable.get(), "Bad file descriptor"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::vector<std::string> told;
      {
        EventWriter writer(row.descriptor, {.on_failure = [&told](int number) {
                             told.push_back(errno_text(number));
                           }});
        for (int i = 0; i < 100; ++i) writer.write(line(i, 4000));
        BOOST_TEST(writer.finish(kLong, {}) == 0u);
        writer.write(line(100, 4000));
        BOOST_TEST(writer.finish(kLong, {}) == 0u);
      }
      BOOST_REQUIRE(told.size() == 1u);
      BOOST_TEST(told[0].find(row.says) != std::string::npos, told[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_reader_that_never_reads_does_not_keep_the_end_from_coming) {
  std::stop_source stop;
  stop.request_stop();
  const struct {
    const char* name;
    std::chrono::milliseconds patience;
    std::stop_token stop;
    const char* why;
  } rows[] = {{"its time is over",
               std::chrono::milliseconds(50),
               {},
               "the reader has taken nothing for 50 ms"},
              {"the run has to stop", kLong, stop.get_token(),
               "the reader did not take them before the run had to end"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryFolder folder;
      const Ends ends = pipe_ends();
      EventWriter writer(ends.writer.get(), {.memory_bytes = 1u << 20, .folder = folder.path()});
      for (int i = 0; i < 1000; ++i) writer.write(line(i, 4000));
      BOOST_TEST(writer.finish(row.patience, row.stop) > 3'000'000u);
      BOOST_TEST(writer.why_left() == row.why);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_reader_that_takes_a_little_now_and_then_does_not_keep_it_either) {
  Ends ends = pipe_ends();
  EventWriter writer(ends.writer.get(), {.longest_end = std::chrono::milliseconds(1)});
  for (int i = 0; i < 64; ++i) writer.write(line(i, 1u << 20));
  std::atomic<bool> over = false;
  auto reader = std::async(std::launch::async, [&] {
    char byte = 0;
    while (!over && ::read(ends.reader.get(), &byte, 1) == 1) continue;
  });

  const std::uint64_t lost = writer.finish(kLong, {});
  over = true;

  BOOST_TEST(lost > 0u);
  // It took some: what ended the wait is the time for all.
  BOOST_TEST(writer.why_left() == "the reader has not taken all of them within 1 ms");
}

BOOST_AUTO_TEST_CASE(the_open_file_that_others_share_keeps_its_flags) {
  const Ends ends = pipe_ends();
  const int before = ::fcntl(ends.writer.get(), F_GETFL);
  EventWriter writer(ends.writer.get(), {});
  writer.write("a line\n");
  BOOST_TEST(writer.finish(kLong, {}) == 0u);
  BOOST_TEST(::fcntl(ends.writer.get(), F_GETFL) == before);
}

}  // namespace sortie::test
