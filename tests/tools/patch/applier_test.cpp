#include "tools/patch/applier.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "tests/fakes/memory_files.h"
#include "tests/support/temporary_folder.h"
#include "tools/patch/parser.h"

using namespace sortie;
using namespace sortie::patch;

BOOST_AUTO_TEST_SUITE(patch_applier)

namespace {

std::string enclosed(const std::string& sections) {
  return "*** Begin Patch\n" + sections + "*** End Patch\n";
}

const std::string kUpdate = "*** Update File: a\n@@\n-x\n+y\n";

}  // namespace

BOOST_AUTO_TEST_CASE(modes_are_kept_also_by_a_move_and_a_replacement) {
  MemoryFiles files;
  files.content["a"] = {"x\n", 0755};
  files.content["b"] = {"old\n", 0600};
  files.content["c"] = {"x\n", 0640};

  apply_patch(enclosed("*** Update File: a\n*** Move to: d/e\n@@\n-x\n+y\n*** Add File: b\n+new\n"
                       "*** Update File: c\n@@\n-x\n+y\n"),
              files, {});

  BOOST_TEST(
      (files.content == std::map<std::filesystem::path, MemoryFiles::File>{
                            {"b", {"new\n", 0600}}, {"c", {"y\n", 0640}}, {"d/e", {"y\n", 0755}}}));
}

BOOST_AUTO_TEST_CASE(many_files_in_any_order_are_read_ahead_and_each_hunk_sees_those_before_it) {
  MemoryFiles files;
  std::map<std::filesystem::path, MemoryFiles::File> expected;
  std::string sections, last;
  for (int i = 0; i < 100; ++i) {
    const std::string path = "d" + std::to_string(i * 37 % 10) + "/f" + std::to_string(i);
    files.content[path] = {"x\n", i % 2 == 0 ? 0644u : 0755u};
    expected[path] = {i % 3 == 0 ? "z\n" : "y\n", files.content[path].mode};
    sections += "*** Update File: " + (i % 4 == 0 ? "./" + path : path) + "\n@@\n-x\n+y\n";
    if (i % 3 == 0) last += "*** Update File: " + path + "\n@@\n-y\n+z\n";
  }

  apply_patch(enclosed(sections + last), files, {});

  BOOST_TEST((files.content == expected));
}

BOOST_AUTO_TEST_CASE(a_link_is_followed_inside_and_refused_outside) {
  MemoryFiles files;
  files.content["real/f"] = {"x\n"};
  files.links["a"] = "real/f";
  files.links["folder"] = "real";
  files.links["out"] = "../elsewhere";
  files.links["etc"] = "/etc";

  const auto applied = apply_patch(enclosed(kUpdate), files, {});
  apply_patch(enclosed("*** Add File: folder/g\n+1\n"), files, {});

  BOOST_TEST(files.content.at("real/f").content == "y\n");
  BOOST_TEST(files.content.at("real/g").content == "1\n");
  BOOST_TEST(files.links.contains("a"));
  BOOST_TEST((applied.effects.at(0).path == "real/f"));
  for (const char* path : {"out", "out/x", "etc/passwd"}) {
    BOOST_TEST_CONTEXT(path) {
      const std::string patch = enclosed(std::string("*** Add File: ") + path + "\n+x\n");
      BOOST_CHECK_THROW(apply_patch(patch, files, {}), ToolError);
      BOOST_CHECK_THROW(touched_paths(parse_patch(patch), files, {}), ToolError);
    }
  }
}

BOOST_AUTO_TEST_CASE(deleting_a_link_leaves_its_target_and_a_dangling_one_is_refused) {
  MemoryFiles files;
  files.content["f"] = {"x\n"};
  files.links["good"] = "f";
  files.links["bad"] = "none";

  apply_patch(enclosed("*** Delete File: good\n"), files, {});

  BOOST_TEST(files.content.contains("f"));
  BOOST_TEST(!files.links.contains("good"));
  BOOST_CHECK_THROW(apply_patch(enclosed("*** Delete File: bad\n"), files, {}), ToolError);
}

BOOST_AUTO_TEST_CASE(special_files_are_deleted_by_name_and_neither_read_nor_written) {
  const test::TemporaryFolder folder;
  const auto make = [&](const char* name) {
    BOOST_REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
  };
  make("pipe");
  make("target");
  make("replaced");
  std::filesystem::create_symlink("target", folder / "link");
  DiskFiles files(Fd(::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));

  for (const char* section : {"*** Update File: pipe\n@@\n-x\n+y\n", "*** Add File: pipe\n+x\n",
                              "*** Delete File: pipe\n*** Delete File: none\n"}) {
    BOOST_CHECK_THROW(apply_patch(enclosed(section), files, {}), ToolError);
    BOOST_TEST(std::filesystem::is_fifo(folder / "pipe"), section);
  }
  const Place guarded{.refused = [](const auto& path) { return path == "pipe"; }};
  BOOST_CHECK_THROW(apply_patch(enclosed("*** Delete File: pipe\n"), files, guarded), ToolError);
  const auto applied = apply_patch(enclosed("*** Delete File: pipe\n*** Delete File: link\n"
                                            "*** Delete File: replaced\n"
                                            "*** Add File: replaced\n+x\n"),
                                   files, {});

  BOOST_TEST(applied.text ==
             "Success. Updated the following files:\nA replaced\nD pipe\nD link\nD replaced\n");
  BOOST_TEST(applied.effects.at(0).sha256_before == "");
  BOOST_TEST(!std::filesystem::exists(folder / "pipe"));
  BOOST_TEST(!std::filesystem::is_symlink(folder / "link"));
  BOOST_TEST(std::filesystem::is_fifo(folder / "target"));
  BOOST_TEST(files.read("replaced").value() == "x\n");
}

