// A keeper that is forked before its profile is known.
#include "policies/sandbox/keeper/early_keeper.h"

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "policies/sandbox/keeper/profile_message.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

/// Nothing in it is as in a profile that was just made.
SandboxProfile full_profile() {
  SandboxProfile profile;
  profile.mode = SandboxMode::read_only;
  profile.network = NetworkMode::allow_list;
  profile.mount = {.kind = MountPlan::Kind::bind,
                   .in_place = true,
                   .workspace = "/ws",
                   .source = "/source",
                   .upper = "/upper",
                   .work = "/work",
                   .beside = "/beside",
                   .ended = "ended",
                   .cover = {"a", "b"}};
  profile.git = {.folders = {"/repo"},
                 .covered = {"/repo/out"},
                 .files = {{"/repo/config", std::string("[core]\0\n", 8)}, {"/repo/empty", ""}}};
  profile.readable = {"/readable"};
  profile.writable = {"/writable", "/\xff not UTF-8"};
  profile.without_sockets = {"/many"};
  profile.toolchains = {"/home/a/.cargo"};
  profile.workspace_writable = false;
  profile.workspace_write_only = {"src"};
  profile.protect = {"**/.git"};
  profile.hide = {"**/.env"};
  profile.hidden_inside = {{"x/.env"}};
  profile.protected_inside = std::vector<fs::path>();
  profile.pinned = {"/pinned"};
  profile.home = "/home/a";
  profile.uid = 0xfffffffe;
  profile.gid = 7;
  profile.tracing = Tracing::own;
  profile.limits = {.command_timeout = std::chrono::milliseconds(1),
                    .output = ~0ull,
                    .memory = 3,
                    .memory_percent = 4,
                    .processes = 5,
                    .file_size = 6,
                    .open_files = 7,
                    .disk = 8,
                    .diff_file_size = 9,
                    .on_large_file = OnLargeFile::report,
                    .transcript = 10};
  profile.memory_bytes = 1ull << 63;
  profile.use_namespaces = false;
  profile.counts_own_tasks = true;
  profile.cgroup = false;
  profile.shown_group = "/sys/fs/cgroup/x";
  profile.may_escalate_writes = true;
  profile.may_escalate_network = true;
  return profile;
}

BOOST_AUTO_TEST_SUITE(early_keeper)

BOOST_AUTO_TEST_CASE(a_profile_comes_whole_or_not_at_all) {
  const SandboxProfile sent = full_profile();
  const std::string bytes = encode_profile(sent);
  const SandboxProfile came = decode_profile(bytes);
  BOOST_TEST((came.mode == sent.mode && came.network == sent.network));
  BOOST_TEST((came.mount.kind == sent.mount.kind && came.mount.cover == sent.mount.cover));
  BOOST_TEST((came.git == sent.git));
  BOOST_TEST((came.writable == sent.writable && came.pinned == sent.pinned));
  BOOST_TEST((came.hidden_inside == sent.hidden_inside));
  BOOST_TEST((came.protected_inside == sent.protected_inside));
  BOOST_TEST((came.uid == sent.uid && came.gid == sent.gid && came.tracing == sent.tracing));
  BOOST_TEST((came.limits.command_timeout == sent.limits.command_timeout));
  BOOST_TEST((came.limits.output == sent.limits.output));
  BOOST_TEST((came.memory_bytes == sent.memory_bytes));
  // Each field: one that both sides leave out would not show in the bytes.
  const MountPlan& plan = came.mount;
  BOOST_TEST((plan.in_place && plan.workspace == "/ws" && plan.source == "/source"));
  BOOST_TEST((plan.upper == "/upper" && plan.work == "/work" && plan.beside == "/beside"));
  BOOST_TEST(plan.ended == "ended");
  BOOST_TEST((came.readable == sent.readable && came.without_sockets == sent.without_sockets));
  BOOST_TEST((came.toolchains == sent.toolchains && came.home == sent.home));
  BOOST_TEST((!came.workspace_writable && came.workspace_write_only == sent.workspace_write_only));
  BOOST_TEST((came.protect == sent.protect && came.hide == sent.hide));
  BOOST_TEST((came.counts_own_tasks && came.shown_group == sent.shown_group));
  BOOST_TEST(came.may_escalate_writes);
  const PolicyLimits& limits = came.limits;
  BOOST_TEST((limits.memory == 3 && limits.memory_percent == 4 && limits.processes == 5));
  BOOST_TEST((limits.file_size == 6 && limits.open_files == 7 && limits.disk == 8));
  BOOST_TEST((limits.diff_file_size == 9 && limits.transcript == 10));
  BOOST_TEST((limits.on_large_file == OnLargeFile::report));
  BOOST_TEST((came.may_escalate_network && !came.use_namespaces && !came.cgroup));
  BOOST_TEST((encode_profile(came) == bytes));
  BOOST_TEST(!decode_profile(encode_profile({})).hidden_inside.has_value());

  for (std::size_t size = 0; size < bytes.size(); ++size)
    BOOST_CHECK_THROW(decode_profile(std::string_view(bytes).substr(0, size)), Error);
}

