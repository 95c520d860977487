#include "core/base/patient_io.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

Fd open_pipe(const std::filesystem::path& path) {
  BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  return Fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(patient_io)

BOOST_AUTO_TEST_CASE(a_pipe_that_nobody_writes_into_is_not_waited_for_without_end) {
  const TemporaryFolder folder;
  const Fd pipe = open_pipe(folder / "pipe");

  const ReadBytes read = read_to_end(pipe.get(), {.quiet = 50ms});

  BOOST_TEST(read.problem == "sent no byte for 50 ms before its end");
}

BOOST_AUTO_TEST_CASE(a_writer_that_comes_late_is_heard_to_its_end) {
  const TemporaryFolder folder;
  const Fd pipe = open_pipe(folder / "pipe");
  std::jthread writer([&] { std::ofstream(folder / "pipe") << "late but whole"; });

  const ReadBytes read = read_to_end(pipe.get(), {});

  BOOST_TEST(read.problem == "");
  BOOST_TEST(read.bytes == "late but whole");
}

BOOST_AUTO_TEST_CASE(bytes_that_drip_end_with_the_time_for_all) {
  const Pipe pipe = make_pipe();
  std::jthread writer([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      write_all(pipe.write.get(), "x");
      std::this_thread::yield();
    }
  });

  const ReadBytes read =
      read_to_end(pipe.read.get(), {.max_bytes = 1ull << 40, .quiet = 10s, .total = 50ms});

  BOOST_TEST(read.problem == "was not complete within 50 ms");
  // The writer may stand in a full pipe.
  writer.request_stop();
  std::string rest(1 << 20, '\0');
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  while (::read(pipe.read.get(), rest.data(), rest.size()) > 0) {
  }
}

BOOST_AUTO_TEST_CASE(a_device_without_an_end_is_too_large) {
  const Fd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  BOOST_TEST(read_to_end(zero.get(), {.max_bytes = 1000}).problem == "is larger than 1000 bytes");
}

BOOST_AUTO_TEST_CASE(what_files_may_be_read_as_files) {
  const TemporaryFolder folder;
  write_file(folder / "file", "text");
  BOOST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink(folder / "pipe", folder / "link");
  const struct {
    const char* name;
    Pipes pipes;
    const char* problem;
  } rows[] = {
      {"file", Pipes::refused, ""},
      {"pipe", Pipes::refused, "is not a regular file"},
      {"link", Pipes::refused, "is not a regular file"},
      {"/dev/null", Pipes::refused, "is not a regular file"},
      {"/dev/null", Pipes::accepted, ""},
      {"/dev/zero", Pipes::refused, "is not a regular file"},
      {"/dev/zero", Pipes::accepted, "is larger than 100 bytes"},
      {"missing", Pipes::accepted, "no such file"},
      {".", Pipes::accepted, "is a folder"},
  };
  for (const auto& row : rows)
    BOOST_TEST(read_bytes_file(folder / row.name, 100, row.pipes).problem == row.problem, row.name);
  BOOST_CHECK_THROW(read_file(folder / "pipe"), Error);
  BOOST_CHECK_THROW(read_file("/dev/zero"), Error);
}

BOOST_AUTO_TEST_CASE(a_reader_that_takes_nothing_is_not_waited_for_without_end) {
  const Pipe pipe = make_pipe();
  const std::string much(1 << 20, 'x');

  BOOST_TEST(write_within(pipe.write.get(), much, {.quiet = 50ms}) == ETIMEDOUT);

  std::stop_source stop;
  stop.request_stop();
  BOOST_TEST(write_within(pipe.write.get(), much, {}, stop.get_token()) == ECANCELED);
  // The flags are those of everybody who has the pipe.
  BOOST_TEST((::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK) == 0);
}

BOOST_AUTO_TEST_CASE(a_slow_reader_gets_all) {
  Pipe pipe = make_pipe();
  const std::string much(1 << 20, 'x');
  std::string got;
  {
    std::jthread reader([&] { got = read_to_end(pipe.read.get(), {.max_bytes = 1 << 21}).bytes; });
    BOOST_TEST(write_within(pipe.write.get(), much) == 0);
    pipe.write.reset();
  }
  BOOST_TEST((got == much));
}

BOOST_AUTO_TEST_CASE(a_reader_that_went_away_is_an_error_of_the_write) {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does
  Pipe pipe = make_pipe();
  pipe.read.reset();
  BOOST_TEST(write_within(pipe.write.get(), "x") == EPIPE);
}

BOOST_AUTO_TEST_CASE(a_pipe_without_a_reader_is_not_waited_for_without_end) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);

  const Fd none = open_for_writing(folder / "pipe", {.quiet = 50ms});

  BOOST_TEST(errno == ETIMEDOUT);
  BOOST_TEST(!none);
}

BOOST_AUTO_TEST_SUITE_END()