BOOST_AUTO_TEST_CASE(a_failing_write_leaves_files_folders_and_modes_as_they_were) {
  MemoryFiles start;
  start.content = {{"a", {"x\n", 0755}}, {"b", {"1\n", 0600}}, {"gone", {"2\n"}}};
  const std::string patch =
      enclosed(kUpdate + "*** Add File: new/deep/f\n+1\n*** Delete File: gone\n" +
               "*** Update File: b\n*** Move to: moved/b\n@@\n-1\n+2\n");
  MemoryFiles whole = start;
  apply_patch(patch, whole, {});
  BOOST_TEST(whole.changes == 5);

  for (int step = 1; step <= whole.changes; ++step) {
    BOOST_TEST_CONTEXT("failing at change " << step) {
      MemoryFiles files = start;
      files.fail_at = step;
      BOOST_CHECK_THROW(apply_patch(patch, files, {}), ToolError);
      BOOST_TEST(files.same_tree(start));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_comes_and_goes_leaves_its_folders) {
  const std::string sections =
      "*** Add File: d/e/f\n+x\n*** Update File: d/e/f\n*** Move to: g\n@@\n-x\n+y\n"
      "*** Add File: d/h\n+x\n*** Delete File: d/h\n*** Add File: i\n+x\n*** Delete File: i\n";
  MemoryFiles files;
  MemoryFiles failing;
  failing.fail_at = 5;

  apply_patch(enclosed(sections), files, {});
  BOOST_CHECK_THROW(apply_patch(enclosed(sections), failing, {}), ToolError);

  BOOST_TEST((files.content == std::map<std::filesystem::path, MemoryFiles::File>{{"g", {"y\n"}}}));
  BOOST_TEST((files.folders == std::set<std::filesystem::path>{"d", "d/e"}));
  BOOST_TEST(failing.same_tree(MemoryFiles()));
}

BOOST_AUTO_TEST_CASE(effects_tell_path_mode_and_digests) {
  MemoryFiles files;
  files.content["a"] = {"x\n", 0755};

  const auto applied = apply_patch(enclosed("*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n"),
                                   files, {.folder = "."});

  const FileEffect& effect = applied.effects.at(0);
  BOOST_TEST(effect.letter == 'M');
  BOOST_TEST((effect.path == "b"));
  BOOST_TEST((effect.moved_from == "a"));
  BOOST_TEST(effect.mode == 0755u);
  BOOST_TEST(effect.sha256_before == sha256_hex("x\n"));
  BOOST_TEST(effect.sha256_after == sha256_hex("y\n"));
}

BOOST_AUTO_TEST_CASE(refused_paths_stop_the_whole_patch) {
  MemoryFiles files;
  files.content["a"] = {"x\n"};
  files.links["alias"] = "locked/f";
  files.content["locked/f"] = {"x\n"};
  const Place place{.refused = [](const auto& path) { return *path.begin() == "locked"; }};
  const MemoryFiles start = files;

  for (const char* section : {"*** Add File: locked/g\n+1\n", "*** Delete File: locked/f\n",
                              "*** Update File: alias\n@@\n-x\n+y\n",
                              "*** Update File: a\n*** Move to: locked/a\n@@\n-x\n+y\n",
                              "*** Update File: locked/f\n*** Move to: b\n@@\n-x\n+y\n"}) {
    BOOST_TEST_CONTEXT(section) {
      BOOST_CHECK_THROW(apply_patch(enclosed(kUpdate + section), files, place), ToolError);
      BOOST_TEST(files.same_tree(start));
    }
  }
}

BOOST_AUTO_TEST_CASE(paths_begin_at_the_folder_and_touched_paths_name_them_all) {
  MemoryFiles files;
  files.links["d/link"] = "../real";
  const Place place{.root = "/w", .folder = "d"};
  const auto hunks =
      parse_patch(enclosed("*** Add File: f\n+1\n*** Delete File: link\n*** Update File: link\n"
                           "*** Move to: ../g\n@@\n+x\n*** Add File: /w/h\n"));

  const auto paths = touched_paths(hunks, files, place);

  BOOST_TEST((paths == std::vector<std::filesystem::path>{"d/f", "d/link", "real", "g", "h"}));
}

BOOST_AUTO_TEST_SUITE_END()
