// The cases of tests/data/apply_patch: NNN_name/{input/…, patch.txt, expected/… or error.txt}, and
// output.txt where the result's text matters. The tree's absolute path is /w/s.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/fakes/memory_files.h"
#include "tools/patch/applier.h"

namespace fs = std::filesystem;
using namespace sortie;

BOOST_AUTO_TEST_SUITE(apply_patch_data)

namespace {

const fs::path kCases = fs::path(SORTIE_SOURCE_DIR) / "tests/data/apply_patch";

MemoryFiles load(const fs::path& folder) {
  MemoryFiles files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path path = entry.path().lexically_relative(folder);
    if (entry.is_symlink())
      files.links[path] = fs::read_symlink(entry.path());
    else if (entry.is_regular_file())
      files.content[path] = {read_file(entry.path())};
  }
  return files;
}

void check_applied(const fs::path& folder, const MemoryFiles& start, const std::string& patch) {
  MemoryFiles files = start;
  const auto applied = patch::apply_patch(patch, files, {.root = "/w/s"});
  const MemoryFiles expected = load(folder / "expected");
  BOOST_TEST((files.content == expected.content));
  BOOST_TEST((files.links == expected.links));
  if (fs::exists(folder / "output.txt"))
    BOOST_TEST(applied.text == read_file(folder / "output.txt"));

  for (int step = 1; step <= files.changes; ++step) {
    BOOST_TEST_CONTEXT("failing at change " << step) {
      MemoryFiles failing = start;
      failing.fail_at = step;
      BOOST_CHECK_THROW(patch::apply_patch(patch, failing, {.root = "/w/s"}), ToolError);
      BOOST_TEST((failing.content == start.content));
      BOOST_TEST((failing.links == start.links));
    }
  }
}

void check_refused(const fs::path& folder, const MemoryFiles& start, const std::string& patch) {
  std::string expected = read_file(folder / "error.txt");
  expected.pop_back();
  MemoryFiles files = start;
  try {
    patch::apply_patch(patch, files, {.root = "/w/s"});
    BOOST_ERROR("not refused");
  } catch (const ToolError& error) {
    const std::string what = error.what();
    BOOST_TEST(what.find(expected) != std::string::npos, what << "\nlacks\n" << expected);
  }
  BOOST_TEST(files.same_tree(start));
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_case_gives_its_expected_tree_or_error) {
  std::set<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(kCases)) cases.insert(entry.path());
  BOOST_TEST(cases.size() >= 160u);

  for (const auto& folder : cases) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const MemoryFiles start = load(folder / "input");
      const std::string patch = read_file(folder / "patch.txt");
      if (fs::exists(folder / "error.txt"))
        check_refused(folder, start, patch);
      else
        check_applied(folder, start, patch);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
