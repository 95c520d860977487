#include "tools/apply_patch.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "tests/fakes/memory_files.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(apply_patch_tool)

namespace {

const std::string kPatch = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n";

std::vector<std::string> written_paths(const std::vector<Action>& actions) {
  std::vector<std::string> paths;
  for (const auto& action : actions) paths.push_back(std::get<WritePath>(action).path.string());
  return paths;
}

}  // namespace

BOOST_AUTO_TEST_CASE(actions_are_the_files_written_with_their_links_resolved) {
  MemoryFiles files;
  files.links["f"] = "real/g";
  const ApplyPatch tool(files, "/w");

  const auto plain = tool.actions(Json::object({{"input", kPatch}}));
  const auto below = tool.actions(Json::object({{"input", kPatch}, {"workdir", "d"}}));

  BOOST_TEST((written_paths(plain) == std::vector<std::string>{"f", "real/g"}));
  BOOST_TEST((written_paths(below) == std::vector<std::string>{"d/f"}));
}

BOOST_AUTO_TEST_CASE(a_run_tells_what_it_changed) {
  MemoryFiles files;
  files.content["old"] = {"1\n", 0755};
  ApplyPatch tool(files, "/w");
  const std::string text =
      "*** Begin Patch\n*** Add File: f\n+x\n*** Update File: old\n*** Move to: new\n@@\n-1\n+2\n"
      "*** End Patch\n";

  const auto result = tool.run(Json::object({{"input", text}}), {});

  BOOST_TEST(result.text == "Success. Updated the following files:\nA f\nM new\n");
  BOOST_TEST((result.changed_files == std::vector<std::string>{"A f", "M new"}));
  BOOST_TEST(result.file_changes.at(0).kind == "add");
  BOOST_TEST(result.file_changes.at(1).kind == "move");
  BOOST_TEST(result.file_changes.at(1).moved_from == "old");
  BOOST_TEST(files.content.at("new").content == "2\n");
}

BOOST_AUTO_TEST_CASE(refused_files_are_not_written_even_when_asked_directly) {
  MemoryFiles files;
  ApplyPatch tool(files, "/w", [](const auto& path) { return path == "f"; });

  BOOST_CHECK_THROW(tool.run(Json::object({{"input", kPatch}}), {}), ToolError);
  BOOST_TEST(files.content.empty());
}

BOOST_AUTO_TEST_SUITE_END()
