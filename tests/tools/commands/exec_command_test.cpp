#include "tools/commands/exec_command.h"

#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "core/base/error.h"
#include "tests/tools/commands/session_talk.h"

namespace sortie::test {
namespace {

using namespace std::chrono_literals;

bool is_installed(const std::string& program) {
  for (const char* folder : {"/usr/bin/", "/bin/"})
    if (fs::exists(folder + program)) return true;
  BOOST_TEST_MESSAGE("skipped: there is no " << program << " here");
  return false;
}

BOOST_AUTO_TEST_SUITE(exec_command)

BOOST_AUTO_TEST_CASE(a_command_that_ends_in_time_is_told_as_by_shell) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string all =
        talk.exec("echo out; echo err >&2; exit 3", Json::object({{"yield_time_ms", 20'000}}));
    std::string wrong = lacks("begin", all.substr(0, 13), "Exit code: 3\n");
    wrong += lacks("output", all, "seconds\nOutput:\nout\nerr\n");
    if (talk.last.success || !talk.last.exit || talk.last.session)
      wrong += "the result is not that of an ended command\n";
    return wrong + lacks("gone", talk.write(1), "error: session 1 has ended with exit code 3");
  });
}

BOOST_AUTO_TEST_CASE(the_shell_is_bash_or_the_program_that_is_named) {
  if (!is_installed("python3")) return;
  in_each_way([](Talk& talk, const Sandboxed&) {
    const auto run = [&](const char* shell, const char* cmd) {
      return talk.exec(cmd, Json::object({{"shell", shell}, {"yield_time_ms", 20'000}}));
    };
    const std::string zsh = run("zsh", "echo \"${BASH_VERSION:+by bash}\"");
    const std::string wrong = lacks("zsh", zsh, "Output:\nby bash\n") +
                              lacks("zsh", talk.last.note, "run by bash, not zsh");
    return wrong + lacks("python3", run("python3", "print(6 * 7)"), "Output:\n42\n");
  });
}

BOOST_AUTO_TEST_CASE(a_python_prompt_answers_over_a_terminal_and_over_a_pipe) {
  if (!is_installed("python3")) return;
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong;
    for (const bool tty : {true, false}) {
      const std::string first = talk.start("python3 -q -i", tty, ">>>");
      const int id = talk.last_id();
      wrong += lacks("prompt", first, ">>>");
      wrong += lacks("running", first, "Process running with session ID " + std::to_string(id));
      wrong += lacks("answer", talk.wait_for(id, "42\n", "print(6 * 7)\n"), "42\n");
      wrong += lacks("state", talk.wait_for(id, "set", "x = 'se' + 't'\nprint(x)\n"), "set");
      wrong += lacks("end", talk.wait_for(id, "Exit code", "\x04"), "Exit code: 0");
    }
    return wrong;
  });
}

BOOST_AUTO_TEST_CASE(git_asks_hunk_by_hunk) {
  if (!is_installed("git")) return;
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string made = talk.exec(
        "cd $HOME && git init -q r && cd r && seq 40 > f && git add f && git -c user.name=a -c "
        "user.email=a@b commit -qm x && sed -i -e 's/^3$/three/' -e 's/^38$/last/' f && echo made",
        Json::object({{"yield_time_ms", 20'000}}));
    std::string wrong = lacks("made", made, "made");
    talk.start("cd $HOME/r && git add -p", true, "[y,n,q");
    const int id = talk.last_id();
    wrong += lacks("second", talk.wait_for(id, "+last", "y\n"), "+last");
    wrong += lacks("end", talk.wait_for(id, "Exit code", "n\n"), "Exit code: 0");
    const std::string staged =
        talk.exec("cd $HOME/r && git diff --cached", Json::object({{"yield_time_ms", 20'000}}));
    return wrong + lacks("staged", staged, "+three") + has("staged", staged, "+last");
  });
}

BOOST_AUTO_TEST_CASE(a_password_is_typed_without_being_shown) {
  if (!is_installed("python3")) return;
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong;
    for (const char* program :
         {"python3 -c 'import getpass; print(\"letters:\", len(getpass.getpass()))'",
          "read -rsp 'Password: ' typed; echo; echo \"letters: ${#typed}\""}) {
      const std::string asked = talk.start(program, true, "Password:");
      const std::string told = talk.wait_for(talk.last_id(), "Exit code", "hunter2\n");
      wrong += lacks("asked", asked, "Password:") + lacks("told", told, "letters: 7") +
               has("told", told, "hunter2");
    }
    return wrong;
  });
}

BOOST_AUTO_TEST_CASE(no_prompt_is_hidden_by_what_could_be_a_secret) {
  if (!is_installed("python3")) return;
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong;
    for (const bool tty : {true, false}) {
      // The beginning of a token, of a known value, and of a character.
      for (const std::string prompt : {"npm_", "your task", "s3c", "-----BEGIN ", "sk-ab"}) {
        const std::string asked = talk.start(
            "python3 -c 'x = input(\"" + prompt + "\"); print(\"got\", x)'", tty, prompt);
        wrong += lacks("asked", asked, "Output:\n" + prompt) +
                 lacks("answer", talk.wait_for(talk.last_id(), "Exit code", "yes\n"), "got yes\n");
      }
      // What stays hidden is told of.
      std::string kept = talk.exec("printf 's3cr3t-va'; read x", Json::object({{"tty", tty}}));
      for (int i = 0; i < 80 && kept.find("held back") == std::string::npos; ++i)
        kept += talk.write(talk.last_id());
      wrong += lacks("told", kept,
                     "the last 9 bytes of the output are held back, since they may be the "
                     "beginning of a secret") +
               has("shown", kept, "s3c");
      talk.wait_for(talk.last_id(), "Exit code", "\n");
    }
    return wrong;
  });
}

BOOST_AUTO_TEST_CASE(full_screen_programs_are_left_by_what_is_typed) {
  const struct {
    const char* program;
    const char* command;
    const char* screen;
    const char* typed;
    const char* left;
  } rows[] = {
      {"less", "seq 1000 | less -K", "\n20\n", "", "Exit code: 2"},
      {"top", "top -d 1", "PID", "", "Exit code: 0"},
      {"vi", "echo 'in a file' > $HOME/text; vi -u NONE $HOME/text", "in a file", ":q!\r",
       "Exit code: 0"},
      {"watch", "watch -n 1 echo again", "again", "", "Exit code"},
  };
  for (const auto& row : rows) {
    if (!is_installed(row.program)) continue;
    in_each_way([&row](Talk& talk, const Sandboxed&) {
      const std::string screen =
          talk.start(std::string("export TERM=xterm; ") + row.command, true, row.screen);
      const int id = talk.last_id();
      std::string left = talk.write(id, "\x03");  // by itself: it flushes what is typed with it
      if (left.find("Exit code") == std::string::npos)
        left += talk.wait_for(id, "Exit code", row.typed);
      return lacks(row.command, screen, row.screen) + lacks(row.command, left, row.left) +
             has(row.command, screen + left, "\x1b");
    });
  }
}

BOOST_AUTO_TEST_CASE(a_full_screen_program_is_left_by_control_c) {
  if (!is_installed("python3")) return;
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string screen = talk.start(
        "export TERM=xterm; python3 -c 'import curses\n"
        "def draw(s):\n  s.addstr(3, 5, \"full screen!\"); s.refresh()\n  while True: s.getch()\n"
        "curses.wrapper(draw)'",
        true, "full screen!");
    const std::string left = talk.wait_for(talk.last_id(), "Exit code", "\x03");
    return lacks("screen", screen, "full screen") + lacks("left", left, "KeyboardInterrupt") +
           lacks("left", left, "Exit code: 1") + has("controls", screen + left, "\x1b");
  });
}

BOOST_AUTO_TEST_CASE(without_a_terminal_control_c_ends_the_session) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    talk.start("echo ready; exec tail -f /dev/null", false, "ready");
    const std::string all = talk.wait_for(talk.last_id(), "Exit code", "\x03");
    return lacks("end", all, "Killed by signal 9 (SIGKILL): ended by control-C\nExit code: 137");
  });
}

BOOST_AUTO_TEST_CASE(one_that_ignores_signals_or_is_silent_for_ever_ends_at_its_limit) {
  ShellOptions options;
  options.command_timeout = 1500ms;
  in_each_way(
      [](Talk& talk, const Sandboxed&) {
        std::string wrong;
        for (const bool tty : {true, false}) {
          talk.exec("trap '' TERM INT HUP; while :; do sleep 0.1; done",
                    Json::object({{"tty", tty}}));
          const std::string deaf = talk.wait_for(talk.last_id(), "Exit code");
          wrong += lacks("deaf", deaf, "Killed after 1.5 s: command_timeout\nExit code: 124");
          const std::string silent = talk.exec(
              "exec tail -f /dev/null", Json::object({{"tty", tty}, {"yield_time_ms", 20'000}}));
          wrong += lacks("silent", silent, "Killed after 1.5 s: command_timeout");
        }
        for (const char* script :
             {"trap '' TERM INT HUP; while :; do sleep 0.1; done", "exec tail -f /dev/null"})
          wrong += lacks(script, talk.shell->run(Json::object({{"command", script}}), {}).head,
                         "Killed after 1.5 s: command_timeout\nExit code: 124");
        return wrong;
      },
      options);
}

/// The most memory that this process has had, in KiB.
long peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  return 0;
}

BOOST_AUTO_TEST_CASE(a_gibibyte_is_stopped_at_the_output_limit_in_little_memory) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string flood = "head -c 1G /dev/zero | tr '\\\\0' 'x' | fold -w 99";
    const long before = peak_memory();
    std::string wrong;
    for (const bool tty : {true, false}) {
      talk.exec(flood, Json::object({{"tty", tty}}));
      std::string all;
      for (int tries = 0; tries < 5 && all.find("Exit code") == std::string::npos; ++tries)
        all = talk.write(talk.last_id(), {}, 30'000);
      wrong += lacks("exec_command", all, "Killed after 64.0 MiB of output: output\n");
      if (talk.last.collected->shown.size() > 12'000) wrong += "too much of it is shown\n";
    }
    const ToolResult result = talk.shell->run(Json::object({{"command", flood}}), {});
    wrong += lacks("shell", result.head, "Killed after 64.0 MiB of output: output\n");
    const long grown = peak_memory() - before;
    if (grown >= 32 * 1024) wrong += "it took " + std::to_string(grown) + " KiB of memory\n";
    return wrong;
  });
}

BOOST_AUTO_TEST_CASE(what_is_shown_in_part_stands_whole_in_the_files_that_the_lines_name) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string named = "; the whole output is in ";
    std::string wrong;
    for (const bool tty : {true, false}) {
      std::string whole;
      int files = 0;
      const auto take = [&] {
        const std::string shown = talk.last.collected->shown;
        const std::size_t at = shown.find(named);
        if (at == std::string::npos) {
          whole += shown;
          return;
        }
        const std::size_t begin = at + named.size();
        std::ifstream file(shown.substr(begin, shown.find(" …", begin) - begin));
        whole.append(std::istreambuf_iterator<char>(file), {});
        ++files;
      };
      talk.exec("stty -echo 2>/dev/null; seq 20000; echo s3cr3t-value; read x; seq 20001 40000",
                Json::object({{"tty", tty}}));
      take();
      const int id = talk.last_id();
      // What comes next may be held back, as the beginning of a longer secret, until more comes.
      for (int i = 0; i < 80 && whole.find("\n20000\n") == std::string::npos; ++i) {
        talk.write(id);
        take();
      }
      talk.write(id, "\n");
      take();
      for (int i = 0; i < 80 && !talk.last.exit; ++i) {
        talk.write(id);
        take();
      }
      std::string expected;
      for (int i = 1; i <= 40000; ++i) {
        expected += std::to_string(i) + '\n';
        if (i == 20000) expected += "[REDACTED:KEY]\n";
      }
      if (whole != expected) wrong += "not all of it stands in the files\n";
      if (files < 2) wrong += "there are no files\n";
    }
    // Of one who asks for less, what is left out stands in a file as well.
    const std::string few =
        talk.exec("seq 100", Json::object({{"yield_time_ms", 20'000}, {"max_output_tokens", 10}}));
    return wrong + lacks("few", few, named);
  });
}

BOOST_AUTO_TEST_CASE(what_is_printed_while_nobody_asks_is_kept_and_does_not_hold_it_up) {
  in_each_way([](Talk& talk, const Sandboxed& here) {
    talk.exec("sleep 0.4; seq 200000; touch $HOME/done; exec tail -f /dev/null");
    const int id = talk.last_id();
    std::string done;
    for (int tries = 0; tries < 80 && done.find("yes") == std::string::npos; ++tries)
      done = talk.exec("test -e $HOME/done && echo yes", Json::object({{"yield_time_ms", 2000}}));
    const std::string all = talk.write(id);
    (void)here;
    return lacks("done", done, "yes") + lacks("head", all, "\n1\n2\n3\n") +
           lacks("tail", all, "\n199999\n200000\n") + lacks("between", all, "left out") +
           lacks("lines", all, "Total output lines: 200000\n");
  });
}

BOOST_AUTO_TEST_CASE(the_seventeenth_session_is_refused_in_clear_words) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong;
    for (int i = 1; i <= 16; ++i)
      wrong += lacks("start", talk.exec("exec tail -f /dev/null"),
                     "session ID " + std::to_string(i) + "\n");
    wrong += lacks("17th", talk.exec("true"), "error: not started: 16 sessions are running");
    talk.wait_for(5, "Exit code", "\x03");
    return wrong + lacks("again", talk.exec("echo works", Json::object({{"yield_time_ms", 9000}})),
                         "works");
  });
}

BOOST_AUTO_TEST_CASE(sessions_that_are_not_there_are_named_as_such) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong = lacks("none", talk.write(7), "error: no session 7; none is open");
    talk.start("echo ready; read line; echo last; exit 4", false, "ready");
    const int id = talk.last_id();
    wrong += lacks("other", talk.write(id + 1), "open sessions: " + std::to_string(id));
    talk.exec("true", Json::object({{"yield_time_ms", 9000}}));
    talk.write(id, "x\n", 250);
    std::string ended = talk.write(id, "y\n", 9000);
    if (ended.find("error") == std::string::npos) ended = talk.write(id, "z\n");
    return wrong +
           lacks("ended", ended, "session " + std::to_string(id) + " has ended with exit code 4");
  });
}

