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

struct LookedFor {
  TemporaryFolder folder;
  GitViewInputs inputs{.workspace = fs::canonical(folder.path()), .hide = {"**/.env"}};

  void make(const std::string& name) const {
    fs::create_directories((inputs.workspace / name).parent_path());
    write_file(inputs.workspace / name, "");
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
