#include <boost/test/unit_test.hpp>

#include "tests/tools/commands/session_talk.h"

// How long exec_command and write_stdin wait where the model names no time. What a command prints
// "late" comes seconds after its answer: a wait that has not ended before shows it.

namespace sortie::test {
namespace {

BOOST_AUTO_TEST_SUITE(session_waits)

BOOST_AUTO_TEST_CASE(a_terminals_prompt_is_shown_at_once) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string shown = talk.exec_freely("printf 'name? '; sleep 6; echo late", true);
    return lacks("prompt", shown, "name? ") + has("prompt", shown, "late");
  });
}

BOOST_AUTO_TEST_CASE(an_answer_to_what_was_typed_is_shown_at_once) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong;
    for (const bool tty : {true, false}) {
      talk.start("echo ready; read x; echo \"got $x\"; sleep 6; echo late", tty, "ready");
      std::string shown = talk.write_freely(Json::object({{"chars", "7\n"}}));
      // On a slow machine the answer may come after the first pause.
      for (int i = 0; i < 20 && shown.find("got 7") == std::string::npos; ++i)
        shown += talk.write(talk.last_id());
      wrong += lacks("answer", shown, "got 7\n") + has("answer", shown, "late");
    }
    return wrong;
  });
}

BOOST_AUTO_TEST_CASE(output_of_whole_lines_is_waited_for_until_the_end) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    talk.start("echo ready; sleep 1; echo one; sleep 1; echo two", false, "ready");
    const std::string shown = talk.write_freely(Json::object({}));
    return lacks("end", shown, "Exit code: 0") + lacks("end", shown, "two\n");
  });
}

BOOST_AUTO_TEST_CASE(a_time_out_of_range_is_taken_as_the_nearest) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const auto with = [](int ms) { return Json::object({{"yield_time_ms", ms}}); };
    return lacks("long", talk.exec("echo a", with(600'000)), "Exit code: 0") +
           lacks("short", talk.exec("exec tail -f /dev/null", with(1)), "session ID");
  });
}

BOOST_AUTO_TEST_CASE(one_that_ignores_control_c_is_killed_when_asked) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong;
    for (const bool tty : {true, false}) {
      talk.start("trap '' INT QUIT TERM HUP; echo ready; while :; do sleep 1; done", tty, "ready");
      const std::string shown = talk.write_freely(Json::object({{"kill", true}}));
      wrong += lacks("kill", shown, "killed as asked") + lacks("kill", shown, "Exit code: 137");
      wrong += lacks("gone", talk.write(talk.last_id()), "has ended");
    }
    return wrong;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
