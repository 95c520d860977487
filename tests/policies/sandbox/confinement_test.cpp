#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>

#include "policies/environment/environment.h"
#include "tests/policies/sandbox/confinement.h"
#include "tests/policies/sandbox/scene.h"
#include "tests/policies/sandbox/work.h"

namespace sortie::test {
namespace {

using escape::Attempt;
using escape::Control;
using escape::Scope;

/// Who starts the command, and as whom it runs.
struct Way {
  const char* name;
  uid_t start;
  uid_t run;
};

std::vector<Way> ways() {
  if (::geteuid() != 0) return {{"an ordinary user", ::geteuid(), ::geteuid()}};
  return {{"root that becomes the owner", 0, 1000},
          {"root without capabilities", 0, 0},
          {"an ordinary user", 1000, 1000}};
}

Ended confined(const Scene& scene, uid_t start, const SandboxProfile& profile,
               const std::function<int()>& body) {
  const Confinement confinement(profile);
  return in_child(start, [&] {
    if (::chdir(scene.workspace().c_str()) != 0) return 125;
    return confinement.apply() == 0 ? body() : 124;
  });
}

Ended control(const Scene& scene, const Attempt& attempt) {
  const uid_t user = attempt.control == Control::root ? 0 : scene.owner();
  return in_child(user, [&] { return attempt.run(scene.ground()); });
}

bool got_through(const Ended& ended) { return ended.signal == 0 && ended.code == 0; }

/// A shell script in the workspace, with the environment that commands get.
struct ScriptResult {
  Ended ended;
  std::string output;
};

ScriptResult run_script(const Scene& scene, const Way& way, const SandboxProfile& profile,
                        const std::string& script) {
  const EnvironmentPlaces places{
      .home = scene.home(), .temporary = scene.home() / "tmp", .path = {"/usr/bin", "/bin"}};
  std::vector<std::string> entries;
  for (const auto& [name, value] : command_environment({}, {}, places))
    entries.push_back(name + "=" + value);
  const std::string log = (scene.home() / "log").string();
  const Ended ended = confined(scene, way.start, profile, [&] {
    const int file = ::open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    ::dup2(file, 1);
    ::dup2(file, 2);
    std::vector<char*> environment;
    for (std::string& entry : entries) environment.push_back(entry.data());
    environment.push_back(nullptr);
    ::execle("/bin/sh", "sh", "-ec", script.c_str(), nullptr, environment.data());
    return 127;
  });
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  return {ended, text.str()};
}

BOOST_AUTO_TEST_CASE(no_attempt_gets_out_without_namespaces) {
  BOOST_REQUIRE(LandlockRules::kernel_abi() > 0);
  for (const Way& way : ways()) {
    BOOST_TEST_CONTEXT(way.name) {
      const Scene scene(way.run);
      int tried = 0;
      for (const Attempt& attempt : escape::attempts()) {
        if (attempt.scope != Scope::always) continue;
        if (const Ended without = control(scene, attempt); !got_through(without)) {
          BOOST_TEST_MESSAGE(way.name << ": " << attempt.name << " can't be done here at all: code "
                                      << without.code << " signal " << without.signal);
          continue;
        }
        const Ended ended = confined(scene, way.start, scene.profile(),
                                     [&] { return attempt.run(scene.ground()); });
        BOOST_TEST(!got_through(ended), attempt.name << " got through");
        BOOST_TEST(ended.signal == 0, attempt.name << " was killed by " << ended.signal);
        BOOST_TEST((ended.code != 124 && ended.code != 125), attempt.name << " was not confined");
        ++tried;
      }
      BOOST_TEST(tried >= (::geteuid() == 0 ? 50 : 30));
    }
  }
}

BOOST_AUTO_TEST_CASE(calls_that_programs_probe_answer_what_they_can_live_with) {
  const struct {
    const char* name;
    int error;
  } rows[] = {
      {"clone3_user", ENOSYS},        {"openat2_setuid", ENOSYS}, {"generic_netlink", EAFNOSUPPORT},
      {"vsock_socket", EAFNOSUPPORT}, {"connect_tcp", EPERM},     {"unshare_user", EPERM},
      {"make_ring", EPERM},           {"trace_own_child", EPERM}, {"chmod_setuid", EPERM}};
  const Way way = ways().back();
  const Scene scene(way.run);
  for (const auto& row : rows) {
    const Ended ended = confined(scene, way.start, scene.profile(),
                                 [&] { return escape::run_attempt(row.name, scene.ground()); });
    BOOST_TEST(ended.code == row.error, row.name << " answers " << ended.code);
  }
}

BOOST_AUTO_TEST_CASE(what_must_work_works_without_namespaces) {
  for (const Way& way : ways()) {
    const Scene scene(way.run);
    for (const Work& work : what_must_work()) {
      if (work.needs_namespaces) continue;
      BOOST_TEST_CONTEXT(way.name << ": " << work.name) {
        const ScriptResult result = run_script(scene, way, scene.profile(), work.script);
        BOOST_TEST(got_through(result.ended), result.output);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_read_only_command_writes_in_its_home_alone) {
  const Way way = ways().back();
  const Scene scene(way.run);
  SandboxProfile reader = scene.profile();
  reader.mode = SandboxMode::read_only;
  SandboxProfile partial = scene.profile();
  partial.workspace_writable = false;
  partial.workspace_write_only = {"file"};
  const struct {
    const char* script;
    SandboxProfile profile;
    bool works;
  } rows[] = {
      {"cat file && touch $HOME/x", reader, true},
      {"echo x > file", reader, false},
      {"echo x > new", reader, false},
      {"rm file", reader, false},
      {"echo x > file", partial, true},
      {"echo x > new", partial, false},
      {"echo x > new && rm new", scene.profile(), true},
  };
  for (const auto& row : rows) {
    const ScriptResult result = run_script(scene, way, row.profile, row.script);
    BOOST_TEST(got_through(result.ended) == row.works, row.script << ": " << result.output);
  }
}

BOOST_AUTO_TEST_CASE(a_hidden_file_is_left_out_of_a_readable_folder) {
  const Way way = ways().front();
  const Scene scene(way.run);
  std::filesystem::create_directories(scene.tools() / "deep/inner");
  for (const char* name : {"deep/inner/secret", "deep/inner/open", "deep/open"})
    std::ofstream(scene.tools() / name) << name;
  SandboxProfile profile = scene.profile();
  profile.hide.push_back((scene.tools() / "deep/inner/secret").string());

  const auto read = [&](const char* name) {
    return got_through(
        run_script(scene, way, profile, "cat " + (scene.tools() / name).string()).ended);
  };

  BOOST_TEST(read("deep/open"));
  BOOST_TEST(read("deep/inner/open"));
  BOOST_TEST(!read("deep/inner/secret"));
}

BOOST_AUTO_TEST_CASE(limits_hold_and_can_not_be_raised) {
  const Way way = ways().front();
  const Scene scene(way.run);
  SandboxProfile profile = scene.profile();
  profile.limits.file_size = 4096;
  profile.limits.open_files = 64;

  const Ended ended = confined(scene, way.start, profile, [] {
    const struct {
      __rlimit_resource resource;
      rlim_t bound;
    } rows[] = {{RLIMIT_FSIZE, 4096}, {RLIMIT_NOFILE, 64}, {RLIMIT_CORE, 0}};
    int wrong = 0;
    for (const auto& row : rows) {
      rlimit now{};
      ::getrlimit(row.resource, &now);
      const rlimit more{row.bound + 1, row.bound + 1};
      wrong += now.rlim_max != row.bound || ::setrlimit(row.resource, &more) == 0;
    }
    rlimit memory{};
    ::getrlimit(RLIMIT_AS, &memory);
    return wrong + (memory.rlim_cur != RLIM_INFINITY);
  });

  BOOST_TEST(got_through(ended));
  const ScriptResult big = run_script(scene, way, profile, "head -c 9999 /dev/zero > big");
  BOOST_TEST(!got_through(big.ended));
}

}  // namespace
}  // namespace sortie::test
