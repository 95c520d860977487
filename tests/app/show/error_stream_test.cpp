#include "app/show/error_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <future>

#include "core/files/files.h"
#include "tests/app/show/stream_reader.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {
namespace {

using std::chrono::seconds;

std::string line(int number) {
  std::string text = "line " + std::to_string(number) + ' ';
  text.resize(199, '.');
  return text + '\n';
}

std::string lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += line(i);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(error_stream)

BOOST_AUTO_TEST_CASE(a_reader_that_stalls_misses_lines_and_is_told_how_many) {
  Pipe pipe = make_pipe();
  constexpr int kMany = 10'000;
  auto stream = std::make_unique<ErrorStream>(pipe.write.get());
  for (int i = 0; i < kMany; ++i) stream->write(line(i));  // 2 MB, and nobody reads
  BOOST_TEST(!stream->keeps_up());

  auto read = std::async(std::launch::async, [&r = pipe.read] { return read_all(r.get()); });
  stream->finish("the last line\n", kLong, {});
  stream.reset();
  pipe.write.reset();
  const std::string text = read.get();

  BOOST_TEST(
      text.ends_with(" left out here, since the reader of stderr was too far behind\n"
                     "the last line\n"));
  const std::size_t note = text.find("sortie: ");
  BOOST_REQUIRE(note != std::string::npos);
  const int missed = std::stoi(text.substr(note + 8));
  BOOST_TEST((text.substr(0, note) == lines(0, kMany - missed)));
  BOOST_TEST(text.size() > ErrorStream::kMostWaiting / 2);
}

BOOST_AUTO_TEST_CASE(a_reader_that_catches_up_is_told_where_lines_are_missing) {
  Pipe pipe = make_pipe();
  ErrorStream stream(pipe.write.get());
  for (int i = 0; i < 3000; ++i) stream.write(line(i));
  std::string text;
  std::array<char, 65536> buffer;
  while (!stream.keeps_up() || text.find("line 2999") == std::string::npos) {
    stream.write(line(2999));
    const ssize_t count = ::read(pipe.read.get(), buffer.data(), buffer.size());
    BOOST_REQUIRE(count > 0);
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const std::size_t note = text.find("sortie: ");
  BOOST_REQUIRE(note != std::string::npos);
  BOOST_TEST(text.find("lines are left out here", note) < text.find('\n', note));
  BOOST_TEST(text.find("line 2999 ", note) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_that_never_reads_does_not_keep_the_end_from_coming) {
  std::stop_source stop;
  stop.request_stop();
  const struct {
    std::chrono::milliseconds patience;
    std::stop_token stop;
  } rows[] = {{std::chrono::milliseconds(50), {}}, {kLong, stop.get_token()}};
  for (const auto& row : rows) {
    const Pipe pipe = make_pipe();
    ErrorStream stream(pipe.write.get());
    for (int i = 0; i < 3000; ++i) stream.write(line(i));
    stream.finish("the last line\n", row.patience, row.stop);
  }
}

BOOST_AUTO_TEST_CASE(lines_that_share_a_pipe_with_events_stand_between_them) {
  Pipe pipe = make_pipe();
  Fd other(::dup(pipe.write.get()));
  const TemporaryFolder folder;
  auto events = std::make_unique<EventWriter>(
      pipe.write.get(), EventWriter::Options{.memory_bytes = 1u << 20, .folder = folder.path()});
  auto stream = std::make_unique<ErrorStream>(other.get());
  BOOST_REQUIRE(stream->is_same_as(pipe.write.get()));
  stream->go_through(events.get());
  std::string expected;
  for (int i = 0; i < 3000;
       ++i) {  // 15 MB: longer lines than a pipe takes at once, and nobody reads
    const std::string event = std::to_string(i) + std::string(5000, 'e') + '\n';
    events->write(event);
    stream->write(line(i));
    expected += event + line(i);
  }
  auto read = std::async(std::launch::async, [&r = pipe.read] { return read_all(r.get()); });
  stream->finish("the last line\n", kLong, {});
  stream->go_through(nullptr);
  events.reset();
  stream.reset();
  pipe.write.reset();
  other.reset();

  BOOST_TEST((read.get() == expected + "the last line\n"));
}

BOOST_AUTO_TEST_CASE(a_file_takes_each_line_at_once_and_a_reader_that_has_gone_ends_nothing) {
  std::signal(SIGPIPE, SIG_IGN);
  const TemporaryFolder folder;
  const std::string path = folder / "log";
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  ErrorStream stream(file.get());
  BOOST_TEST(!stream.is_same_as(STDOUT_FILENO));
  stream.write("a line\n");
  BOOST_TEST(read_file(path) == "a line\n");
  stream.finish("the last line\n", kLong, {});
  BOOST_TEST(read_file(path) == "a line\nthe last line\n");

  Pipe pipe = make_pipe();
  pipe.read.reset();
  ErrorStream closed(pipe.write.get());
  for (int i = 0; i < 3000; ++i) closed.write(line(i));
  closed.finish("the last line\n", kLong, {});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace sortie::test
