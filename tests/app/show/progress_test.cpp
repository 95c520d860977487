#include "app/show/progress.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/fd.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(progress)

BOOST_AUTO_TEST_CASE(a_job_without_a_terminal_hears_that_a_silent_run_is_at_work) {
  const Pipe pipe = make_pipe();
  ErrorStream errors(pipe.write.get());
  const Redactor redactor;
  Progress progress({}, {}, redactor, errors, std::chrono::seconds(0));

  std::string said;
  std::array<char, 4096> buffer{};
  while (said.find("still at work: turn 0, ") == std::string::npos) {
    pollfd ready{.fd = pipe.read.get(), .events = POLLIN, .revents = 0};
    BOOST_REQUIRE(::poll(&ready, 1, 120'000) == 1);
    const ssize_t count = ::read(pipe.read.get(), buffer.data(), buffer.size());
    BOOST_REQUIRE(count > 0);
    said.append(buffer.data(), static_cast<std::size_t>(count));
  }

  BOOST_TEST(said.find('\r') == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
