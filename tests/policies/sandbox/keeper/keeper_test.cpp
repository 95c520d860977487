#include "policies/sandbox/keeper/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <iostream>

#include "tests/policies/sandbox/keeper_fixture.h"

namespace sortie::test {
namespace {

BOOST_AUTO_TEST_SUITE(keeper)

BOOST_AUTO_TEST_CASE(writes_do_not_touch_the_real_tree) {
  Sandboxed here;
  Keeper keeper(here.profile);

  const Ran ran = run(keeper, here.shell("echo new > file.txt && rm -r src && cat file.txt"));

  BOOST_TEST(said(ran) == "0:0:new\n");
  BOOST_TEST(here.read("ws/file.txt") == "start\n");
  BOOST_TEST(fs::exists(here.base / "ws/src"));
  BOOST_TEST(here.read("state/upper/file.txt") == "new\n");
  BOOST_TEST(keeper.shut_down());
}

BOOST_AUTO_TEST_CASE(the_view_holds_nothing_else_of_the_machine) {
  Sandboxed here;
  here.write("beside.txt", "not for you");
  Keeper keeper(here.profile);

  const Ran ran = run(keeper, here.shell("ls /root /home /srv /mnt /run; ls " + here.base.string() +
                                         "; ls -d /proc/[0-9]*"));

  BOOST_TEST(ran.output ==
             "/home:\nrunner\n\n/mnt:\n\n/root:\n\n/run:\n\n/srv:\nws\n/proc/1\n/proc/2\n");
}

BOOST_AUTO_TEST_CASE(commands_do_not_see_the_command_line_of_the_run) {
  Sandboxed here;
  Keeper keeper(here.profile);
  const Ran ran = run(keeper, here.shell("tr -d '\\0' < /proc/1/cmdline"));
  BOOST_TEST(said(ran) == "0:0:sortie: keeper");
}

BOOST_AUTO_TEST_CASE(home_and_tmp_are_private_writable_and_kept_for_the_run) {
  Sandboxed here;
  Keeper keeper(here.profile);

  const Ran written = run(keeper, here.shell("echo a > $HOME/a && echo b > /tmp/b && "
                                             "echo c > /var/tmp/c && echo d > /dev/shm/d"));
  const Ran read = run(keeper, here.shell("cat $HOME/a /tmp/b /var/tmp/c /dev/shm/d"));

  BOOST_TEST(said(written) == "0:0:");
  BOOST_TEST(said(read) == "0:0:a\nb\nc\nd\n");
  BOOST_TEST(!fs::exists("/tmp/b"));
}

BOOST_AUTO_TEST_CASE(protected_paths_can_be_read_and_nothing_else) {
  Sandboxed here;
  fs::create_directories(here.base / "ws/docs/deep");
  here.write("ws/docs/CODEOWNERS", "* @team\n");
  here.write("ws/agents.md", "read me\n");
  here.profile.protect = {".git", ".github", "AGENTS.md", "**/CODEOWNERS"};
  Keeper keeper(here.profile);

  const char* refused[] = {
      "echo x >> .git/config",       "rm -rf .git/config",    "mv .git away",
      "echo x > docs/CODEOWNERS",    "rm -f docs/CODEOWNERS", "mv docs/CODEOWNERS docs/x",
      "mv docs elsewhere",           "chmod 777 .git",        "touch .git/hooks",
      "mv file.txt docs/CODEOWNERS", "echo x > agents.md",    "mv agents.md x",
      "ln -f file.txt .git/config"};
  for (const char* script : refused) {
    BOOST_TEST_CONTEXT(script) {
      const Ran ran = run(keeper, here.shell(script));
      BOOST_TEST(!ran.status.success());
    }
  }
  const Ran ran =
      run(keeper, here.shell("cat .git/config docs/CODEOWNERS; ls -d .g*; echo y > docs/y"));
  BOOST_TEST(said(ran) == "0:0:[core]\n* @team\n.git\n");

  BOOST_TEST(keeper.shut_down());
  BOOST_TEST(!fs::exists(here.base / "state/upper/.github"));
}

BOOST_AUTO_TEST_CASE(the_git_file_of_a_linked_work_tree_is_protected) {
  Sandboxed here;
  fs::remove_all(here.base / "ws/.git");
  here.write("ws/.git", "gitdir: /elsewhere\n");
  Keeper keeper(here.profile);

  const Ran ran = run(keeper, here.shell("echo x > .git || mv .git x || rm -f .git || cat .git"));

  BOOST_TEST(ran.output.find("gitdir: /elsewhere\n") != std::string::npos);
  BOOST_TEST(here.read("state/upper/.git").empty());
}

BOOST_AUTO_TEST_CASE(hidden_paths_can_not_be_read) {
  Sandboxed here;
  here.write("ws/.env", "SECRET=1\n");
  here.write("ws/src/.env", "SECRET=2\n");
  here.profile.hide = {"**/.env", "/etc/passwd", "/etc/ssl"};
  Keeper keeper(here.profile);

  const Ran ran =
      run(keeper, here.shell("cat .env src/.env /etc/passwd; ls /etc/ssl; chmod 644 .env"));

  BOOST_TEST(!ran.status.success());
  BOOST_TEST(ran.output.find("SECRET") == std::string::npos);
  BOOST_TEST(ran.output.find("root:") == std::string::npos);
  BOOST_TEST(ran.output.find("certs") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_read_only_command_and_a_read_only_run_can_not_write) {
  Sandboxed here;
  Keeper keeper(here.profile);
  Command command = here.shell("echo x > file.txt");
  command.read_only = true;

  BOOST_TEST(!run(keeper, command).status.success());
  BOOST_TEST(run(keeper, here.shell("echo x > file.txt")).status.success());
  keeper.shut_down();

  here.profile.mode = SandboxMode::read_only;
  Keeper read_only(here.profile);
  BOOST_TEST(!run(read_only, here.shell("echo x > file.txt")).status.success());
  BOOST_TEST(run(read_only, here.shell("echo x > /tmp/x; cat file.txt")).output == "x\n");
}

BOOST_AUTO_TEST_CASE(only_the_named_folders_are_writable_where_the_policy_names_some) {
  Sandboxed here;
  fs::create_directory(here.base / "elsewhere");
  here.profile.workspace_writable = false;
  here.profile.workspace_write_only = {"src", "made"};
  here.profile.writable = {here.base / "elsewhere"};
  Keeper keeper(here.profile);

  const Ran good = run(keeper, here.shell("echo x > src/x && echo x > made/x && echo y > " +
                                          (here.base / "elsewhere/y").string()));
  const Ran bad = run(keeper, here.shell("echo x > file.txt"));

  BOOST_TEST(said(good) == "0:0:");
  BOOST_TEST(!bad.status.success());
  BOOST_TEST(here.read("elsewhere/y") == "y\n");
}

BOOST_AUTO_TEST_CASE(exit_codes_signals_and_programs_that_can_not_run) {
  Sandboxed here;
  here.write("ws/plain", "no program");
  Keeper keeper(here.profile);
  const auto of = [&](std::vector<std::string> argv) {
    Command command = here.shell("");
    command.argv = std::move(argv);
    const Ran ran = run(keeper, command);
    return said(ran);
  };

  BOOST_TEST(of({"sh", "-c", "exit 7"}) == "0:7:");
  BOOST_TEST(of({"sh", "-c", "kill -SEGV $$"}) == "1:11:");
  BOOST_TEST(of({"no-such-program"}) == "8:0:no such program 'no-such-program' on PATH");
  BOOST_TEST(of({"./no-such-program"}) == "8:0:no such program './no-such-program'");
  BOOST_TEST(of({"./plain"}) == "8:0:can't execute './plain': Permission denied");
  BOOST_TEST(of({"echo", std::string(1 << 18, 'x')}) ==
             "8:0:arguments and environment are too long");
  Command lost = here.shell("true");
  lost.workdir = "/no/such/folder";
  BOOST_TEST(said(run(keeper, lost)) ==
             "8:0:can't enter the working folder: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_big_argv_and_environment_arrive_whole) {
  Sandboxed here;
  Keeper keeper(here.profile);
  Command command = here.shell("");
  command.argv = {"sh", "-c", "echo $# ${#V}", "sh"};
  for (int i = 0; i < 15'000; ++i) command.argv.push_back("argument-" + std::to_string(i));
  command.environment["V"] = std::string(100'000, 'v');

  BOOST_TEST(said(run(keeper, command)) == "0:0:15000 100000\n");
}

BOOST_AUTO_TEST_CASE(a_command_gets_nothing_but_its_own_environment_and_descriptors) {
  Sandboxed here;
  ::setenv("SORTIE_TEST_KEY", "secret", 1);
  const Fd inheritable(::open("/dev/null", O_RDONLY));
  Keeper keeper(here.profile);

  const Ran ran = run(keeper, here.shell("env; ls -l /proc/self/fd | wc -l; cat <&0; "
                                         "cat /proc/*/environ 2>&1 | grep -c SORTIE_TEST_KEY; "
                                         "grep SigIgn /proc/self/status"));

  BOOST_TEST(ran.output.find("secret") == std::string::npos);
  // 0, 1, 2, the listing's own and the line "total".
  BOOST_TEST(ran.output.find("\n5\n0\nSigIgn:\t0000000000000000\n") != std::string::npos,
             ran.output);
  ::unsetenv("SORTIE_TEST_KEY");
}

BOOST_AUTO_TEST_CASE(time_limit_and_output_limit_end_a_command) {
  Sandboxed here;
  Keeper keeper(here.profile);
  Command slow = here.shell("sleep 100");
  slow.timeout = std::chrono::milliseconds(100);
  Command loud = here.shell("yes");
  loud.max_output_bytes = 1000;

  BOOST_TEST((run(keeper, slow).status.ending == Ending::timed_out));
  const Ran ran = run(keeper, loud);
  BOOST_TEST((ran.status.ending == Ending::output_limit));
  BOOST_TEST(ran.output.size() == 1000u);
}

BOOST_AUTO_TEST_CASE(memory_process_and_disk_limits_end_a_command) {
  Sandboxed here;
  here.profile.memory_bytes = 100 << 20;
  here.profile.limits.processes = 30;
  here.profile.limits.disk = 50 << 20;
  Keeper keeper(here.profile);

  const Ran memory =
      run(keeper, here.shell("exec python3 -c 'x = b\"x\" * (200 << 20)\nwhile True: pass'"));
  const Ran processes = run(keeper, here.shell("for i in $(seq 50); do sleep 100 & done; wait"));
  const Ran bomb = run(keeper, here.shell("f() { f | f & f; }; f"));
  const Ran disk = run(keeper, here.shell("dd if=/dev/zero of=big bs=1M count=80; sleep 100"));

  // Blocks that are reserved without being written would be on the disk all the same.
  const Ran reserved =
      run(keeper, here.shell("exec python3 -c 'import os\n"
                             "fd = os.open(\"reserved\", os.O_CREAT | os.O_RDWR)\n"
                             "os.posix_fallocate(fd, 0, 80 << 20)\nwhile True: pass'"));

  const Ran unmapped =
      run(keeper, here.shell("exec python3 -c 'import os\n"
                             "fd = os.memfd_create(\"m\")\n"
                             "for i in range(200): os.write(fd, b\"x\" * (1 << 20))\n"
                             "while True: pass'"));

  BOOST_TEST((unmapped.status.ending == Ending::memory_limit), said(unmapped));
  BOOST_TEST((reserved.status.ending == Ending::disk_limit), said(reserved));
  BOOST_TEST((memory.status.ending == Ending::memory_limit), said(memory));
  BOOST_TEST(memory.status.detail.starts_with("memory limit 100.0 MiB reached"));
  BOOST_TEST((processes.status.ending == Ending::process_limit), said(processes));
  const bool gave_up = bomb.output.find("Cannot fork") != bomb.output.npos;  // before the count
  BOOST_TEST((gave_up || bomb.status.ending == Ending::process_limit), said(bomb));
  BOOST_TEST((disk.status.ending == Ending::disk_limit), said(disk));
}

BOOST_AUTO_TEST_CASE(what_a_command_left_in_the_background_is_ended) {
  Sandboxed here;
  const std::string marker = "sortie-mark-" + std::to_string(::getpid());
  Keeper keeper(here.profile);

  const Ran daemon =
      run(keeper, here.shell("(setsid sh -c 'sleep 100; : " + marker + "' &) ; echo done"));
  const Ran plain = run(keeper, here.shell("true"));

  BOOST_TEST(said(daemon) == "0:0:done\n");
  BOOST_TEST(daemon.status.ended_background);
  BOOST_TEST(!plain.status.ended_background);
  BOOST_TEST(count_marked(marker) == 0);
}

BOOST_AUTO_TEST_CASE(a_dropped_command_is_dead) {
  Sandboxed here;
  const std::string marker = "sortie-drop-" + std::to_string(::getpid());
  Keeper keeper(here.profile);

  keeper.launcher().start(here.shell("sleep 100; : " + marker)).reset();

  BOOST_TEST(count_marked(marker) == 0);
}

BOOST_AUTO_TEST_CASE(a_killed_sortie_leaves_no_process) {
  for (const bool namespaces : {true, false}) {
    BOOST_TEST_CONTEXT("namespaces " << namespaces) {
      Sandboxed here;
      const std::string marker = "sortie-kill-" + std::to_string(::getpid());
      if (!namespaces) {
        here.profile.use_namespaces = false;
        here.profile.mount = {.kind = MountPlan::Kind::direct, .workspace = here.workspace()};
        here.profile.mount.source = here.workspace();
      }
      Pipe ready = make_pipe();
      const pid_t holder = ::fork();
      if (holder == 0) {
        Keeper keeper(here.profile);
        const auto running = keeper.launcher().start(here.shell(
            "setsid sh -c 'echo ready; sleep 100; : " + marker + "' & sleep 100; : " + marker));
        pollfd wait{running->output().get(), POLLIN, 0};
        ::poll(&wait, 1, 10'000);
        static_cast<void>(::write(ready.write.get(), "r", 1) == 1);
        ::pause();
        ::_exit(0);
      }
      char byte = 0;
      BOOST_REQUIRE(::read(ready.read.get(), &byte, 1) == 1);
      BOOST_TEST(count_marked(marker) >= 2);

      ::kill(holder, SIGKILL);
      ::waitpid(holder, nullptr, 0);

      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (count_marked(marker) > 0 && std::chrono::steady_clock::now() < deadline) {
      }
      BOOST_TEST(count_marked(marker) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_dead_keeper_is_an_error_and_no_hang) {
  Sandboxed here;
  Keeper keeper(here.profile);
  const auto running = keeper.launcher().start(here.shell("sleep 100"));
  const auto children = [] {
    std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    pid_t pid = 0;
    file >> pid;
    return pid;
  };

  ::kill(children(), SIGKILL);
  pollfd wait{running->ended_descriptor(), POLLIN, 0};
  ::poll(&wait, 1, 10'000);

  BOOST_CHECK_THROW(running->status(), Error);
  BOOST_CHECK_THROW(run(keeper, here.shell("true")), Error);
  BOOST_TEST(keeper.shut_down());
}

BOOST_AUTO_TEST_CASE(the_network_is_a_loopback_of_its_own) {
  Sandboxed here;
  Keeper keeper(here.profile);

  const Ran ran = run(keeper, here.shell(R"(python3 - <<'END'
import socket
listener = socket.create_server(("127.0.0.1", 0))
socket.create_connection(listener.getsockname()).close()
print([name for _, name in socket.if_nameindex()])
try:
    socket.create_connection(("192.0.2.1", 80), 5)
except OSError as error:
    print(error.strerror)
END)"));

  BOOST_TEST(said(ran) == "0:0:['lo']\nNetwork is unreachable\n");
}

BOOST_AUTO_TEST_CASE(the_view_root_reads_and_writes_as_commands_do) {
  Sandboxed here;
  Keeper keeper(here.profile);
  const int root = keeper.view_root().get();

  const Fd file(::openat(root, "src/by-caller", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  BOOST_REQUIRE(file.get() >= 0);
  BOOST_TEST(write_all(file.get(), "hello\n"));
  BOOST_TEST(::renameat(root, "src/by-caller", root, "renamed") == 0);

  BOOST_TEST(said(run(keeper, here.shell("cat renamed; echo more >> renamed"))) == "0:0:hello\n");
  BOOST_TEST(here.read("state/upper/renamed") == "hello\nmore\n");
  BOOST_TEST(::openat(root, ".git/config", O_WRONLY | O_CLOEXEC) == -1);
  BOOST_TEST(errno == EROFS);
  BOOST_TEST(::renameat(root, ".git", root, "away") == -1);
}

BOOST_AUTO_TEST_CASE(a_workspace_at_home_below_tmp_or_with_an_odd_name_works) {
  for (const char* name : {"plain", "a:b,c\\d", "with space", "ä=\"quote'"}) {
    BOOST_TEST_CONTEXT(name) {
      Sandboxed here;
      fs::rename(here.base / "ws", here.base / name);
      here.profile.mount.workspace = fs::canonical(here.base) / name;
      here.profile.home = here.profile.mount.workspace;
      Keeper keeper(here.profile);

      const Ran ran = run(keeper, here.shell("cat file.txt; echo x > x; cat x"));

      BOOST_TEST(said(ran) == "0:0:start\nx\n");
    }
  }
  Sandboxed above;
  above.profile.home = above.workspace() / "src";
  Keeper keeper(above.profile);
  BOOST_TEST(said(run(keeper, above.shell("echo h > src/h; cat $HOME/h"))) == "0:0:h\n");
  BOOST_TEST(!fs::exists(above.base / "state/upper/src/h"));
}

BOOST_AUTO_TEST_CASE(covered_folders_are_empty_and_closed) {
  Sandboxed here;
  fs::create_directory(here.base / "ws/out");
  here.write("ws/out/transcript", "x");
  here.profile.mount.cover = {"out"};
  Keeper keeper(here.profile);

  BOOST_TEST(said(run(keeper, here.shell("ls out"))) == "0:0:");
  BOOST_TEST(!run(keeper, here.shell("echo x > out/x")).status.success());
  BOOST_TEST(!run(keeper, here.shell("rmdir out")).status.success());
}

BOOST_AUTO_TEST_CASE(a_copy_is_bound_over_the_workspace) {
  Sandboxed here;
  fs::copy(here.base / "ws", here.base / "state/copy", fs::copy_options::recursive);
  here.profile.mount.kind = MountPlan::Kind::bind;
  here.profile.mount.source = here.base / "state/copy";
  Keeper keeper(here.profile);

  const Ran ran = run(keeper, here.shell("echo new > file.txt; pwd; echo x > .git/x"));

  BOOST_TEST(ran.output.starts_with(here.workspace().string() + "\n"));
  BOOST_TEST(!ran.status.success());
  BOOST_TEST(here.read("ws/file.txt") == "start\n");
  BOOST_TEST(here.read("state/copy/file.txt") == "new\n");
  BOOST_TEST(keeper.shut_down());
  BOOST_TEST(!fs::exists(here.base / "state/copy/.git/x"));
}

BOOST_AUTO_TEST_CASE(without_namespaces_commands_run_in_place_and_are_still_ended) {
  for (const SandboxMode mode : {SandboxMode::workspace_write, SandboxMode::none}) {
    BOOST_TEST_CONTEXT("mode " << static_cast<int>(mode)) {
      Sandboxed here;
      const std::string marker = "sortie-none-" + std::to_string(::getpid());
      here.profile.mode = mode;
      here.profile.use_namespaces = false;
      here.profile.home = here.base / "home";
      here.profile.mount = {.kind = MountPlan::Kind::direct, .workspace = here.workspace()};
      here.profile.mount.source = here.workspace();
      Keeper keeper(here.profile);

      const Ran ran =
          run(keeper, here.shell("echo new > file.txt; (setsid sh -c 'sleep 100; : " + marker +
                                 "' &) ; exit 3"));

      BOOST_TEST(said(ran) == "0:3:");
      BOOST_TEST(ran.status.ended_background);
      BOOST_TEST(here.read("ws/file.txt") == "new\n");
      BOOST_TEST(count_marked(marker) == 0);
      BOOST_TEST(!keeper.layers().namespaces);
      BOOST_TEST(keeper.layers().seccomp == (mode != SandboxMode::none));
      BOOST_TEST(keeper.shut_down());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_overlay_without_namespaces_is_refused) {
  Sandboxed here;
  here.profile.use_namespaces = false;

  BOOST_CHECK_EXCEPTION(Keeper keeper(here.profile), Error,
                        [](const Error& error) { return error.code() == ExitCode::environment; });
}

BOOST_AUTO_TEST_CASE(two_hundred_commands_leave_no_zombie_and_no_descriptor) {
  Sandboxed here;
  Keeper keeper(here.profile);
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto look = [&] { return run(keeper, here.shell("true")).output; };
  look();
  const auto before = descriptors();

  for (int i = 0; i < 200; ++i) BOOST_REQUIRE(run(keeper, here.shell("true")).status.success());

  BOOST_TEST(descriptors() == before);
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  pid_t pid = 0;
  children >> pid;
  const auto keeper_children = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid);
  std::ifstream below(keeper_children + "/children");
  std::string left;
  below >> left;
  BOOST_TEST(left == "");
}

BOOST_AUTO_TEST_CASE(duration_of_true) {
  Sandboxed here;
  const auto start = std::chrono::steady_clock::now();
  Keeper keeper(here.profile);
  const auto ready = std::chrono::steady_clock::now();
  Command command = here.shell("");
  command.argv = {"true"};
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    BOOST_REQUIRE(run(keeper, command).status.success());
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::sort(times.begin(), times.end());
  std::cout << "keeper ready " << std::chrono::duration<double, std::milli>(ready - start).count()
            << " ms; true: min " << times.front() << " median " << times[25] << " ms\n";
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
