#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>

#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

/// Reads until the text is there, or the command has ended and left no more.
std::string read_until(RunningCommand& command, const std::string& text) {
  std::string all;
  for (bool ended = false; all.find(text) == std::string::npos;) {
    char buffer[4096];
    const ssize_t count = ::read(command.output().get(), buffer, sizeof buffer);
    if (count > 0) {
      all.append(buffer, static_cast<std::size_t>(count));
      continue;
    }
    if (ended) break;
    pollfd wait[] = {{command.output().get(), POLLIN, 0}, {command.ended_descriptor(), POLLIN, 0}};
    if (::poll(wait, 2, 20'000) == 0) return all + "(nothing came for 20 s)";
    ended = command.status().has_value();
  }
  return all;
}

ExitStatus end_of(RunningCommand& command) {
  for (;;) {
    if (const auto status = command.status()) return *status;
    pollfd wait{command.ended_descriptor(), POLLIN, 0};
    if (::poll(&wait, 1, 20'000) == 0) throw Error("the command does not end");
  }
}

std::string ended(const ExitStatus& status) {
  return std::to_string(static_cast<int>(status.ending)) + ':' + std::to_string(status.code);
}

/// Runs the body for root and a user, with and without namespaces.
void in_each_way(const std::function<std::string(Sandboxed&, Keeper&)>& body) {
  ::signal(SIGPIPE, SIG_IGN);
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      Keeper keeper(here.profile);
      std::string text = body(here, keeper);
      if (!keeper.shut_down()) text += "not everything has ended\n";
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

std::string differs(const std::string& what, const std::string& is, const std::string& wanted) {
  return is == wanted ? "" : what + " is '" + is + "', wanted '" + wanted + "'\n";
}

BOOST_AUTO_TEST_SUITE(command_streams)

BOOST_AUTO_TEST_CASE(a_command_without_input_reads_nothing) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    return differs("cat", said(run(keeper, here.shell("cat; readlink /proc/self/fd/0"))),
                   "0:0:/dev/null\n");
  });
}

BOOST_AUTO_TEST_CASE(what_is_written_to_the_pipe_is_the_commands_input) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("read line; echo \"got $line\"; cat; echo end");
    command.input = CommandInput::pipe;
    const auto running = keeper.launcher().start(command);
    write_all(running->input().get(), "one\n");
    std::string text = differs("first", read_until(*running, "\n"), "got one\n");
    write_all(running->input().get(), "two\n");
    text += differs("second", read_until(*running, "\n"), "two\n");
    running->input().reset();
    text += differs("rest", read_until(*running, "end\n"), "end\n");
    return text + differs("status", ended(end_of(*running)), "0:0");
  });
}

BOOST_AUTO_TEST_CASE(more_than_a_pipe_holds_goes_in_and_out_again) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("cat");
    command.input = CommandInput::pipe;
    std::string sent;
    for (int i = 0; i < 300'000; ++i) sent += std::to_string(i) + '\n';
    std::string came;
    const ExitStatus status =
        run_command(keeper.launcher(), command,
                    {.output = [&](std::string_view part) { came += part; }, .input = sent}, {});
    return differs("status", ended(status), "0:0") + (came == sent ? "" : "the text differs\n");
  });
}

BOOST_AUTO_TEST_CASE(a_command_need_not_read_its_input) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("exec <&-; echo closed; exec tail -f /dev/null");
    command.input = CommandInput::pipe;
    const std::string much(1 << 20, 'x');
    const auto running = keeper.launcher().start(command);
    std::string text = differs("output", read_until(*running, "\n"), "closed\n");
    pollfd until_nobody_reads{running->input().get(), 0, 0};  // POLLERR
    if (::poll(&until_nobody_reads, 1, 20'000) != 1) text += "the input is still read\n";
    const bool written = write_all(running->input().get(), "x");
    if (written || errno != EPIPE) text += "writing to nobody worked\n";
    running->end(Ending::cancelled);

    Command ends = here.shell("exit 3");
    ends.input = CommandInput::pipe;
    const ExitStatus status = run_command(keeper.launcher(), ends, {.input = much}, {});
    return text + differs("status", ended(status), "0:3");
  });
}

BOOST_AUTO_TEST_CASE(a_command_that_is_asked_to_end_may_tidy_up) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    const auto running = keeper.launcher().start(
        here.shell("trap 'echo bye; exit 5' TERM; echo ready; tail -f /dev/null & wait"));
    std::string text = differs("output", read_until(*running, "ready\n"), "ready\n");
    running->ask_to_end();
    text += differs("its last words", read_until(*running, "bye\n"), "bye\n");
    return text + differs("status", ended(end_of(*running)), "0:5");
  });
}

BOOST_AUTO_TEST_CASE(what_a_wrapper_has_started_hears_that_it_is_to_end) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    const auto running =
        keeper.launcher().start(here.shell("trap : TERM; sh -c 'trap \"echo leaf; exit\" TERM; "
                                           "echo ready; tail -f /dev/null & wait' & "
                                           "wait; wait; exit 3"));
    std::string text = differs("output", read_until(*running, "ready\n"), "ready\n");
    running->ask_to_end();
    text += differs("its last words", read_until(*running, "leaf\n"), "leaf\n");
    return text + differs("status", ended(end_of(*running)), "0:3");
  });
}

