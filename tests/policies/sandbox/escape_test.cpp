// Whole runs of the keeper: the same ways out as in confinement_test.cpp, now also those that only
// namespaces shut, each one a program in the run's own sandbox.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <set>

#include "core/process/process.h"
#include "policies/environment/environment.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/keeper.h"
#include "tests/policies/sandbox/scene.h"
#include "tests/policies/sandbox/work.h"
#include "tests/support/refuse_namespaces.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;
enum class Machine { open, container };

/// Who starts sortie, as whom its commands run, and where.
struct Way {
  const char* name;
  uid_t start;
  uid_t run;
  Machine machine;
};

std::vector<Way> ways() {
  if (::geteuid() != 0) {
    return {{"an ordinary user", ::geteuid(), ::geteuid(), Machine::open},
            {"an ordinary user in a container", ::geteuid(), ::geteuid(), Machine::container}};
  }
  return {{"root, commands as the owner", 0, 1000, Machine::open},
          {"root, commands as root", 0, 0, Machine::open},
          {"an ordinary user", 1000, 1000, Machine::open},
          {"root in a container", 0, 1000, Machine::container},
          {"root in a container, commands as root", 0, 0, Machine::container},
          {"an ordinary user in a container", 1000, 1000, Machine::container}};
}

SandboxProfile profile_for(const Scene& scene, const Way& way) {
  SandboxProfile profile = scene.profile();
  if (way.machine == Machine::container) return profile;
  profile.use_namespaces = true;
  profile.mount.kind = MountPlan::Kind::overlay;
  profile.mount.upper = scene.workspace().parent_path() / "state/upper";
  profile.mount.work = scene.workspace().parent_path() / "state/work";
  profile.home = "/home/run";
  return profile;
}

Environment environment_for(const SandboxProfile& profile) {
  EnvironmentPlaces places{.home = profile.home, .path = {"/usr/bin", "/bin"}};
  if (!profile.use_namespaces) places.temporary = profile.home / "tmp";
  return command_environment({}, {}, places);
}

struct Ran {
  ExitStatus status;
  std::string output;
};

Ran run(Keeper& keeper, const SandboxProfile& profile, std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  command.workdir = workspace_root(profile);
  command.environment = environment_for(profile);
  command.timeout = std::chrono::seconds(60);
  Ran ran;
  ran.status = run_command(keeper.launcher(), command,
                           [&](std::string_view text) { ran.output += text; }, {});
  return ran;
}

