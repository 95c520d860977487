#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>

#include "policies/sandbox/layers/cgroup.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Fills sockets, 700 MiB at most, and next to nothing of it in the process' own memory.
/// @param how  the call: fill(), or fill_alone() in a thread that gets descriptors of its own
///             (unshare(2), CLONE_FILES)
std::string fill_sockets(const std::string& how) {
  return "exec python3 -c 'import ctypes, socket, threading, time\n"
         "def fill():\n"
         "  kept = []\n"
         "  for i in range(1700):\n"
         "    pair = socket.socketpair()\n"
         "    kept.append(pair)\n"
         "    for end in pair:\n"
         "      end.setblocking(False)\n"
         "      try:\n"
         "        while True: end.send(bytes(65536))\n"
         "      except BlockingIOError: pass\n"
         "  time.sleep(60)\n"
         "def fill_alone():\n"
         "  assert ctypes.CDLL(None).unshare(0x400) == 0\n"
         "  fill()\n" +
         how + "'";
}

/// The first thread ends by exit(2), and leaves the process to another one.
/// @param act  a line of what that one does once it is alone
std::string without_first_thread(const std::string& act) {
  return "exec python3 -c 'import ctypes, os, platform, threading, time\n"
         "def state():\n"
         "  return open(\"/proc/self/stat\").read().rpartition(\")\")[2].split()[0]\n"
         "def act():\n"
         "  while state() != \"Z\": time.sleep(0.01)\n"
         "  " +
         act +
         "\n"
         "  time.sleep(60)\n"
         "threading.Thread(target=act).start()\n"
         "ctypes.CDLL(None).syscall(60 if platform.machine() == \"x86_64\" else 93, 0)'";
}

/// A limit, and a command that runs into it.
struct Reached {
  const char* name;
  void (*set)(SandboxProfile& profile);
  std::string script;
  Ending ending;
  const char* detail;  ///< a part of it
  const char* output;  ///< likewise: what the program itself says
};

const Reached kReached[] = {
    {"memory", [](SandboxProfile& profile) { profile.memory_bytes = 100 << 20; },
     "exec python3 -c 'x = b\"x\" * (200 << 20)\nwhile True: pass'", Ending::memory_limit,
     "memory limit 100.0 MiB reached (limits.memory): ", ""},
    {"memory in the queues of sockets",
     [](SandboxProfile& profile) {
       profile.memory_bytes = 100 << 20;
       profile.limits.open_files = 4096;
     },
     fill_sockets("fill()"), Ending::memory_limit, " sockets", ""},
    {"memory of a process without its first thread",
     [](SandboxProfile& profile) { profile.memory_bytes = 100 << 20; },
     without_first_thread("x = b\"x\" * (200 << 20)"), Ending::memory_limit,
     "memory limit 100.0 MiB reached (limits.memory): ", ""},
    {"memory in the queues of a thread's sockets",
     [](SandboxProfile& profile) {
       profile.memory_bytes = 100 << 20;
       profile.limits.open_files = 4096;
     },
     fill_sockets("threading.Thread(target=fill_alone).start()"), Ending::memory_limit, " sockets",
     ""},
    {"processes", [](SandboxProfile& profile) { profile.limits.processes = 30; },
     "for i in $(seq 50); do sleep 100 & done; wait", Ending::process_limit,
     "process limit 30 reached (limits.processes): ", ""},
    {"disk", [](SandboxProfile& profile) { profile.limits.disk = 20 << 20; },
     "for i in 1 2 3 4 5 6; do head -c 8000000 /dev/zero > big$i; done; sync -f big1; sleep 100",
     Ending::disk_limit, "disk limit 20.0 MiB reached (limits.disk): ", ""},
    {"disk, of a process without its first thread",
     [](SandboxProfile& profile) { profile.limits.disk = 20 << 20; },
     without_first_thread(
         "file = open(\"new\", \"wb\"); file.write(bytes(48000000)); os.fsync(file.fileno())"),
     Ending::disk_limit, "disk limit 20.0 MiB reached (limits.disk): ", ""},
    {"file size, by signal", [](SandboxProfile& profile) { profile.limits.file_size = 1 << 20; },
     "exec head -c 2000000 /dev/zero > big", Ending::signalled,
     "file size limit 1.0 MiB reached (limits.file_size)", ""},
    {"file size, in a script", [](SandboxProfile& profile) { profile.limits.file_size = 1 << 20; },
     "head -c 2000000 /dev/zero > big; exit $?", Ending::exited,
     "file size limit 1.0 MiB reached (limits.file_size)", ""},
    {"file size, by error", [](SandboxProfile& profile) { profile.limits.file_size = 1 << 20; },
     "exec python3 -c 'open(\"big\", \"wb\").write(bytes(2000000))'", Ending::exited, "",
     "File too large"},
    {"open files", [](SandboxProfile& profile) { profile.limits.open_files = 40; },
     "exec python3 -c 'f = [open(\"/dev/null\") for i in range(60)]'", Ending::exited, "",
     "Too many open files"},
};