BOOST_AUTO_TEST_CASE(writing_to_one_that_has_ended_says_so_with_its_last_output) {
  in_each_way([](Talk& talk, const Sandboxed& here) {
    talk.exec("sleep 0.5; echo last; touch $HOME/done; exit 4");
    const int id = talk.last_id();
    (void)here;
    // The next command begins after it: nothing of it is left then.
    talk.exec("while ! test -e $HOME/done; do sleep 0.05; done; sleep 0.3",
              Json::object({{"yield_time_ms", 9000}}));
    const std::string all = talk.write(id, "x\n");
    std::string wrong = lacks("exit", all, "Exit code: 4");
    wrong += lacks("output", all, "last\n");
    return wrong + lacks("note", all, "the session had already ended: nothing was written");
  });
}

BOOST_AUTO_TEST_CASE(a_character_cut_in_two_by_a_wait_comes_whole) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    std::string wrong;
    for (const bool tty : {true, false}) {
      const std::string first = talk.start(
          "stty -echo 2>/dev/null; printf 'euro: \\342\\202'; read x; printf '\\254!\\n'", tty,
          "euro: ");
      const std::string rest = talk.wait_for(talk.last_id(), "Exit code", "\n");
      wrong += lacks("rest", rest, "€!") + has("first", first, "\xef\xbf\xbd");
    }
    return wrong;
  });
}