/// Runs the body in a child that starts as the way says; what it returns are the findings.
std::string findings_of(const Way& way, const std::function<std::string()>& body) {
  Pipe report = make_pipe();
  const Ended ended = in_child(way.start, [&] {
    std::string text;
    try {
      if (way.machine == Machine::container && refuse_namespaces() != 0) return 125;
      text = body();
    } catch (const std::exception& failure) {
      text = std::string("failed: ") + failure.what();
    }
    return write_all(report.write.get(), text.substr(0, 60000)) ? 0 : 1;
  });
  report.write.reset();
  std::string text(65536, '\0');
  const ssize_t size = ::read(report.read.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (ended.code != 0 || ended.signal != 0)
    text += " (ended with code " + std::to_string(ended.code) + ")";
  return text;
}

BOOST_AUTO_TEST_CASE(no_attempt_gets_out_of_a_run) {
  for (const Way& way : ways()) {
    BOOST_TEST_CONTEXT(way.name) {
      const Scene scene(way.run);
      const SandboxProfile profile = profile_for(scene, way);
      const std::vector<std::string> possible =
          possible_attempts(scene, way.machine == Machine::open);
      BOOST_TEST_MESSAGE(way.name << ": " << possible.size() << " attempts");
      BOOST_TEST(possible.size() >= (::geteuid() == 0 ? 120u : 70u));
      std::vector<std::string> argv = {scene.tools() / "escape", to_text(scene.ground())};
      argv.insert(argv.end(), possible.begin(), possible.end());

      const std::string findings = findings_of(way, [&] {
        Keeper keeper(profile);
        const Ran ran = run(keeper, profile, argv);
        return ran.output + ran.status.detail + (keeper.shut_down() ? "" : " (processes are left)");
      });

      BOOST_TEST(findings == "tried " + std::to_string(possible.size()) + "\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_command_that_may_trace_what_it_starts_reaches_no_other_process) {
  const std::set<std::string> of_processes = {
      "read_environ",     "open_memory", "open_by_its_root", "trace",
      "seize_it",         "read_memory", "signal_it",        "signal_by_descriptor",
      "steal_descriptor", "compare",     "run_setuid"};
  for (const Way& way : ways()) {
    BOOST_TEST_CONTEXT(way.name) {
      const Scene scene(way.run);
      SandboxProfile profile = profile_for(scene, way);
      profile.tracing = Tracing::own;
      std::vector<std::string> argv = {scene.tools() / "escape", to_text(scene.ground())};
      std::size_t tried = 0;
      for (const std::string& name : possible_attempts(scene, way.machine == Machine::open)) {
        if (of_processes.count(name) == 0) continue;
        argv.push_back(name);
        ++tried;
      }
      BOOST_TEST(tried >= 8u);

      const std::string findings = findings_of(way, [&] {
        Keeper keeper(profile);
        const Ran ran = run(keeper, profile, argv);
        std::string text = ran.output;
        for (const auto& proof :
             run_canary(keeper.launcher(), profile, environment_for(profile), {"a-secret-value"})) {
          if (!proof.proved) text += std::string(name_of(proof.guarantee)) + ": " + proof.detail;
        }
        return text;
      });

      BOOST_TEST(findings == "tried " + std::to_string(tried) + "\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(debuggers_trace_what_their_own_command_starts_if_the_policy_says_so) {
  const struct {
    const char* program;
    const char* script;
  } rows[] = {
      {"strace",
       "strace -f -o log -e trace=execve sh -c '/bin/true; exit 0' && grep -q '/bin/true' log"},
      {"gdb",
       "printf 'int half(int n) { return n / 2; }\nint main() { return half(84); }\n' > t.c && "
       "gcc -g -O0 t.c -o t && gdb -nx -batch -ex 'break half' -ex run -ex 'print n' -ex finish ./t "
       "> log 2>&1; grep -q '1 = 84' log && grep -q 'Value returned is .2 = 42' log"}};
  for (const Way& way : ways()) {
    BOOST_TEST_CONTEXT(way.name) {
      for (const auto& row : rows) {
        if (std::system(("command -v " + std::string(row.program) + " > /dev/null").c_str()) != 0) {
          BOOST_TEST_MESSAGE("skipped: there is no " << row.program);
          continue;
        }
        for (const Tracing tracing : {Tracing::own, Tracing::none}) {
          const Scene scene(way.run);
          SandboxProfile profile = profile_for(scene, way);
          profile.tracing = tracing;

          const std::string findings = findings_of(way, [&] {
            Keeper keeper(profile);
            const Ran ran = run(keeper, profile, {"sh", "-c", row.script});
            const bool works = ran.status.success();
            return works == (tracing == Tracing::own) ? "" : row.program + ran.output;
          });

          BOOST_TEST(findings == "");
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_must_work_works_in_a_run) {
  for (const Way& way : ways()) {
    BOOST_TEST_CONTEXT(way.name) {
      const Scene scene(way.run);
      const SandboxProfile profile = profile_for(scene, way);

      const std::string findings = findings_of(way, [&] {
        Keeper keeper(profile);
        std::string broken;
        for (const Work& work : what_must_work()) {
          if (work.needs_namespaces && !profile.use_namespaces) continue;
          const Ran ran = run(keeper, profile, {"sh", "-ec", work.script});
          if (!ran.status.success()) broken += std::string(work.name) + ": " + ran.output;
        }
        return broken;
      });

      BOOST_TEST(findings == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_canary_of_a_run_proves_all_five) {
  for (const Way& way : ways()) {
    BOOST_TEST_CONTEXT(way.name) {
      const Scene scene(way.run);
      const SandboxProfile profile = profile_for(scene, way);

      const std::string findings = findings_of(way, [&] {
        Keeper keeper(profile);
        std::string unproved;
        for (const auto& proof :
             run_canary(keeper.launcher(), profile, environment_for(profile), {"a-secret-value"})) {
          if (!proof.proved)
            unproved += std::string(name_of(proof.guarantee)) + ": " + proof.detail;
        }
        return unproved;
      });

      BOOST_TEST(findings == "");
    }
  }
}

}  // namespace
}  // namespace sortie::test
