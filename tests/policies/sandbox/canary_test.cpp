#include "policies/sandbox/canary.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "core/files/file_name.h"
#include "tests/policies/sandbox/confinement.h"
#include "tests/policies/sandbox/fork_launcher.h"
#include "tests/policies/sandbox/scene.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

const std::string kSecret = "sk-0123456789abcdef";

/// The names of what was proved, in the order of the guarantees.
std::string proved(const std::vector<GuaranteeProof>& proofs) {
  std::string names;
  for (const GuaranteeProof& proof : proofs)
    if (proof.proved) names += (names.empty() ? "" : " ") + std::string(name_of(proof.guarantee));
  return names;
}

std::string details(const std::vector<GuaranteeProof>& proofs) {
  std::string text;
  for (const GuaranteeProof& proof : proofs)
    text += std::string(name_of(proof.guarantee)) + ": " + proof.detail + "\n";
  return text;
}

std::vector<std::string> tree(const fs::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

uid_t user() { return ::geteuid() == 0 ? 1000 : ::geteuid(); }

BOOST_AUTO_TEST_CASE(the_layers_without_namespaces_prove_all_five) {
  const Scene scene(user());
  const SandboxProfile profile = scene.profile();
  const Confinement confinement(profile);
  ForkLauncher launcher([&] { return confinement.apply(); });

  const auto proofs = run_canary(launcher, profile, {{"HOME", "/home"}}, {kSecret});

  BOOST_TEST(proved(proofs) == "writes secrets network processes kernel", details(proofs));
}

BOOST_AUTO_TEST_CASE(what_a_killed_canary_left_does_not_stand_in_the_way_of_the_next_one) {
  const Scene scene(user());
  const SandboxProfile profile = scene.profile();
  const Confinement confinement(profile);
  ForkLauncher launcher([&] {
    const int failed = confinement.apply();
    // In a process namespace of its own each canary has the id of the one before.
    const fs::path left = scene.workspace() / (".sortie-canary-" + std::to_string(::getpid()));
    if (const int file = ::open(left.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600); file >= 0)
      ::close(file);
    return failed;
  });

  const auto proofs = run_canary(launcher, profile, {{"HOME", "/home"}}, {kSecret});

  BOOST_TEST(proved(proofs) == "writes secrets network processes kernel", details(proofs));
  for (const auto& entry : fs::directory_iterator(scene.workspace()))
    BOOST_TEST(!is_temporary_name(entry.path().filename().string()));
}

BOOST_AUTO_TEST_CASE(without_a_sandbox_nothing_is_proved_and_all_is_undone) {
  const Scene scene(user());
  const auto before = tree(scene.workspace().parent_path());
  SandboxProfile profile = scene.profile();
  profile.limits.open_files = 5;
  ForkLauncher launcher([] { return 0; });

  const auto proofs = run_canary(launcher, profile, {{"API", kSecret}}, {kSecret});

  BOOST_TEST(proved(proofs) == "", details(proofs));
  BOOST_TEST(details(proofs).find("write in " + scene.workspace().parent_path().string()) !=
             std::string::npos);
  BOOST_TEST(details(proofs).find("read API in the environment") != std::string::npos);
  BOOST_TEST(details(proofs).find(kSecret) == std::string::npos);
  BOOST_TEST(tree(scene.workspace().parent_path()) == before, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_hole_costs_its_own_guarantee) {
  const Scene scene(user());
  const auto run = [&](const std::function<void(SandboxProfile&)>& make_hole,
                       const std::map<std::string, std::string>& environment) {
    SandboxProfile holed = scene.profile();
    make_hole(holed);
    const Confinement confinement(holed);
    ForkLauncher launcher([&] { return confinement.apply(); });
    SandboxProfile expected = scene.profile();
    expected.hide = {(scene.tools() / "escape").string()};
    expected.readable.push_back(scene.ground().outside);
    return run_canary(launcher, expected, environment, {kSecret});
  };
  const auto hide = [&](SandboxProfile& profile) {
    profile.hide = {(scene.tools() / "escape").string()};
  };
  const auto outside = [&](SandboxProfile& profile) {
    hide(profile);
    profile.writable = {scene.ground().outside};
  };
  const auto network = [&](SandboxProfile& profile) {
    hide(profile);
    profile.network = NetworkMode::full;
  };
  const auto no_limits = [&](SandboxProfile& profile) {
    hide(profile);
    profile.limits.file_size *= 2;
  };
  const auto read_only = [&](SandboxProfile& profile) {
    hide(profile);
    profile.mode = SandboxMode::read_only;
  };

  BOOST_TEST(proved(run(hide, {})) == "writes secrets network processes kernel");
  BOOST_TEST(proved(run(hide, {{"X", kSecret}})) == "writes network processes kernel");
  BOOST_TEST(proved(run([](SandboxProfile&) {}, {})) == "writes network processes kernel");
  BOOST_TEST(proved(run(outside, {})) == "secrets network processes kernel");
  BOOST_TEST(proved(run(network, {})) == "writes secrets processes kernel");
  BOOST_TEST(proved(run(no_limits, {})) == "writes secrets network kernel");
  BOOST_TEST(proved(run(read_only, {})) == "secrets network processes kernel");
}

BOOST_AUTO_TEST_CASE(a_descriptor_left_open_costs_the_secrets) {
  const Scene scene(user());
  const SandboxProfile profile = scene.profile();
  const Confinement confinement(profile);
  ForkLauncher launcher([&] { return ::dup(1) < 0 ? 1 : confinement.apply(); });

  const auto proofs = run_canary(launcher, profile, {}, {});

  BOOST_TEST(proved(proofs) == "writes network processes kernel", details(proofs));
}

BOOST_AUTO_TEST_CASE(an_open_network_is_never_called_proved) {
  const Scene scene(user());
  SandboxProfile profile = scene.profile();
  profile.network = NetworkMode::full;
  const Confinement confinement(profile);
  ForkLauncher launcher([&] { return confinement.apply(); });

  const auto proofs = run_canary(launcher, profile, {}, {});

  BOOST_TEST(proved(proofs) == "writes secrets processes kernel", details(proofs));
  BOOST_TEST(proofs[2].detail == "network is full by policy");
}

BOOST_AUTO_TEST_CASE(a_canary_that_can_not_start_proves_nothing) {
  const Scene scene(user());
  ForkLauncher launcher([] { return 1; });

  const auto proofs = run_canary(launcher, scene.profile(), {}, {kSecret});

  BOOST_TEST(proofs.size() == 5u);
  BOOST_TEST(proved(proofs) == "");
  BOOST_TEST(proofs[0].detail == "the canary gave no report");
}

}  // namespace
}  // namespace sortie::test