std::string usable_cpus_times(int seconds) {
  cpu_set_t usable;
  ::sched_getaffinity(0, sizeof usable, &usable);
  return std::to_string(CPU_COUNT(&usable) * seconds);
}

Command with_timeout(Command command, std::chrono::seconds timeout) {
  command.timeout = timeout;
  return command;
}

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(what_reaches_a_limit_is_ended_and_says_which) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      std::string text;
      for (const Reached& row : kReached) {
        SandboxProfile profile = here.profile;
        row.set(profile);
        Keeper keeper(profile);
        const Ran ran = run(keeper, here.shell(row.script));
        if (ran.status.ending != row.ending || ran.status.success() ||
            !holds(ran.status.detail, row.detail) || !holds(ran.output, row.output))
          text += std::string(row.name) + ": " + said(ran) + '\n';
      }
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(commands_are_ended_first_where_the_machine_has_no_memory_left) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      Keeper keeper(here.profile);
      const Ran ran = run(keeper, here.shell("cat /proc/self/oom_score_adj"));
      const Ran lowered = run(keeper, here.shell("echo 0 > /proc/self/oom_score_adj"));
      return std::string(ran.output == "800\n" ? "" : said(ran)) +
             (lowered.status.success() ? "a command lowers it\n" : "");
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(cpu_time_is_bounded_by_the_longer_time_limit_on_all_processors) {
  Sandboxed here;
  here.profile.limits.command_timeout = std::chrono::seconds(7);
  Keeper keeper(here.profile);

  const Ran usual = run(keeper, with_timeout(here.shell("ulimit -t"), std::chrono::seconds(3)));
  const Ran longer = run(keeper, with_timeout(here.shell("ulimit -t"), std::chrono::seconds(9)));
  const Ran signalled = run(keeper, here.shell("kill -XCPU $$"));

  BOOST_TEST(usual.output == usable_cpus_times(7) + "\n");
  BOOST_TEST(longer.output == usable_cpus_times(9) + "\n");
  BOOST_TEST(signalled.status.detail ==
             "CPU time limit reached (limits.command_timeout on every CPU)");
}

