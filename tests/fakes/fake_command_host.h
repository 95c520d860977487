#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/confinement/command_host.h"
#include "tests/fakes/fake_launcher.h"

namespace sortie::test {

/// A place without a sandbox, whose commands do what a test says.
class FakeCommandHost : public CommandHost {
 public:
  FakeLauncher commands;
  Environment variables{{"PATH", "/usr/bin"}};
  std::vector<std::string> dropped;  ///< private sets, in their order

  /// @param policy  outlives it
  FakeCommandHost(const Policy& policy, std::filesystem::path workspace)
      : workspace_(std::move(workspace)),
        engine_(policy, policy.approval, workspace_, {}, {"/usr/bin"}) {}

  Launcher& launcher() override { return commands; }
  void drop_private_set(const std::string& name) override { dropped.push_back(name); }
  bool can_make_tree() const override { return false; }
  Fd make_tree(const SetTree& tree) override {
    throw Error(tree.set + ": no tree can be made", ExitCode::environment);
  }
  std::unique_ptr<MadePaths> guard_tree(const MountPlan&, Fd) override { return nullptr; }
  void clean_tree() override {}
  const Environment& environment() const override { return variables; }
  const Engine& engine() const override { return engine_; }
  const std::filesystem::path& workspace() const override { return workspace_; }

 private:
  std::filesystem::path workspace_;
  Engine engine_;
};

}  // namespace sortie::test
