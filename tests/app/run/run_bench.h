#pragma once

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "app/run/acceptance.h"
#include "app/run/run_ends.h"
#include "core/files/files.h"
#include "core/workspace/open_workspace.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_command_host.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {

/// The agent as the judgement of its work sees it.
class FakeBackground : public Background {
 public:
  int running = 0;  ///< how many programs of it go on
  int asked = 0;

  int end_background() override {
    ++asked;
    return std::exchange(running, 0);
  }
};

/// The parts of a run that judge its work, over a real copy of a real tree; only its commands are
/// fakes.
class RunBench {
 public:
  RunInputs inputs;
  GitInfo git;
  FakeClock clock;
  Redactor redactor;
  RunResult result;
  FakeBackground agent;
  std::set<std::filesystem::path> links;

  RunBench() {
    std::filesystem::create_directories(folder_ / "tree");
    std::filesystem::create_directories(folder_ / "state");
    std::filesystem::create_directories(out_);
    inputs.workspace = folder_ / "tree";
    inputs.policy.approval = Approval::full_auto;
  }

  /// A file of the tree, before open().
  void put_at_start(const std::string& path, const std::string& text) const {
    put(inputs.workspace / path, text);
  }

  /// Opens the workspace and makes the parts: what tests set of the above is set by now.
  Acceptance& open(bool mounted = true) {
    WorkspaceOptions options;
    options.root = inputs.workspace;
    options.out = out_;
    options.state = folder_ / "state";
    options.isolation = Isolation::copy;
    options.namespaces = false;
    workspace_ = open_workspace(options);
    copy_ = workspace_->mount_plan().source;
    view_ = std::make_unique<DiskFiles>(open_root());
    root_ = open_root();
    budget_ = std::make_unique<Budget>(inputs.task.budget, clock);
    host_ = std::make_unique<FakeCommandHost>(inputs.policy, copy_);
    record_ = std::make_unique<RunRecord>(RunRecord::Options{.folder = out_}, redactor, result);
    outputs_ = std::make_unique<SavedOutputs>(folder_ / "state", 1 << 20);
    tree_ = std::make_unique<RunTree>(RunTree::Parts{inputs, *workspace_, *view_, *budget_, clock,
                                                     signals_, out_, redactor, *record_, result},
                                      ProtectedNames::Parts{.root = inputs.workspace,
                                                            .seen_as = copy_,
                                                            .protect = inputs.policy.protect,
                                                            .links_at_start = links,
                                                            .workspace = *workspace_,
                                                            .view = *view_,
                                                            .git = git,
                                                            .mounted = mounted,
                                                            .out = out_,
                                                            .redactor = redactor,
                                                            .record = *record_,
                                                            .result = result});
    acceptance_ = std::make_unique<Acceptance>(Acceptance::Parts{.inputs = inputs,
                                                                 .host = *host_,
                                                                 .root = root_,
                                                                 .tree = *tree_,
                                                                 .view = *view_,
                                                                 .git = git,
                                                                 .budget = *budget_,
                                                                 .signals = signals_,
                                                                 .redactor = redactor,
                                                                 .outputs = *outputs_,
                                                                 .record = *record_,
                                                                 .result = result});
    return *acceptance_;
  }

  void verify_by(const std::string& command) {
    inputs.task.verify.commands.push_back({.argv = {"sh", "-c", command}, .text = command});
  }
  /// What the agent does to the tree.
  void change(const std::string& path, const std::string& text) const { put(copy_ / path, text); }
  const std::filesystem::path& copy() const { return copy_; }
  const std::filesystem::path& out() const { return out_; }
  FakeCommandHost& host() { return *host_; }
  RunTree& tree() { return *tree_; }

 private:
  static void put(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    write_file(file, text);
  }
  Fd open_root() const { return Fd(::open(copy_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)); }

  TemporaryFolder folder_;
  std::filesystem::path out_ = folder_ / "out";
  std::filesystem::path copy_;
  Signals signals_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<DiskFiles> view_;
  Fd root_;
  std::unique_ptr<Budget> budget_;
  std::unique_ptr<FakeCommandHost> host_;
  std::unique_ptr<RunRecord> record_;
  std::unique_ptr<SavedOutputs> outputs_;
  std::unique_ptr<RunTree> tree_;
  std::unique_ptr<Acceptance> acceptance_;
};

/// How a step of a run ended it; fails the test where it did not.
template <class Step>
RunEnds end_of(const Step& step) {
  try {
    step();
  } catch (const RunEnds& ends) {
    return ends;
  }
  BOOST_FAIL("the run goes on");
  return {ExitCode::success, ""};
}

}  // namespace sortie::test