BOOST_AUTO_TEST_CASE(a_user_with_many_processes_elsewhere_can_start_commands) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) -> std::string {
      here.profile.limits.processes = 20;
      // More than the run's limit, of this user and outside of the run.
      Keeper outside(here.profile);
      SandboxProfile many = here.profile;
      many.limits.processes = 4000;
      Keeper crowd(many);
      const auto running = crowd.launcher().start(
          here.shell("for i in $(seq 300); do sleep 100 & done; echo up; wait"));
      pollfd up{running->output().get(), POLLIN, 0};
      ::poll(&up, 1, 20'000);
      const Ran ran = run(outside, here.shell("sh -c 'true & wait'; echo fine"));
      return said(ran) == "0:0:fine\n" ? "" : said(ran);
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(sanitizers_the_jvm_and_webassembly_run_under_the_defaults) {
  const struct {
    const char* name;
    const char* needs;
    const char* script;
  } rows[] = {
      {"AddressSanitizer", "c++ --version",
       "printf 'int main(int n, char**) { int* p = new int[n]; delete[] p; return p[0]; }' > a.cpp;"
       " c++ -g -fsanitize=address a.cpp -o a && ! ./a 2> log && grep heap-use-after-free log"},
      {"AddressSanitizer, clean", "c++ --version",
       "printf 'int main() { delete[] new int[5]; }' > b.cpp;"
       " c++ -g -fsanitize=address,undefined b.cpp -o b && ./b"},
      {"ThreadSanitizer", "c++ --version",
       "printf 'int main() { delete[] new int[5]; }' > c.cpp;"
       " c++ -g -fsanitize=thread c.cpp -o c && ./c"},
      {"JVM", "javac -version",
       "printf 'class A { public static void main(String[] a) { long n = 0; for (int i = 0; i < "
       "100;"
       " i++) n += new byte[1 << 20].length; System.out.println(\"jvm \" + n); } }' > A.java;"
       " javac A.java && java A | grep 'jvm 104857600'"},
      {"WebAssembly", "node --version",
       "node -e 'const m = new WebAssembly.Module(new "
       "Uint8Array([0,97,115,109,1,0,0,0,1,5,1,96,0,1,"
       "127,3,2,1,0,5,3,1,0,1,7,7,1,3,114,117,110,0,0,10,9,1,7,0,65,0,40,2,0,11]));"
       "const i = new WebAssembly.Instance(m); new WebAssembly.Memory({initial: 1, maximum: "
       "65536});"
       "console.log(\"wasm\", i.exports.run());' | grep 'wasm 0'"},
  };
  for (const SandboxWay& way : sandbox_ways()) {
    for (const auto& row : rows) {
      if (std::system((std::string(row.needs) + " >/dev/null 2>&1").c_str()) != 0) {
        BOOST_TEST_MESSAGE("skipped: " << row.needs << " does not work here");
        continue;
      }
      const std::string wrong = found_wrong(way, [&](Sandboxed& here) -> std::string {
        here.profile.memory_bytes = 0;
        Keeper keeper(here.profile);
        Command command = here.shell(row.script);
        command.environment["LSAN_OPTIONS"] = "detect_leaks=0";
        command.environment["TMPDIR"] =
            way.namespaces ? "/tmp" : (here.profile.home / "tmp").string();
        command.timeout = std::chrono::minutes(2);
        const Ran ran = run(keeper, command);
        return ran.status.success() ? "" : said(ran);
      });
      BOOST_TEST(wrong == "", row.name << ", " << way.name << ":\n" << wrong);
    }
  }
}

BOOST_AUTO_TEST_CASE(commands_are_in_a_control_group_of_the_run_where_one_can_be_made) {
  Sandboxed here;
  Keeper keeper(here.profile);
  if (!keeper.layers().cgroup) {
    BOOST_TEST_MESSAGE("skipped: no control group can be made here");
    return;
  }

  // Of the groups of this process that are there now.
  const auto groups = [] {
    const std::string name = "sortie-" + std::to_string(::getpid()) + "-";
    std::size_t count = 0;
    for (const char* folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().filename().string().starts_with(name)) ++count;
    }
    return count;
  };
  BOOST_TEST(groups() == 1u);

  // Commands see their group as the root of all groups.
  const Ran ran = run(keeper, here.shell("grep ^0: /proc/self/cgroup"));

  BOOST_TEST(said(ran) == "0:0:0::/\n");
  BOOST_TEST(keeper.shut_down());
  BOOST_TEST(groups() == 0u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_group_kills_all_that_is_in_it) {
  std::vector<std::string> notes;
  const auto group = RunGroup::make({}, notes);
  if (!group) {
    BOOST_TEST_MESSAGE("skipped: " << notes.front());
    return;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream(group->path() / "cgroup.procs") << "0";
    ::pause();
    ::_exit(0);
  }
  while (fs::exists(group->path())) {
    std::ifstream members(group->path() / "cgroup.procs");
    pid_t member = 0;
    if (members >> member && member == child) break;
  }

  BOOST_TEST(group->end());

  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(!fs::exists(group->path()));
}

BOOST_AUTO_TEST_CASE(a_group_is_made_where_the_controllers_are_handed_down_and_gets_the_limits) {
  const Sandboxed here;  // for its folder: files stand for the kernel's
  const fs::path top = here.base / "top";
  fs::create_directories(top / "slice/scope");
  here.write("top/cgroup.subtree_control", "cpu memory pids\n");
  here.write("top/slice/cgroup.subtree_control", "memory pids\n");
  here.write("top/slice/scope/cgroup.subtree_control", "\n");
  here.write("top/slice/scope/memory.max", "1000000\n");
  std::vector<std::string> notes;

  const auto group = RunGroup::make_at(top / "slice/scope", top, {2'000'000, 4096}, notes);

  BOOST_REQUIRE(group);
  BOOST_TEST(group->path().parent_path() == top / "slice");
  // The kernel makes the files of a group with it; here they could not be set.
  BOOST_TEST(notes.size() == 1u);
  BOOST_TEST(holds(notes.front(), "memory.max: No such file or directory"), notes.front());
  fs::remove_all(group->path());
}

BOOST_AUTO_TEST_CASE(a_dead_runs_group_is_removed_and_a_living_ones_is_not) {
  std::vector<std::string> notes;
  const auto living = RunGroup::make({}, notes);
  if (!living) {
    BOOST_TEST_MESSAGE("skipped: " << notes.front());
    return;
  }
  const fs::path dead = living->path().parent_path() / "sortie-0-test";
  fs::create_directory(dead);

  const auto next = RunGroup::make({}, notes);

  BOOST_TEST(!fs::exists(dead));
  BOOST_TEST(fs::exists(living->path()));
  BOOST_TEST((next && next->path() != living->path()));
}

BOOST_AUTO_TEST_CASE(kills_for_want_of_memory_are_counted) {
  const Sandboxed here;
  here.write("memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
  const Fd folder(::open(here.base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));

  BOOST_TEST(memory_kills(folder) == 2u);
  BOOST_TEST(memory_kills(Fd()) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
