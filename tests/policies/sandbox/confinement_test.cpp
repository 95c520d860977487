#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sstream>

#include "policies/environment.h"
#include "policies/sandbox/layers.h"
#include "tests/policies/sandbox/scene.h"

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

/// Everything that holds without a namespace, in the order of layers.h.
class Confinement {
 public:
  explicit Confinement(const SandboxProfile& profile, const CommandProfile& command = {})
      : profile_(profile), landlock_(profile, command), seccomp_(profile) {}

  int apply() const {
    if (const int error = apply_resource_limits(profile_)) return error;
    if (const int error = drop_privileges(profile_.uid, profile_.gid)) return error;
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (const int error = landlock_.apply()) return error;
    return seccomp_.apply();
  }

 private:
  SandboxProfile profile_;
  LandlockRules landlock_;
  SeccompFilter seccomp_;
};

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
        if (attempt.scope == Scope::view) continue;
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
  const struct {
    const char* name;
    const char* script;
  } rows[] = {
      {"files", "echo a > n && mkdir -p d/e && mv n d/e/n && ln -s d l && cat l/e/n && rm -r d l"},
      {"hard links inside", "echo a > n && mkdir d && ln n d/m && mv d/m k && rm -r n k d"},
      {"truncation", "echo aaaa > n && truncate -s 2 n && test $(stat -c %s n) = 2 && rm n"},
      {"temporary files and the home", "touch $(mktemp) $HOME/x && rm $HOME/x"},
      {"devices", "echo x > /dev/null && head -c 4 /dev/urandom | wc -c"},
      {"git",
       "rm -rf g && git init -q g && cd g && echo a > a && git add a && "
       "git -c user.name=a -c user.email=a@b commit -qm x && git status --short && "
       "git log --oneline && cd .. && rm -rf g"},
      {"a compiler",
       "echo '#include <vector>\n#include <cstdio>\nint main() { std::vector<int> v(3); "
       "std::puts(\"hi\"); return v[0]; }' > a.cpp && g++ a.cpp -o a.out && ./a.out && "
       "rm a.cpp a.out"},
      {"the address sanitizer",
       "echo 'int main(int n, char**) { int* p = new int(n); return *p - n; "
       "}' > s.cpp && g++ -fsanitize=address s.cpp -o s.out && ./s.out && "
       "rm s.cpp s.out"},
      {"Python with threads and a socket pair",
       "/usr/bin/python3 -c 'import threading, socket, subprocess\n"
       "a, b = socket.socketpair()\n"
       "t = threading.Thread(target=lambda: a.send(b\"x\")); t.start(); t.join()\n"
       "assert b.recv(1) == b\"x\"\n"
       "assert subprocess.run([\"true\"]).returncode == 0'"},
      {"code made at run time",
       "/usr/bin/python3 -c 'import mmap, ctypes\n"
       "m = mmap.mmap(-1, 4096, prot=7); m.write(bytes([0xb8, 42, 0, 0, 0, 0xc3]))\n"
       "f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n"
       "assert f() == 42'"},
      {"a program in memory",
       "/usr/bin/python3 -c 'import os, subprocess\n"
       "f = os.memfd_create(\"p\", 0); os.write(f, open(\"/bin/true\", \"rb\").read())\n"
       "assert subprocess.run([\"/proc/self/fd/%d\" % f], pass_fds=[f]).returncode == 0'"},
      {"a set of randomness off", "setarch -R true"},
  };
  for (const Way& way : ways()) {
    const Scene scene(way.run);
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT(way.name << ": " << row.name) {
        const ScriptResult result = run_script(scene, way, scene.profile(), row.script);
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
