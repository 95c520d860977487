#include "tools/files/apply_patch.h"

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

BOOST_AUTO_TEST_CASE(a_stopped_patch_changes_nothing) {
  MemoryFiles files;
  files.content["a"] = {"x\n"};
  ApplyPatch tool(files, "/w");
  std::stop_source stop;
  stop.request_stop();
  const Json patch =
      Json::object({{"input",
                     "*** Begin Patch\n*** Add File: f\n+x\n*** Update File: a\n@@\n-x\n"
                     "+y\n*** End Patch\n"}});

  BOOST_CHECK_THROW(tool.run(patch, stop.get_token()), ToolError);

  BOOST_TEST(files.content.size() == 1U);
  BOOST_TEST(files.content.at("a").content == "x\n");
}

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
  BOOST_TEST(name_of(result.file_changes.at(0).kind) == std::string("add"));
  BOOST_TEST(name_of(result.file_changes.at(1).kind) == std::string("move"));
  BOOST_TEST(result.file_changes.at(1).moved_from == "old");
  BOOST_TEST(files.content.at("new").content == "2\n");
}

BOOST_AUTO_TEST_CASE(refused_files_are_not_written_even_when_asked_directly) {
  MemoryFiles files;
  ApplyPatch tool(files, "/w", [](const auto& path) { return path == "f"; });

  BOOST_CHECK_THROW(tool.run(Json::object({{"input", kPatch}}), {}), ToolError);
  BOOST_TEST(files.content.empty());
}

BOOST_AUTO_TEST_CASE(a_wrong_path_is_answered_with_the_one_meant) {
  MemoryFiles files;
  files.content["src/cart.py"] = {"1\n"};
  files.content["src/secret.key"] = {"1\n"};
  files.content[".git/HEAD"] = {"1\n"};
  ApplyPatch tool(files, "/w", {}, [](const auto& path) { return path.extension() == ".key"; });
  const struct {
    const char* section;
    const char* message;
  } rows[] = {
      {"*** Update File: src/card.py\n@@\n-1\n+2\n",
       "Failed to read file to update src/card.py: no such file; did you mean src/cart.py?\n"
       "No file was changed."},
      {"*** Update File: src\\cart.py\n@@\n-1\n+2\n",
       "Failed to read file to update src\\cart.py: no such file; did you mean src/cart.py?\n"
       "No file was changed."},
      {"*** Update File: cart.py\n@@\n-1\n+2\n",
       "Failed to read file to update cart.py: no such file; did you mean src/cart.py?\n"
       "No file was changed."},
      {"*** Delete File: lib/cart.py\n",
       "Failed to delete file lib/cart.py: no such file; did you mean src/cart.py?\n"
       "No file was changed."},
      {"*** Delete File: lib/secret.key\n",
       "Failed to delete file lib/secret.key: no such file; the workspace has no lib\n"
       "No file was changed."},
      {"*** Delete File: secret.kex\n",
       "Failed to delete file secret.kex: no such file\nNo file was changed."},
      {"*** Delete File: HEAD\n", "Failed to delete file HEAD: no such file\nNo file was changed."},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.section) {
      const std::string text = std::string("*** Begin Patch\n") + row.section + "*** End Patch\n";
      try {
        tool.run(Json::object({{"input", text}}), {});
        BOOST_ERROR("not refused");
      } catch (const ToolError& error) {
        BOOST_TEST(error.what() == row.message);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
