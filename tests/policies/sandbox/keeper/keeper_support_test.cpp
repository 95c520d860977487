#include "policies/sandbox/keeper/support.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <fstream>
#include <iostream>

#include "core/process/channel.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/keeper_messages.h"
#include "policies/sandbox/view/workspace_search.h"
#include "tests/policies/sandbox/keeper_fixture.h"
#include "tests/support/refuse_namespaces.h"

namespace sortie::test {
namespace {

/// Runs the body in a child. @return  its exit code
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 100;
    try {
      code = body();
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      code = 101;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The same for which namespaces are refused.
template <typename Body>
int without_namespaces(const Body& body) {
  return in_child([&] { return refuse_namespaces() == 0 ? body() : 100; });
}

MountPlan in_place(const Sandboxed& here) {
  MountPlan plan;
  plan.kind = MountPlan::Kind::direct;
  plan.workspace = here.workspace();
  plan.source = here.workspace();
  return plan;
}

BOOST_AUTO_TEST_SUITE(keeper_support)

BOOST_AUTO_TEST_CASE(namespaces_are_found_where_they_are_and_refused_with_the_step) {
  std::string why;
  const auto start = std::chrono::steady_clock::now();
  const bool available = namespaces_available(&why);
  std::cout
      << "namespaces_available: "
      << std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()
      << " ms\n";
  BOOST_TEST(available, why);

  BOOST_TEST(without_namespaces([] {
               std::string cause;
               if (namespaces_available(&cause)) return 1;
               return cause.find("clone: Operation not permitted") == std::string::npos ? 2 : 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_limit_of_zero_namespaces_is_told_with_its_setting) {
  constexpr int kNotHere = 77;
  const int code = in_child([] {
    // The limits of a user namespace of one's own can be set in it.
    const auto write = [](const char* file, const std::string& text) {
      return static_cast<bool>(std::ofstream(file) << text << std::flush);
    };
    const std::string id = std::to_string(::geteuid());
    if (::unshare(CLONE_NEWUSER) != 0 || !write("/proc/self/uid_map", "0 " + id + " 1") ||
        !write("/proc/sys/user/max_mnt_namespaces", "0"))
      return kNotHere;
    std::string cause;
    if (namespaces_available(&cause)) return 1;
    std::cerr << cause << '\n';
    return cause.find("sysctl -w user.max_mnt_namespaces=10000") == std::string::npos ||
                   cause.find("SYS_ADMIN") != std::string::npos
               ? 2
               : 0;
  });
  if (code == kNotHere) {
    BOOST_TEST_MESSAGE("skipped: no user namespace of one's own");
    return;
  }
  BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_CASE(a_remedy_names_the_setting_or_the_flags_for_this_user) {
  const struct {
    const char* name;
    MachineSettings machine;
    const char* says;
    const char* says_not = "nothing of this";
  } rows[] = {
      {"no namespaces at all",
       {.no_more_of = {"user"}},
       "sysctl -w user.max_user_namespaces=10000 ("},
      {"none of two kinds, as root",
       {.no_more_of = {"mnt", "pid"}, .root = true},
       "sysctl -w user.max_mnt_namespaces=10000 user.max_pid_namespaces=10000 (",
       "cap-add"},
      {"AppArmor", {.restricts_user_namespaces = "1"}, "apparmor_restrict_unprivileged_userns=0"},
      {"root in a container",
       {.filtered = true, .root = true},
       "--cap-add SYS_ADMIN --security-opt apparmor=unconfined"},
      {"another user in a container",
       {.filtered = true},
       "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
       "systempaths=unconfined",
       "SYS_ADMIN"},
      {"another cause", {}, "--security-opt systempaths=unconfined"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto remedies = find_remedies({}, "refused", row.machine);
      BOOST_REQUIRE(!remedies.empty());
      const std::string& remedy = remedies.front().remedy;
      BOOST_TEST(remedies.front().layer == "namespaces");
      BOOST_TEST(remedy.find(row.says) != std::string::npos, remedy);
      BOOST_TEST(remedy.find(row.says_not) == std::string::npos, remedy);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_overlay_is_tried_without_a_trace) {
  Sandboxed here;

  BOOST_TEST(probe_overlay(here.profile.mount) == "");
  BOOST_TEST(fs::is_empty(here.base / "state/upper"));
  BOOST_TEST(!fs::exists(here.base / "ws/.sortie-probe"));

  MountPlan lost = here.profile.mount;
  lost.upper = here.base / "nowhere";
  BOOST_TEST(probe_overlay(lost).find("nowhere") != std::string::npos);
  // An upper folder below the workspace loops: the mount itself succeeds.
  MountPlan loop = here.profile.mount;
  fs::create_directories(here.base / "ws/out/upper");
  fs::create_directories(here.base / "ws/out/work");
  loop.upper = here.base / "ws/out/upper";
  loop.work = here.base / "ws/out/work";
  BOOST_TEST(probe_overlay(loop) != "");
}

BOOST_AUTO_TEST_CASE(the_canary_proves_all_guarantees_in_a_keeper) {
  Sandboxed here;
  Keeper keeper(here.profile);
  const auto environment = here.shell("").environment;

  for (const auto& proof :
       run_canary(keeper.launcher(), here.profile, environment, {"no-such-secret"}))
    BOOST_TEST(proof.proved, static_cast<int>(proof.guarantee) << ": " << proof.detail);
}

BOOST_AUTO_TEST_CASE(refused_namespaces_fall_back_only_where_nothing_has_to_be_mounted) {
  Sandboxed here;

  BOOST_TEST(without_namespaces([&] {
               try {
                 Keeper keeper(here.profile);
               } catch (const Error& error) {
                 const std::string what = error.what();
                 return what.find("--isolation copy") != std::string::npos ? 0 : 2;
               }
               return 1;
             }) == 0);

  here.profile.mount = in_place(here);
  here.profile.home = here.base / "home";
  BOOST_TEST(without_namespaces([&] {
               Keeper keeper(here.profile);
               if (keeper.layers().namespaces || keeper.layers().missing.empty()) return 1;
               const Ran ran = run(keeper, here.shell("echo x > file.txt; echo y > ../y"));
               if (ran.status.code == 0) return 2;
               return keeper.shut_down() ? 0 : 3;
             }) == 0);
  BOOST_TEST(here.read("ws/file.txt") == "x\n");
  BOOST_TEST(!fs::exists(here.base / "y"));
}

BOOST_AUTO_TEST_CASE(root_runs_commands_as_the_owner_of_the_workspace) {
  if (::getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: not root");
    return;
  }
  Sandboxed here;
  for (const auto& entry : fs::recursive_directory_iterator(here.base / "ws"))
    BOOST_REQUIRE(::lchown(entry.path().c_str(), 1000, 1000) == 0);
  BOOST_REQUIRE(::chown((here.base / "ws").c_str(), 1000, 1000) == 0);
  here.profile.uid = 1000;
  here.profile.gid = 1000;
  Keeper keeper(here.profile);

  const Ran ran = run(keeper, here.shell("id -u; id -g; echo x >> file.txt && echo y > new && "
                                         "echo z > $HOME/z && grep CapEff /proc/self/status; "
                                         "cat /etc/shadow > /dev/null 2>&1 || echo closed"));

  BOOST_TEST(said(ran) == "0:0:1000\n1000\nCapEff:\t0000000000000000\nclosed\n");
  BOOST_TEST(here.read("state/upper/file.txt") == "start\nx\n");
}

BOOST_AUTO_TEST_CASE(globs_are_searched_on_three_levels) {
  Sandboxed here;
  fs::create_directories(here.base / "ws/a/b/c");
  for (const char* file : {"ws/x.key", "ws/a/x.key", "ws/a/b/x.key", "ws/a/b/c/x.key"})
    here.write(file, "");
  bool complete = false;

  auto found = search_globs(here.base / "ws", {"**/*.key"}, &complete);
  std::sort(found.begin(), found.end());

  BOOST_TEST(complete);
  BOOST_TEST((found == std::vector<fs::path>{"a/b/x.key", "a/x.key", "x.key"}));
}

BOOST_AUTO_TEST_CASE(tracked_files_are_told_from_untracked_ones) {
  Sandboxed here;
  here.write("ws/.env", "tracked\n");
  here.write("ws/src/.env", "untracked\n");
  fs::remove_all(here.base / "ws/.git");
  const std::string git = "cd " + (here.base / "ws").string() + " && git init -q . && git add .env";
  BOOST_REQUIRE(std::system(git.c_str()) == 0);

  BOOST_TEST(git_tracks(here.base / "ws", ".env"));
  BOOST_TEST(!git_tracks(here.base / "ws", "src/.env"));

  here.profile.hide = {"**/.env"};
  Keeper keeper(here.profile);
  BOOST_TEST(run(keeper, here.shell("cat .env src/.env 2>/dev/null")).output == "tracked\n");
}

BOOST_AUTO_TEST_CASE(the_filters_of_a_run_come_whole_or_no_command_starts) {
  SandboxProfile profile;
  profile.use_namespaces = false;  // where the network makes a difference
  profile.may_escalate_network = true;
  const Channel channel = make_channel();
  const auto sent = compile_filters(profile);
  send_filters(channel.ours.get(), sent);
  const auto came = receive_filters(channel.theirs.get(), profile);
  for (std::size_t kind = 0; kind < sent.size(); ++kind) {
    BOOST_REQUIRE((sent[kind] == nullptr) == (came[kind] == nullptr));
    if (sent[kind]) BOOST_TEST((sent[kind]->program() == came[kind]->program()));
  }
  BOOST_TEST(!sent[0]->program().empty());
  BOOST_TEST((sent[0]->program() != sent[2]->program()));

  SandboxProfile open = profile;
  open.mode = SandboxMode::none;
  send_filters(channel.ours.get(), compile_filters(open));  // empty ones
  BOOST_CHECK_THROW(receive_filters(channel.theirs.get(), profile), Error);

  Channel ended = make_channel();
  ended.ours.reset();
  BOOST_CHECK_THROW(receive_filters(ended.theirs.get(), profile), Error);
}

BOOST_AUTO_TEST_CASE(what_goes_on_beside_a_keeper_is_told_that_it_failed) {
  const Sandboxed here;
  SandboxProfile profile = here.profile;
  profile.mount.workspace = here.base / "missing";
  std::vector<int> told;
  BOOST_CHECK_THROW(Keeper(profile, [&](int pid) { told.push_back(pid); }), Error);
  BOOST_REQUIRE(told.size() == 2u);
  BOOST_TEST(told.front() > 0);
  BOOST_TEST(told.back() == -1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