BOOST_AUTO_TEST_CASE(a_secret_cut_in_two_by_a_wait_is_not_shown) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string first =
        talk.start("printf 'it is: s3cr3t'; read x; echo -value", false, "it is: ");
    const std::string rest = talk.wait_for(talk.last_id(), "Exit code", "\n");
    return has("first", first, "s3c") + lacks("rest", rest, "[REDACTED:KEY]");
  });
}

BOOST_AUTO_TEST_CASE(fewer_tokens_show_less) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string all =
        talk.exec("seq 1000", Json::object({{"yield_time_ms", 20'000}, {"max_output_tokens", 20}}));
    return lacks("head", all, "Total output lines: 1000\nOutput:\n1\n2\n") +
           lacks("tail", all, "\n1000\n") + has("middle", all, "\n50\n") +
           (all.size() > 300 ? "too much is shown: " + all : "");
  });
}

BOOST_AUTO_TEST_CASE(input_that_is_not_read_is_told) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    talk.exec("exec tail -f /dev/null");
    const std::string all = talk.write(talk.last_id(), std::string(300'000, 'x'));
    return lacks("note", all, "of the input yet");
  });
}

BOOST_AUTO_TEST_CASE(all_sessions_end_at_once_and_leave_nothing) {
  in_each_way([](Talk& talk, const Sandboxed& here) {
    const std::string marker = "31557602." + std::to_string(::getpid());
    for (const bool tty : {true, false, true}) {
      const std::string first =
          talk.exec("trap '' HUP TERM; setsid sleep " + marker + " & echo ready; sleep " + marker,
                    Json::object({{"tty", tty}}));
      if (first.find("ready") == std::string::npos) talk.wait_for(talk.last_id(), "ready");
    }
    (void)here;
    std::string wrong = count_marked(marker) >= 3 ? "" : "they do not run\n";
    if (talk.sessions->end_all("when you ended your turn") != 3) wrong += "not three were open\n";
    if (count_marked(marker) != 0) wrong += "some are left\n";
    wrong += lacks("gone", talk.write(1), "session 1 was ended when you ended your turn");
    return wrong +
           lacks("new", talk.exec("echo works", Json::object({{"yield_time_ms", 9000}})), "works");
  });
}

