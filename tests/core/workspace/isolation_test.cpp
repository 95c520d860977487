#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/workspace/copy.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/diff_effect.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "core/workspace/overlay.h"
#include "core/workspace/tree.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using test::Bench;
using test::in_view;
using test::isolations;
using test::next_tick;
using test::overlay_works;
using test::Tree;
namespace fs = std::filesystem;

namespace {

using Kind = ChangedPath::Kind;

std::vector<ChangedPath> expected_changes(const Tree& before, const Tree& after) {
  std::vector<ChangedPath> changes;
  for (const auto& [path, entry] : before) {
    const auto now = after.find(path);
    if (now == after.end()) {
      changes.push_back({path, Kind::deleted});
    } else if (!(now->second == entry)) {
      changes.push_back({path, Kind::modified});
    }
  }
  for (const auto& [path, entry] : after) {
    if (before.count(path) == 0) changes.push_back({path, Kind::added});
  }
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return changes;
}

/// The changes that a run makes by `work`, in a tree of these files.
std::vector<ChangedPath> changes_of(Bench& bench, Isolation isolation,
                                    const std::function<void(const fs::path&)>& work) {
  bench.options.isolation = isolation;
  const auto workspace = open_workspace(bench.options);
  std::vector<ChangedPath> changes;
  const std::string refused = in_view(
      *workspace, work, [&](const Files& view) { changes = workspace->changed_paths(view); });
  BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
  return changes;
}

/// A copy of a tree, opened.
Fd copy_of(const fs::path& tree, const fs::path& to) {
  fs::copy(tree, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  return open_folder(AT_FDCWD, to.native(), to);
}

auto fails(ExitCode code, const std::string& text) {
  return [=](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return error.code() == code && std::string(error.what()).find(text) != std::string::npos;
  };
}

/// Counts what is asked of a view.
class CountingFiles : public Files {
 public:
  explicit CountingFiles(const Files& files) : files_(files) {}
  mutable int calls = 0;

  std::optional<std::string> read(const fs::path& path, std::uint64_t max) const override {
    ++calls;
    return files_.read(path, max);
  }
  std::optional<FileStatus> status(const fs::path& path) const override {
    ++calls;
    return files_.status(path);
  }
  fs::path resolve(const fs::path& path) const override { return files_.resolve(path); }
  std::string read_link(const fs::path& path) const override {
    ++calls;
    return files_.read_link(path);
  }
  std::vector<FolderEntry> list(const fs::path& folder) const override {
    ++calls;
    return files_.list(folder);
  }
  void write(const fs::path&, std::string_view, unsigned) override { ++calls; }
  void remove(const fs::path&) override { ++calls; }
  bool remove_empty_folder(const fs::path&) override { return ++calls == 0; }
  void replace_all(const std::vector<Replacement>&) override { ++calls; }

 private:
  const Files& files_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(isolation)

BOOST_AUTO_TEST_CASE(random_changes_are_found_and_their_diff_gives_the_same_tree) {
  for (const Isolation isolation : isolations()) {
    for (unsigned seed = 0; seed < 30; ++seed) {
      BOOST_TEST_CONTEXT((isolation == Isolation::overlay ? "overlay" : "copy") << " " << seed) {
        Bench bench;
        test::RandomTrees random(1000 + seed);
        const Tree before = random.make(12);
        const Tree after = random.change(before, 10);
        test::become(bench.root, {}, before);
        bench.options.isolation = isolation;
        const auto workspace = open_workspace(bench.options);

        Diff diff;
        const std::string refused = in_view(
            *workspace, [&](const fs::path& root) { test::become(root, before, after); },
            [&](const Files& view) {
              BOOST_TEST((workspace->changed_paths(view) == expected_changes(before, after)));
              diff = make_diff(*workspace, view, bench.root, {.effect = true});
            });

        BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
        BOOST_TEST(test::difference(test::read_tree(bench.root), before) == "");
        DiskFiles fresh(copy_of(bench.root, bench.folder / "fresh"));
        write_effect(diff.effect, fresh, {});
        BOOST_TEST(test::difference(test::read_tree(bench.folder / "fresh"), after) == "");
        test::put_file(bench.folder / "changes.diff", diff.text);
        const auto said =
            test::run_program({"git", "apply", "--allow-empty", "../changes.diff"}, bench.root);
        BOOST_TEST(said.status == 0, said.output);
        BOOST_TEST(test::difference(test::read_tree(bench.root), after) == "");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_ends_as_it_began_is_no_change) {
  for (const Isolation isolation : isolations()) {
    Bench bench;
    const Tree before{{"a/b/same", {0100644, "x"}},
                      {"a/touched", {0100644, "y"}},
                      {"a/link", {0120000, "b"}},
                      {"mode", {0100644, "z"}}};
    test::become(bench.root, {}, before);

    const auto changes = changes_of(bench, isolation, [&](const fs::path& root) {
      fs::remove_all(root / "a");
      test::become(root, {{"mode", {0100644, "z"}}}, before);
      ::chmod((root / "mode").c_str(), 0600);
      fs::create_directories(root / "empty/folders");
      ::mkfifo((root / "pipe").c_str(), 0600);
    });

    BOOST_TEST(changes.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_folder_made_anew_hides_what_was_below_at_any_depth) {
  for (const Isolation isolation : isolations()) {
    Bench bench;
    const Tree before{{"a/b/c/deep", {0100644, "x"}}, {"a/b/file", {0100644, "y"}}};
    test::become(bench.root, {}, before);

    const auto changes = changes_of(bench, isolation, [&](const fs::path& root) {
      fs::remove_all(root / "a");
      fs::create_directories(root / "a/b/c");
      test::put_file(root / "a/b/c/new", "n");
    });

    const std::vector<ChangedPath> expected{
        {"a/b/c/deep", Kind::deleted}, {"a/b/c/new", Kind::added}, {"a/b/file", Kind::deleted}};
    BOOST_TEST((changes == expected));
  }
}

BOOST_AUTO_TEST_CASE(a_link_that_took_a_folders_place_does_not_show_other_files) {
  for (const Isolation isolation : isolations()) {
    Bench bench;
    test::become(bench.root, {}, {{"d/x", {0100644, "1"}}, {"l", {0120000, "d"}}});
    bench.options.isolation = isolation;
    const auto workspace = open_workspace(bench.options);
    const Tree after{{"d", {0120000, "l"}}, {"l/x", {0100644, "1"}}};

    Diff diff;
    const std::string refused = in_view(
        *workspace,
        [&](const fs::path& root) {
          fs::remove(root / "l");
          fs::create_directory(root / "l");
          fs::rename(root / "d/x", root / "l/x");
          fs::remove(root / "d");
          fs::create_symlink("l", root / "d");
        },
        [&](const Files& view) { diff = make_diff(*workspace, view, bench.root, {}); });

    BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
    test::put_file(bench.folder / "changes.diff", diff.text);
    BOOST_TEST(test::run_program({"git", "apply", "../changes.diff"}, bench.root).output == "");
    BOOST_TEST(test::difference(test::read_tree(bench.root), after) == "");
  }
}

BOOST_AUTO_TEST_CASE(the_output_folder_inside_the_workspace_is_no_part_of_it) {
  for (const Isolation isolation : isolations()) {
    Bench bench;
    bench.options.out = bench.root / "sub/out";
    bench.options.state = bench.folder / "state";
    test::become(bench.root, {}, {{"a", {0100644, "x"}}, {"sub/out/result.json", {0100644, "{}"}}});

    const auto changes = changes_of(bench, isolation, [&](const fs::path& root) {
      fs::remove_all(root / "sub/out");
      test::put_file(root / "b", "new");
    });

    BOOST_TEST((changes == std::vector<ChangedPath>{{"b", Kind::added}}));
  }
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_with_what_it_had_changed) {
  for (const Isolation isolation : isolations()) {
    Bench bench;
    test::become(bench.root, {}, {{"a", {0100644, "x"}}});
    changes_of(bench, isolation, [](const fs::path& root) { test::put_file(root / "first", "1"); });

    const auto changes = changes_of(bench, isolation, [](const fs::path& root) {
      BOOST_TEST(read_file(root / "first") == "1");
      test::put_file(root / "second", "2");
    });

    const std::vector<ChangedPath> expected{{"first", Kind::added}, {"second", Kind::added}};
    BOOST_TEST((changes == expected));
  }
}

BOOST_AUTO_TEST_CASE(an_attribute_that_a_command_sets_hides_nothing) {
  if (::geteuid() != 0 || !overlay_works()) return;
  Bench bench;
  test::become(bench.root, {}, {{"d/kept", {0100644, "x"}}});

  const auto changes = changes_of(bench, Isolation::overlay, [](const fs::path& root) {
    test::put_file(root / "d/new", "n");
    // Refused by old kernels, kept apart by others: in no case may it hide what is below.
    ::setxattr((root / "d").c_str(), "user.overlay.opaque", "y", 1, 0);
  });

  BOOST_TEST((changes == std::vector<ChangedPath>{{"d/new", Kind::added}}));
}

BOOST_AUTO_TEST_CASE(an_overlay_reads_only_what_changed_of_a_large_tree) {
  if (!overlay_works()) return;
  Bench bench;
  for (int folder = 0; folder < 100; ++folder) {
    const fs::path at = bench.root / ("d" + std::to_string(folder));
    fs::create_directory(at);
    for (int file = 0; file < 200; ++file) test::put_file(at / std::to_string(file), "x");
  }
  bench.options.isolation = Isolation::overlay;
  const auto workspace = open_workspace(bench.options);

  int calls = 0;
  Diff diff;
  const std::string refused = in_view(
      *workspace,
      [](const fs::path& root) {
        test::put_file(root / "d7/7", "changed");
        test::put_file(root / "d8/new", "n");
        fs::remove(root / "d9/9");
      },
      [&](const Files& view) {
        const CountingFiles counting(view);
        diff = make_diff(*workspace, counting, bench.root, {});
        calls = counting.calls;
      });

  BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
  BOOST_TEST(diff.files.size() == 3u);
  BOOST_TEST(calls < 20);
  const auto upper = workspace->mount_plan().upper;
  BOOST_TEST(std::distance(fs::recursive_directory_iterator(upper), {}) == 6);
}

BOOST_AUTO_TEST_CASE(an_overlay_with_moved_folders_is_refused) {
  if (::geteuid() != 0 || !overlay_works()) return;
  Bench bench;
  test::become(bench.root, {}, {{"d/x", {0100644, "1"}}});
  bench.options.isolation = Isolation::overlay;
  const auto workspace = open_workspace(bench.options);
  const fs::path moved = workspace->mount_plan().upper / "moved";
  fs::create_directory(moved);
  BOOST_REQUIRE(::setxattr(moved.c_str(), "trusted.overlay.redirect", "d", 1, 0) == 0);

  const DiskFiles view(Fd(::open(bench.root.c_str(), O_PATH | O_CLOEXEC)));

  BOOST_CHECK_EXCEPTION(workspace->changed_paths(view), Error,
                        fails(ExitCode::internal, "redirect_dir"));
}

BOOST_AUTO_TEST_CASE(a_copy_keeps_modes_times_links_and_holes) {
  Bench bench;
  test::become(bench.root, {}, {{"x", {0100755, "run"}}, {"l", {0120000, "nowhere"}}});
  ::chmod((bench.root / "x").c_str(), 0751);
  const timespec times[2] = {{1000, 0}, {2000, 123456789}};
  ::utimensat(AT_FDCWD, (bench.root / "x").c_str(), times, 0);
  const Fd sparse(::open((bench.root / "sparse").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  BOOST_REQUIRE(::ftruncate(sparse.get(), 1 << 30) == 0);
  BOOST_REQUIRE(::pwrite(sparse.get(), "end", 3, (1 << 30) - 3) == 3);
  ::mkfifo((bench.root / "pipe").c_str(), 0644);
  bench.options.isolation = Isolation::copy;
  bench.options.copy_limit = 1 << 20;

  const auto workspace = open_workspace(bench.options);

  const fs::path copy = workspace->mount_plan().source;
  struct stat status {};
  BOOST_REQUIRE(::stat((copy / "x").c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 07777) == 0751u);
  BOOST_TEST(status.st_mtim.tv_sec == 2000);
  BOOST_TEST(status.st_mtim.tv_nsec == 123456789);
  BOOST_TEST(fs::read_symlink(copy / "l") == "nowhere");
  BOOST_REQUIRE(::stat((copy / "sparse").c_str(), &status) == 0);
  BOOST_TEST(status.st_size == 1 << 30);
  BOOST_TEST(status.st_blocks < 1000);
  BOOST_TEST(!fs::exists(fs::symlink_status(copy / "pipe")));
}

BOOST_AUTO_TEST_CASE(a_tree_over_the_copy_limit_is_refused) {
  Bench bench;
  test::become(bench.root, {}, {{"big", {0100644, std::string(100'000, 'x')}}});
  bench.options.isolation = Isolation::copy;
  bench.options.copy_limit = 50'000;

  BOOST_CHECK_EXCEPTION(open_workspace(bench.options), Error,
                        fails(ExitCode::environment, "at most 50000"));
  bench.options.isolation = Isolation::automatic;
  bench.options.probe_overlay = [](const MountPlan&) { return "refused by the test"; };
  BOOST_CHECK_EXCEPTION(open_workspace(bench.options), Error,
                        fails(ExitCode::environment, "--isolation"));
}

BOOST_AUTO_TEST_CASE(the_mode_is_picked_with_its_reason) {
  Bench bench;
  const auto refusing = [](const MountPlan&) { return "refused by the test"; };
  if (overlay_works()) {
    const auto workspace = open_workspace(bench.options);
    BOOST_TEST((workspace->isolation() == Isolation::overlay));
    BOOST_TEST(!fs::exists(bench.options.state / "probe"));
  }
  remove_tree(bench.options.state);
  bench.options.probe_overlay = refusing;
  const auto workspace = open_workspace(bench.options);
  BOOST_TEST((workspace->isolation() == Isolation::copy));
  BOOST_TEST(workspace->reason().find("refused by the test") != std::string::npos);
  BOOST_TEST((workspace->mount_plan().kind == MountPlan::Kind::bind));
  BOOST_TEST(open_workspace(bench.options)->reason() == "the run continues in its copy");

  bench.options.isolation = Isolation::overlay;
  BOOST_CHECK_EXCEPTION(open_workspace(bench.options), Error,
                        fails(ExitCode::environment, "refused by the test"));
  bench.options.isolation = Isolation::automatic;
  bench.options.state = bench.root / "state";
  BOOST_CHECK_EXCEPTION(open_workspace(bench.options), Error,
                        fails(ExitCode::environment, "inside the workspace"));
}

// As a run that is killed while another tree is in its copy's place.
BOOST_AUTO_TEST_CASE(a_copy_that_was_put_aside_is_back_at_the_next_start) {
  Bench bench;
  bench.options.isolation = Isolation::copy;
  bench.options.namespaces = false;
  const fs::path tree = open_workspace(bench.options)->mount_plan().source;
  test::put_file(tree / "work", "of the run\n");
  fs::rename(tree, SwappedTree::aside(tree));
  fs::create_directory(tree);
  test::put_file(tree / "fresh", "of a verification\n");

  const auto workspace = open_workspace(bench.options);

  BOOST_TEST(read_file(workspace->mount_plan().source / "work") == "of the run\n");
  BOOST_TEST(!fs::exists(tree / "fresh"));
  BOOST_TEST(!fs::exists(SwappedTree::aside(tree)));
}

BOOST_AUTO_TEST_CASE(another_tree_takes_the_copys_place_for_a_while) {
  Bench bench;
  bench.options.isolation = Isolation::copy;
  bench.options.namespaces = false;
  test::put_file(bench.root / "start", "x\n");
  const auto workspace = open_workspace(bench.options);
  const fs::path tree = workspace->mount_plan().source;
  test::put_file(tree / "work", "of the run\n");
  const fs::path other = bench.options.state / "other";
  const auto fresh = make_copy_beside(*workspace, other);
  const DiskFiles files(open_folder(AT_FDCWD, other.native(), other));

  {
    const SwappedTree swapped(tree, other);
    test::put_file(tree / "made", "there\n");
    BOOST_TEST(!fs::exists(tree / "work"));
    BOOST_TEST((fresh->changed_paths(files) == std::vector<ChangedPath>{{"made", Kind::added}}));
  }

  BOOST_TEST(read_file(tree / "work") == "of the run\n");
  BOOST_TEST(!fs::exists(tree / "made"));
}

BOOST_AUTO_TEST_CASE(without_namespaces_the_copy_is_used_where_it_lies) {
  Bench bench;
  bench.options.namespaces = false;

  const auto workspace = open_workspace(bench.options);

  BOOST_TEST((workspace->mount_plan().kind == MountPlan::Kind::direct));
  BOOST_TEST(fs::is_directory(workspace->mount_plan().source));
}

BOOST_AUTO_TEST_SUITE_END()
