#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/memory_files.h"
#include "tools/files/list_dir.h"
#include "tools/files/read_file.h"
#include "tools/plain_tools.h"

using namespace sortie;
using sortie::test::FakeClock;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(file_tools)

namespace {

std::string text_of(const ToolResult& result) { return result.head + result.text; }

}  // namespace

BOOST_AUTO_TEST_CASE(a_window_of_lines_is_read_with_their_numbers) {
  MemoryFiles files;
  files.content["f"] = {"one\ntwo\r\nthree\nfour"};
  files.content["empty"] = {""};
  ReadFile tool(files, "/w");
  const auto read = [&](const char* arguments) {
    return text_of(tool.run(parse_json(arguments), {}));
  };

  BOOST_TEST(read(R"({"path":"f"})") ==
             "Lines 1–4 of 4\n     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n");
  BOOST_TEST(read(R"({"path":"/w/f","offset":2,"limit":1})") ==
             "Lines 2–2 of 4; more follow from line 3\n     2\ttwo\n");
  BOOST_TEST(read(R"({"path":"empty"})") == "empty is empty");
  BOOST_CHECK_THROW(read(R"({"path":"f","offset":5})"), ToolError);
  BOOST_CHECK_THROW(read(R"({"path":"none"})"), ToolError);
  BOOST_CHECK_THROW(read(R"({"path":"../f"})"), ToolError);
}

BOOST_AUTO_TEST_CASE(a_link_that_leads_nowhere_is_told_as_that) {
  MemoryFiles files;
  files.content["d/f"] = {"x\n"};
  files.links["dang"] = "gone/x";
  files.links["e"] = "d";
  files.links["d/loose"] = "gone";
  ReadFile tool(files, "/w");
  const auto told = [&](const char* name) -> std::string {
    try {
      return tool.run(Json::object({{"path", name}}), {}).text;
    } catch (const ToolError& error) {
      return error.what();
    }
  };

  BOOST_TEST(told("dang") ==
             "dang: no such file or folder: dang is a link to gone/x, which does not exist");
  BOOST_TEST(told("dang/y") ==
             "dang/y: no such file or folder: dang is a link to gone/x, which does not exist");
  BOOST_TEST(told("e/loose") ==
             "e/loose: no such file or folder: e/loose is a link to gone, which does not exist");
  BOOST_TEST(told("dan") == "dan: no such file or folder; did you mean dang?");
}

BOOST_AUTO_TEST_CASE(binary_files_long_lines_and_bad_bytes_do_no_harm) {
  MemoryFiles files;
  files.content["binary"] = {
      std::string("\x7f"
                  "ELF\0\0",
                  6)};
  files.content["long"] = {std::string(1'000'000, 'x')};
  files.content["bad"] = {"a\xff\n"};
  ReadFile tool(files, "/w");
  const auto read = [&](const char* name) {
    return tool.run(Json::object({{"path", name}}), {}).text;
  };

  BOOST_TEST(read("binary") == "binary is a binary file of 6 bytes");
  BOOST_TEST(read("long").size() < 2100u);
  BOOST_TEST(read("long").ends_with(" … (976 KiB in this line)\n"));
  BOOST_TEST(read("bad") == "     1\ta\xEF\xBF\xBD\n");
}

BOOST_AUTO_TEST_CASE(actions_name_the_path_and_where_its_links_lead) {
  MemoryFiles files;
  files.links["link"] = "secret/.env";
  files.links["out"] = "/etc/shadow";
  const ReadFile tool(files, "/w");

  const auto actions = tool.actions(parse_json(R"({"path":"link"})"));

  BOOST_TEST((std::get<ReadPath>(actions.at(0)).path == "link"));
  BOOST_TEST((std::get<ReadPath>(actions.at(1)).path == "secret/.env"));
  BOOST_CHECK_THROW(tool.actions(parse_json(R"({"path":"out"})")), ToolError);
}

BOOST_AUTO_TEST_CASE(a_folder_is_listed_sorted_with_kinds_depth_and_limit) {
  MemoryFiles files;
  files.content["b"] = {""};
  files.content["a/x"] = {""};
  files.content["a/y/z"] = {""};
  files.content[".git/config"] = {""};
  files.content[".env"] = {""};
  files.links["l"] = "a/x";
  const FakeClock clock;
  ListDir tool(files, "/w", clock, {.hidden = [](const auto& path) { return path == ".env"; }});
  const auto list = [&](const char* arguments) {
    return text_of(tool.run(parse_json(arguments), {}));
  };

  BOOST_TEST(list("{}") == ".git/\na/\nb\nl -> a/x\n");
  BOOST_TEST(list(R"({"path":".","depth":2})") == ".git/\na/\na/x\na/y/\nb\nl -> a/x\n");
  BOOST_TEST(list(R"({"path":"a/","depth":9})") == "a/x\na/y/\na/y/z\n");
  BOOST_TEST(list(R"({"limit":2})") == "The first 2 entries; 2 more are left out\n.git/\na/\n");
  BOOST_TEST(list(R"({"limit":4})") == ".git/\na/\nb\nl -> a/x\n");
  BOOST_CHECK_THROW(list(R"({"path":"b"})"), ToolError);
  BOOST_CHECK_THROW(list(R"({"path":"none"})"), ToolError);
}

/// Files of which a folder takes a while.
class SlowFolders : public MemoryFiles {
 public:
  std::function<void()> on_list{};
  std::vector<FolderEntry> list(const fs::path& folder) const override {
    on_list();
    return MemoryFiles::list(folder);
  }
};

BOOST_AUTO_TEST_CASE(a_listing_is_ended_at_its_time_limit_and_at_a_stop) {
  SlowFolders files;
  for (int i = 10; i < 90; ++i) files.content["d" + std::to_string(i) + "/f"] = {""};
  FakeClock clock;
  std::stop_source stop;
  int lists = 0;
  ListDir tool(files, "/w", clock, {.time_limit = std::chrono::seconds(20)});
  const auto note = [&](std::function<void()> on_list) {
    lists = 0;
    files.on_list = [&, on_list] {
      ++lists;
      on_list();
    };
    return tool.run(parse_json(R"({"depth":2})"), stop.get_token()).note;
  };
  const auto told = [](const std::string& why) {
    return "the listing stopped early, " + why +
           ": there may be more entries; use a smaller `depth` or a deeper `path`";
  };

  BOOST_TEST(note([] {}) == "");
  BOOST_TEST(lists == 81);
  BOOST_TEST(note([&] { clock.monotonic += std::chrono::seconds(3); }) ==
             told("at its time limit"));
  BOOST_TEST(lists == 7);
  BOOST_TEST(note([&] {
               if (lists == 5) stop.request_stop();
             }) == told("since the run is ending"));
  BOOST_TEST(lists == 5);
}

BOOST_AUTO_TEST_CASE(a_plan_has_at_most_one_step_in_progress) {
  UpdatePlan tool;
  const Json plan = parse_json(R"({"explanation":"e","plan":[
      {"step":"a","status":"in_progress"},{"step":"b","status":"pending"}]})");
  Json two = plan;
  two.find("plan")->items()[1].set("status", "in_progress");

  const auto result = tool.run(plan, {});

  BOOST_TEST(result.text == "Plan updated");
  BOOST_TEST((result.plan->steps == plan["plan"]));
  BOOST_CHECK_THROW(tool.run(two, {}), ToolError);
}

BOOST_AUTO_TEST_SUITE_END()
