#include "core/process/process.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "tests/fakes/fake_launcher.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

struct Ran {
  ExitStatus status;
  std::string output;
};

Ran run(FakeLauncher& launcher, const Command& command, std::stop_token stop = {}) {
  Ran ran;
  ran.status = run_command(
      launcher, command, [&](std::string_view part) { ran.output += part; }, std::move(stop));
  return ran;
}

BOOST_AUTO_TEST_SUITE(process)

BOOST_AUTO_TEST_CASE(output_and_status_of_a_command_that_ends_by_itself) {
  FakeLauncher launcher;
  const std::string text(300'000, 'x');
  launcher.answer = [&](const Command&) {
    return FakeLauncher::Answer{text, ExitStatus{.code = 7, .ended_background = true}};
  };

  const Ran ran = run(launcher, {.argv = {"build"}});

  BOOST_TEST((ran.status.ending == Ending::exited));
  BOOST_TEST(ran.status.code == 7);
  BOOST_TEST(ran.status.ended_background);
  BOOST_TEST((ran.output == text));
  BOOST_TEST(launcher.started.size() == 1u);
  BOOST_TEST(launcher.started.front().argv.front() == "build");
}

BOOST_AUTO_TEST_CASE(a_command_past_its_time_is_ended) {
  FakeLauncher launcher;
  launcher.answer = [](const Command&) { return FakeLauncher::Answer{"half", std::nullopt}; };

  const Ran ran = run(launcher, {.argv = {"sleep"}, .timeout = 1ms});

  BOOST_TEST((ran.status.ending == Ending::timed_out));
  BOOST_TEST(ran.output == "half");
}

BOOST_AUTO_TEST_CASE(output_past_the_limit_is_cut_and_ends_the_command) {
  const std::optional<ExitStatus> ends[] = {std::nullopt, ExitStatus{}};
  for (const auto& end : ends) {
    FakeLauncher launcher;
    launcher.answer = [&](const Command&) { return FakeLauncher::Answer{"0123456789", end}; };

    const Ran ran = run(launcher, {.argv = {"yes"}, .max_output_bytes = 4});

    BOOST_TEST((ran.status.ending == Ending::output_limit));
    BOOST_TEST(ran.output == "0123");
  }
}

BOOST_AUTO_TEST_CASE(output_of_exactly_the_limit_is_no_breach) {
  FakeLauncher launcher;
  launcher.answer = [](const Command&) { return FakeLauncher::Answer{"0123", ExitStatus{}}; };

  const Ran ran = run(launcher, {.argv = {"echo"}, .max_output_bytes = 4});

  BOOST_TEST(ran.status.success());
  BOOST_TEST(ran.output == "0123");
}

BOOST_AUTO_TEST_CASE(a_stop_request_ends_the_command) {
  FakeLauncher launcher;
  launcher.answer = [](const Command&) { return FakeLauncher::Answer{"", std::nullopt}; };
  std::stop_source stop;
  stop.request_stop();

  BOOST_TEST(
      (run(launcher, {.argv = {"sleep"}}, stop.get_token()).status.ending == Ending::cancelled));
}

BOOST_AUTO_TEST_CASE(a_program_that_does_not_exist_is_a_status) {
  FakeLauncher launcher;
  launcher.answer = [](const Command&) {
    return FakeLauncher::Answer{
        "", ExitStatus{.ending = Ending::not_started, .detail = "no such program 'x' on PATH"}};
  };

  const Ran ran = run(launcher, {.argv = {"x"}});

  BOOST_TEST(!ran.status.success());
  BOOST_TEST(ran.status.detail == "no such program 'x' on PATH");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie
