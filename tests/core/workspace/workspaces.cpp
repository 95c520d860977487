#include "tests/core/workspace/workspaces.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <exception>

#include "core/base/error.h"
#include "core/workspace/overlay.h"
#include "tests/core/workspace/trees.h"

namespace fs = std::filesystem;

namespace sortie::test {
namespace {

std::string map_ids(uid_t user, gid_t group) {
  const auto put = [](const char* file, const std::string& text) {
    const Fd open(::open(file, O_WRONLY | O_CLOEXEC));
    return open && write_all(open.get(), text);
  };
  const std::string uid = std::to_string(user) + " " + std::to_string(user) + " 1";
  const std::string gid = std::to_string(group) + " " + std::to_string(group) + " 1";
  const bool done = put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", uid) &&
                    put("/proc/self/gid_map", gid);
  return done ? "" : "id maps: " + errno_text(errno);
}

std::string mount_overlay(const MountPlan& plan) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWNS | (user == 0 ? 0 : CLONE_NEWUSER)) != 0) {
    return "unshare: " + errno_text(errno);
  }
  if (user != 0) {
    if (auto refused = map_ids(user, group); !refused.empty()) return refused;
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return "private mounts: " + errno_text(errno);
  }
  const std::string options =
      "lowerdir=" + plan.workspace.native() + ",upperdir=" + plan.upper.native() +
      ",workdir=" + plan.work.native() + ",redirect_dir=nofollow,metacopy=off,index=off" +
      (user == 0 ? "" : ",userxattr");
  if (::mount("overlay", plan.workspace.c_str(), "overlay", MS_NOSUID | MS_NODEV,
              options.c_str()) != 0) {
    return "overlay: " + errno_text(errno);
  }
  return "";
}

}  // namespace

MountedView::MountedView(const MountPlan& plan, const std::function<void()>& work) {
  Pipe leash = make_pipe();
  Pipe answer = make_pipe();
  child_ = ::fork();
  if (child_ == 0) {
    leash.write.reset();
    std::string refused = mount_overlay(plan);
    try {
      if (refused.empty()) work();
    } catch (const std::exception& error) {
      refused = std::string("work: ") + error.what();
    }
    write_all(answer.write.get(), refused);
    answer.write.reset();
    char byte;
    [[maybe_unused]] const ssize_t end = ::read(leash.read.get(), &byte, 1);
    ::_exit(0);
  }
  leash_ = std::move(leash.write);
  answer.write.reset();
  char part[512];
  for (ssize_t count = 0; (count = ::read(answer.read.get(), part, sizeof part)) > 0;) {
    refused_.append(part, static_cast<std::size_t>(count));
  }
  if (!refused_.empty()) return;
  const std::string seen = "/proc/" + std::to_string(child_) + "/root" + plan.workspace.native();
  Fd root(::open(seen.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) refused_ = "the child's view: " + errno_text(errno);
  files_ = std::make_unique<DiskFiles>(std::move(root));
}

MountedView::~MountedView() {
  files_.reset();
  leash_.reset();
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

std::string probe_overlay(const MountPlan& plan) {
  const MountedView view(plan, [&] { put_file(plan.workspace / ".sortie-probe", "probe"); });
  if (!view.refused().empty()) return view.refused();
  return view.files().read(".sortie-probe") == "probe" ? "" : "writing through it does not show";
}

Bench::Bench() {
  fs::create_directory(root);
  options.root = root;
  options.out = folder / "out";
  options.state = folder / "out/state";
  options.probe_overlay = probe_overlay;
}

bool overlay_works() {
  static const std::string refused = [] {
    Bench bench;
    return why_no_overlay(bench.options);
  }();
  if (!refused.empty()) BOOST_TEST_MESSAGE("skipped: " << refused);
  return refused.empty();
}

std::vector<Isolation> isolations() {
  if (overlay_works()) return {Isolation::overlay, Isolation::copy};
  return {Isolation::copy};
}

const char* name_of_isolation(Isolation isolation) { return name_of(isolation); }

void next_tick(const fs::path& folder) {
  const auto stamp = [&] {
    test::put_file(folder / "tick", "x");
    struct stat status {};
    ::stat((folder / "tick").c_str(), &status);
    return std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  };
  const auto first = stamp();
  while (stamp() == first) {
  }
}

std::string in_view(const Workspace& workspace, const std::function<void(const fs::path&)>& work,
                    const std::function<void(const Files&)>& judge) {
  const MountPlan plan = workspace.mount_plan();
  if (plan.kind == MountPlan::Kind::overlay) {
    const MountedView view(plan, [&] { work(plan.workspace); });
    if (!view.refused().empty()) return view.refused();
    judge(view.files());
    return "";
  }
  work(plan.source);
  judge(DiskFiles(Fd(::open(plan.source.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))));
  return "";
}

}  // namespace sortie::test