BOOST_AUTO_TEST_CASE(a_command_that_is_deaf_goes_on_until_it_is_killed) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("trap '' TERM; echo ready; exec cat");
    command.input = CommandInput::pipe;
    const auto running = keeper.launcher().start(command);
    std::string text = differs("output", read_until(*running, "ready\n"), "ready\n");
    running->ask_to_end();
    running->ask_to_end();
    write_all(running->input().get(), "still here\n");
    text += differs("answer", read_until(*running, "\n"), "still here\n");
    running->end(Ending::cancelled);
    return text + differs("status", ended(end_of(*running)), ended({.ending = Ending::cancelled}));
  });
}

BOOST_AUTO_TEST_CASE(errors_come_apart_where_that_is_asked_for) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("echo out; echo err >&2; echo out; echo err >&2");
    command.errors_apart = true;
    std::string out;
    std::string err;
    const ExitStatus status = run_command(keeper.launcher(), command,
                                          {.output = [&](std::string_view part) { out += part; },
                                           .errors = [&](std::string_view part) { err += part; }},
                                          {});
    return differs("status", ended(status), "0:0") + differs("output", out, "out\nout\n") +
           differs("errors", err, "err\nerr\n");
  });
}

BOOST_AUTO_TEST_CASE(both_streams_count_for_the_output_limit_and_none_is_0) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("head -c 60000 /dev/zero; head -c 60000 /dev/zero >&2");
    command.errors_apart = true;
    std::size_t bytes = 0;
    const CommandTraffic count = {.output = [&](std::string_view part) { bytes += part.size(); },
                                  .errors = [&](std::string_view part) { bytes += part.size(); }};
    command.max_output_bytes = 100'000;
    const ExitStatus limited = run_command(keeper.launcher(), command, count, {});
    std::string text = differs("bytes", std::to_string(bytes), "100000");
    if (limited.ending != Ending::output_limit) text += "it is not stopped at the limit\n";
    bytes = 0;
    command.max_output_bytes = 0;
    const ExitStatus whole = run_command(keeper.launcher(), command, count, {});
    return text + differs("status", ended(whole), "0:0") +
           differs("bytes", std::to_string(bytes), "120000");
  });
}

BOOST_AUTO_TEST_CASE(a_terminal_is_the_commands_own_and_has_a_name_and_a_size) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell(
        "t=$(tty) && test -t 0 -a -t 1 -a -t 2 && stat -c '%u %a' $t && stty size && "
        "echo by name > /dev/tty && ls /proc/self/fd | wc -l && echo it is $t");
    command.input = CommandInput::terminal;
    const auto running = keeper.launcher().start(command);
    const std::string all = read_until(*running, "it is /dev/pts/");
    const std::string wanted =
        std::to_string(here.profile.uid) + " 600\r\n24 80\r\nby name\r\n4\r\nit is /dev/pts/";
    return differs("output", all.substr(0, wanted.size()), wanted) +
           differs("status", ended(end_of(*running)), "0:0");
  });
}

BOOST_AUTO_TEST_CASE(control_characters_are_the_terminals) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command sleeper = here.shell("echo ready; exec tail -f /dev/null");
    sleeper.input = CommandInput::terminal;
    const auto interrupted = keeper.launcher().start(sleeper);
    read_until(*interrupted, "ready");
    write_all(interrupted->input().get(), "\x03");
    std::string text = differs("by control-C", ended(end_of(*interrupted)),
                               ended({.ending = Ending::signalled, .code = SIGINT}));

    Command reader = here.shell("cat; echo end");
    reader.input = CommandInput::terminal;
    const auto read = keeper.launcher().start(reader);
    write_all(read->input().get(), "line\n\x04");
    text += differs("output", read_until(*read, "end\r\n"), "line\r\nline\r\nend\r\n");
    return text + differs("by control-D", ended(end_of(*read)), "0:0");
  });
}

BOOST_AUTO_TEST_CASE(terminals_are_apart_and_end_with_their_commands) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("tty; exec tail -f /dev/null");
    command.input = CommandInput::terminal;
    const auto first = keeper.launcher().start(command);
    const std::string name = read_until(*first, "\n");
    auto second = keeper.launcher().start(command);
    std::string text = read_until(*second, "\n") == name ? "both are " + name : "";
    second.reset();
    first->end(Ending::timed_out);
    text += differs("status", ended(end_of(*first)), ended({.ending = Ending::timed_out}));
    char byte = 0;
    if (::read(first->output().get(), &byte, 1) != -1 || errno != EIO)
      text += "the terminal is still held\n";
    return text;
  });
}

BOOST_AUTO_TEST_CASE(errors_of_a_terminals_command_may_come_apart) {
  in_each_way([](Sandboxed& here, Keeper& keeper) {
    Command command = here.shell("test -t 1 && ! test -t 2 && echo error >&2");
    command.input = CommandInput::terminal;
    command.errors_apart = true;
    std::string err;
    const ExitStatus status = run_command(
        keeper.launcher(), command, {.errors = [&](std::string_view part) { err += part; }}, {});
    return differs("status", ended(status), "0:0") + differs("errors", err, "error\n");
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