BOOST_AUTO_TEST_CASE(what_leaves_its_terminal_and_changes_its_name_shows_its_output_and_ends_too) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string marker = "31557603." + std::to_string(::getpid());
    const std::string daemon =
        "setsid -f bash -c 'exec -a sortie-" + marker + " sleep " + marker + "'";
    const std::string scripts[] = {
        daemon + "; echo ready; sleep " + marker,
        "trap '' HUP TERM; " + daemon + " & echo ready; exec -a x sleep " + marker,
        "trap '' HUP TERM; echo ready; exec " + daemon};
    std::string wrong;
    for (const std::string& script : scripts)
      for (const bool tty : {true, false}) {
        const std::string shown = talk.start(script, tty, "ready");
        wrong += lacks(script, shown, "ready\n");
        talk.sessions->end_all("by the test");
        if (count_marked(marker) != 0) wrong += script + ": some are left\n";
      }
    return wrong;
  });
}

BOOST_AUTO_TEST_CASE(a_session_has_the_environment_of_a_command) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    const std::string script =
        "echo $PAGER $GIT_PAGER $TERM $NO_COLOR $CI $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND";
    const Json slowly = Json::object({{"yield_time_ms", 20'000}});
    return lacks("environment", talk.exec(script, slowly),
                 "cat cat dumb 1 true 0 noninteractive\n") +
           lacks("size",
                 talk.exec("stty size", Json::object({{"yield_time_ms", 20'000}, {"tty", true}})),
                 "24 80\n");
  });
}

BOOST_AUTO_TEST_CASE(a_stop_request_ends_a_session_that_is_waited_for) {
  in_each_way([](Talk& talk, const Sandboxed&) {
    talk.exec("exec tail -f /dev/null");
    std::stop_source stop;
    stop.request_stop();
    WriteStdin write(*talk.sessions, 1000);
    const ToolResult result =
        write.run(Json::object({{"session_id", talk.last_id()}, {"yield_time_ms", 30'000}}),
                  stop.get_token());
    return lacks("head", result.head, "Killed: the run was stopped");
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
