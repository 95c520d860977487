// What commands see of the repository, looked for before all of a run's inputs are known.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "app/confinement/git_view.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

using Paths = std::vector<fs::path>;

/// Has looked: what is made from then on, it does not know.
struct Looked {
  explicit Looked(const GitViewInputs& inputs) : early(inputs) { early.wait(); }
  EarlyGitView early;
};

struct LookedFor {
  TemporaryFolder folder;
  GitViewInputs inputs{.workspace = fs::canonical(folder.path()), .hide = {"**/.env"}};

  void make(const std::string& name) const {
    fs::create_directories((inputs.workspace / name).parent_path());
    write_file(inputs.workspace / name, "");
  }

  void make_repository() const {
    make(".git/objects/info/packs");
    make(".git/refs/heads/.keep");
    write_file(inputs.workspace / ".git/HEAD", "ref: refs/heads/main\n");
  }
};

BOOST_AUTO_TEST_SUITE(early_git_view)

BOOST_AUTO_TEST_CASE(it_finds_what_is_found_at_once) {
  const LookedFor here;
  for (const char* name : {"a/.env", "b/c/.env", "b/key.pem", ".git/config"}) here.make(name);
  fs::create_symlink("a", here.inputs.workspace / "link");
  const FoundGitView now = find_git_view(here.inputs);
  EarlyGitView early(here.inputs);
  const FoundGitView found = early.take(here.inputs);
  BOOST_TEST((found.hidden_inside == Paths{"a/.env", "b/c/.env"}));
  BOOST_TEST((found.links == Paths{"link"}));
  BOOST_TEST((found.git_files == Paths{here.inputs.workspace / ".git/config"}));
  BOOST_TEST((found.hidden_inside == now.hidden_inside && found.links == now.links &&
              found.git_files == now.git_files && found.view.files == now.view.files &&
              found.view.folders == now.view.folders && found.problem == now.problem));
}

BOOST_AUTO_TEST_CASE(it_looks_again_where_it_has_looked_for_something_else) {
  const LookedFor here;
  for (const char* name : {".env", "key.pem", "locked"}) here.make(name);
  const auto taken_for = [&](const GitViewInputs& wanted) {
    EarlyGitView early(here.inputs);
    return early.take(wanted);
  };
  GitViewInputs wanted = here.inputs;
  wanted.hide = {"**/*.pem"};
  BOOST_TEST((taken_for(wanted).hidden_inside == Paths{"key.pem"}));
  wanted = here.inputs;
  wanted.protect = {"lock*"};
  BOOST_TEST((taken_for(wanted).protected_inside == Paths{"locked"}));
}

BOOST_AUTO_TEST_CASE(what_it_has_found_is_taken_for_the_same_inputs_alone) {
  const LookedFor here;
  here.make(".env");
  Looked looked(here.inputs);
  here.make("later/.env");
  BOOST_TEST((looked.early.take(here.inputs).hidden_inside == Paths{".env"}));

  void (*const changes[])(GitViewInputs & inputs) = {
      [](GitViewInputs& inputs) { inputs.namespaces = false; },
      [](GitViewInputs& inputs) { inputs.in_place = true; },
      [](GitViewInputs& inputs) { inputs.out = inputs.workspace / "out"; },
      [](GitViewInputs& inputs) { inputs.home = "/home"; },
      [](GitViewInputs& inputs) { inputs.workspace = inputs.workspace / "later"; },
  };
  for (const auto& change : changes) {
    Looked other(here.inputs);
    GitViewInputs wanted = here.inputs;
    change(wanted);
    here.make("later/again/.env");
    const FoundGitView found = other.early.take(wanted);
    BOOST_TEST((found.hidden_inside == find_git_view(wanted).hidden_inside));
    BOOST_TEST(found.hidden_inside.size() >= 2u);
    fs::remove(here.inputs.workspace / "later/again/.env");
  }
}

BOOST_AUTO_TEST_CASE(it_finds_what_lies_around_a_workspace_in_a_repository) {
  LookedFor here;
  for (const char* name : {"app/.env", "other/.env", ".git/config"}) here.make(name);
  here.make_repository();
  here.inputs.workspace /= "app";
  Looked looked(here.inputs);
  const FoundGitView found = looked.early.take(here.inputs);
  const fs::path around = here.inputs.workspace.parent_path();
  BOOST_TEST((found.hidden == Paths{around / "other/.env"}));
  BOOST_TEST((found.hidden_inside == Paths{".env"}));
  BOOST_TEST((found.view.folders == Paths{around}));
  BOOST_TEST(found.problem == "");
}

BOOST_AUTO_TEST_CASE(the_links_of_the_run_s_own_folder_are_none_of_the_start) {
  LookedFor here;
  for (const char* name : {"out/task.yaml", "file"}) here.make(name);
  here.inputs.out = here.inputs.workspace / "out";
  fs::create_symlink("..", here.inputs.out / "state");
  fs::create_symlink("file", here.inputs.workspace / "link");
  BOOST_TEST((find_git_view(here.inputs).links == Paths{"link"}));
}

BOOST_AUTO_TEST_CASE(what_was_taken_is_looked_for_again) {
  const LookedFor here;
  here.make("a/.env");
  EarlyGitView early(here.inputs);
  BOOST_TEST(early.take(here.inputs).hidden_inside.size() == 1u);
  here.make("b/.env");
  BOOST_TEST((early.take(here.inputs).hidden_inside == Paths{"a/.env", "b/.env"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