BOOST_AUTO_TEST_CASE(it_confines_as_one_that_is_forked_for_its_profile) {
  int tried = 0;
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    ++tried;
    const std::string wrong = found_wrong(way, [](Sandboxed& here) {
      std::string found;
      here.write("ws/.env", "TREASURE\n");
      here.profile.hide = {"**/.env"};
      here.profile.limits.open_files = 99;
      ::setenv("SORTIE_TEST_KEY", "TREASURE", 1);
      // What tells one keeper from another: all that commands see of it and of their limits. The
      // groups of other runs on this machine come and go meanwhile.
      const std::string script =
          "cat .env 2>/dev/null; echo x > .git/config; echo new > new.txt; cat new.txt file.txt; "
          "tr '\\0' '\\n' < /proc/1/environ; tr '\\0' ' ' < /proc/1/cmdline; ulimit -n; id -u; "
          "ls /proc/self/fd | wc -l; ls /sys/fs/cgroup | grep -v '^sortie-' | sort; "
          "cat /sys/fs/cgroup/pids.max; "
          "cat /proc/net/dev | wc -l; cat /proc/self/oom_score_adj; set -- /proc/[0-9]*; echo $#";
      const auto ran = [&](EarlyKeeper* early) {
        Keeper keeper(here.profile, {}, early);
        const Ran one = run(keeper, here.shell(script));
        const std::string text = said(one) + (keeper.layers().cgroup ? " cgroup" : "");
        return keeper.shut_down() ? text : "not shut down: " + text;
      };
      const auto early = EarlyKeeper::fork();
      if (!early) return std::string("no early keeper\n");
      const pid_t pid = early->pid();
      const std::string now = ran(early.get());
      if (early->pid() != -1 || !is_gone(pid)) found += "it was not taken\n";
      const std::string then = ran(nullptr);
      if (now != then) found += "early: " + now + "\nelse: " + then + '\n';
      if (now.find("start\n") == std::string::npos) found += "no command ran: " + now + '\n';
      if (now.find("TREASURE") != std::string::npos) found += "what is secret shows: " + now + '\n';
      return found;
    });
    BOOST_TEST(wrong.empty(), way.name << ": " << wrong);
  }
  BOOST_TEST(tried > 0);
}

BOOST_AUTO_TEST_CASE(the_keeper_that_takes_it_has_its_process) {
  const Sandboxed here;
  const auto early = EarlyKeeper::fork();
  BOOST_REQUIRE(early);
  const pid_t pid = early->pid();
  std::vector<int> told;
  Keeper keeper(
      here.profile, [&](int one) { told.push_back(one); }, early.get());
  BOOST_TEST(keeper.pid() == pid);
  BOOST_TEST(told == std::vector<int>{pid});
  BOOST_TEST(run(keeper, here.shell("cat file.txt")).output == "start\n");
  Keeper second(here.profile, {}, early.get());  // taken already
  BOOST_TEST(second.pid() != pid);
}

BOOST_AUTO_TEST_CASE(one_with_other_namespaces_than_the_profile_is_ended) {
  for (const bool namespaces : {true, false}) {
    Sandboxed here;
    here.profile.network = NetworkMode::full;
    here.profile.use_namespaces = namespaces;
    if (!namespaces) {
      here.profile.mount = {.kind = MountPlan::Kind::direct,
                            .workspace = here.workspace(),
                            .source = here.workspace()};
      here.profile.home = here.base / "state";
    }
    const auto early = EarlyKeeper::fork();
    BOOST_REQUIRE(early);
    const pid_t pid = early->pid();
    // What goes on beside the early one ends before another is forked.
    std::vector<int> told;
    Keeper keeper(
        here.profile, [&](int one) { told.push_back(one); }, early.get());
    BOOST_TEST(told == (std::vector<int>{-1, keeper.pid()}));
    BOOST_TEST(keeper.pid() != pid);
    BOOST_TEST(is_gone(pid));
    BOOST_TEST(early->pid() == -1);
    BOOST_TEST(run(keeper, here.shell("cat file.txt")).output == "start\n");
  }
}

BOOST_AUTO_TEST_CASE(one_that_has_died_is_replaced) {
  const Sandboxed here;
  const auto early = EarlyKeeper::fork();
  BOOST_REQUIRE(early);
  const pid_t pid = early->pid();
  ::kill(pid, SIGKILL);
  siginfo_t ended{};
  BOOST_REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) == 0);
  Keeper keeper(here.profile, {}, early.get());
  BOOST_TEST(keeper.pid() != pid);
  BOOST_TEST(run(keeper, here.shell("cat file.txt")).output == "start\n");
}

BOOST_AUTO_TEST_CASE(a_view_that_can_not_be_built_fails_as_without_it) {
  const Sandboxed here;
  SandboxProfile profile = here.profile;
  profile.mount.workspace = here.base / "missing";
  const auto failure = [&](EarlyKeeper* early) {
    try {
      Keeper(profile, {}, early);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("it was built");
  };
  const auto early = EarlyKeeper::fork();
  BOOST_REQUIRE(early);
  const pid_t pid = early->pid();
  BOOST_TEST(failure(early.get()) == failure(nullptr));
  BOOST_TEST(is_gone(pid));
}

BOOST_AUTO_TEST_CASE(one_that_nobody_takes_leaves_nothing) {
  pid_t pid = -1;
  {
    const auto early = EarlyKeeper::fork();
    BOOST_REQUIRE(early);
    pid = early->pid();
    BOOST_TEST(!is_gone(pid));
  }
  BOOST_TEST(is_gone(pid));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
