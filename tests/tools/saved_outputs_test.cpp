#include "tools/saved_outputs.h"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"
#include "tools/commands/command_output.h"
#include "tools/files/read_file.h"

using namespace sortie;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(saved_outputs)

namespace {

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string numbers(int last) {
  std::string text;
  for (int i = 1; i <= last; ++i) text += std::to_string(i) + "\n";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_output_that_is_shown_in_part_stands_whole_in_a_file_without_secrets) {
  const test::TemporaryFolder folder;
  SavedOutputs outputs(folder.path(), 1u << 20);
  const Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  CommandOutput output(redactor, 100, &outputs);
  const std::string text = numbers(50) + "\x1b[1ms3cr3t-value\x1b[0m\xff\n" + numbers(50);
  for (const char c : text) output.feed(std::string_view(&c, 1));

  const CollectedOutput collected = output.finish();

  const fs::path file = folder / "output-1.txt";
  BOOST_TEST(collected.shown.find(" left out; the whole output is in " + file.string() + " …\n") !=
             std::string::npos);
  BOOST_TEST(read_file(file) == numbers(50) + "[REDACTED:KEY]\xEF\xBF\xBD\n" + numbers(50));
}

BOOST_AUTO_TEST_CASE(an_output_that_is_shown_whole_makes_no_file) {
  const test::TemporaryFolder folder;
  SavedOutputs outputs(folder.path(), 1u << 20);
  const Redactor redactor;
  CommandOutput output(redactor, 100, &outputs);
  output.feed(std::string(99, 'a') + "\n");
  BOOST_TEST(output.finish().shown == std::string(99, 'a') + "\n");
  {
    CommandOutput dropped(redactor, 100, &outputs);
    dropped.feed(numbers(100));
    BOOST_TEST(files_in(folder.path()) == 1u);
  }
  BOOST_TEST(files_in(folder.path()) == 0u);
}

BOOST_AUTO_TEST_CASE(what_the_record_holds_in_part_is_known_by_path_and_digest) {
  const test::TemporaryFolder folder;
  SavedOutputs outputs(folder.path(), 10'000);
  const Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  const auto print = [&](const std::string& text) {
    CommandOutput output(redactor, 100, &outputs, 1'000);
    output.feed(text);
    return output.finish();
  };

  BOOST_TEST(!print(std::string(1'000, 'a')).recorded_cut);
  const CollectedOutput longer = print("s3cr3t-value" + std::string(999, 'b'));

  BOOST_TEST(longer.recorded_cut);
  BOOST_TEST(longer.whole == (folder / "output-2.txt").string());
  const auto kept = outputs.find(longer.whole);
  BOOST_REQUIRE(kept);
  BOOST_TEST(kept->bytes == 999u + 14u);
  BOOST_TEST(kept->sha256 == sha256_hex("[REDACTED:KEY]" + std::string(999, 'b')));
  // Its place is needed for another.
  print(std::string(9'900, 'c'));
  BOOST_TEST(!outputs.find(longer.whole));
}

BOOST_AUTO_TEST_CASE(each_portion_of_an_output_that_goes_on_has_a_file_where_it_is_shown_in_part) {
  const test::TemporaryFolder folder;
  SavedOutputs outputs(folder.path(), 1u << 20);
  const Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  CommandOutput output(redactor, 101, &outputs);
  const auto path = [&](int number) {
    return (folder / ("output-" + std::to_string(number) + ".txt")).string();
  };
  const auto names = [&](const CollectedOutput& portion, int number) {
    return portion.shown.find("the whole output is in " + path(number) + " …\n") !=
           std::string::npos;
  };

  output.feed(numbers(50) + "prompt> ");
  BOOST_TEST(names(output.take(101), 1));
  BOOST_TEST(read_file(path(1)) == numbers(50) + "prompt> ");
  output.feed("short\n");
  BOOST_TEST(output.take(101).shown == "short\n");
  output.feed(numbers(20) + "it is s3cr3t");
  BOOST_TEST(names(output.take(40), 2));  // whole for most, not for one who asks for less
  BOOST_TEST(output.held_back() == 6u);
  BOOST_TEST(read_file(path(2)) == numbers(20) + "it is ");
  output.feed("-value\n" + std::string(86, 'x'));
  output.end();
  BOOST_TEST(names(output.take(101), 3));  // a limit that is odd shows one byte less
  BOOST_TEST(read_file(path(3)) == "[REDACTED:KEY]\n" + std::string(86, 'x'));
  BOOST_TEST(output.take(101).shown == "");
  BOOST_TEST(files_in(folder.path()) == 3u);
}

BOOST_AUTO_TEST_CASE(outputs_that_are_written_side_by_side_have_the_room_together) {
  const test::TemporaryFolder folder;
  SavedOutputs outputs(folder.path(), 1000);
  auto kept = outputs.begin();
  kept->write(std::string(300, 'k'));
  const std::string old = kept->keep();
  auto one = outputs.begin();
  auto two = outputs.begin();
  one->write(std::string(400, '1'));
  two->write(std::string(300, '2'));
  BOOST_TEST(fs::exists(old));
  two->write(std::string(300, '2'));  // the oldest goes for it
  BOOST_TEST(!fs::exists(old));
  one->write("1");  // there is no more
  BOOST_TEST(one->keep() == "");
  BOOST_TEST(files_in(folder.path()) == 1u);
  two->write(std::string(400, '2'));
  BOOST_TEST(read_file(two->keep()) == std::string(1000, '2'));
  one.reset();
  two.reset();
  BOOST_TEST(files_in(folder.path()) == 1u);
}

BOOST_AUTO_TEST_CASE(the_oldest_go_when_there_are_too_many) {
  const test::TemporaryFolder folder;
  SavedOutputs outputs(folder.path(), 1000);
  const Redactor redactor;
  for (int i = 0; i < 5; ++i) {
    CommandOutput output(redactor, 10, &outputs);
    output.feed(std::string(399, 'x') + "\n");
    BOOST_TEST(output.finish().shown.find("output-") != std::string::npos);
  }
  BOOST_TEST(files_in(folder.path()) == 2u);
  BOOST_TEST(fs::exists(folder / "output-5.txt"));
  CommandOutput too_long(redactor, 10, &outputs);
  too_long.feed(std::string(2000, 'x') + "\n");
  BOOST_TEST(too_long.finish().shown.find("whole output") == std::string::npos);
  BOOST_TEST(!fs::exists(folder / "output-6.txt"));
}

BOOST_AUTO_TEST_CASE(without_its_folder_the_output_is_told_without_a_path) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "gone");
  SavedOutputs outputs(folder / "gone", 1000);
  fs::remove(folder / "gone");
  const Redactor redactor;
  CommandOutput output(redactor, 20, &outputs);
  output.feed(numbers(30));
  BOOST_TEST(output.finish().shown.find(" left out …\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_reading_tool_reads_them_beside_the_workspace) {
  const test::TemporaryFolder workspace;
  const test::TemporaryFolder folder;
  AtomicFile file(workspace / "a.txt");
  file.write("of the workspace\n");
  file.commit();
  SavedOutputs outputs(folder.path(), 1u << 20);
  const auto whole = outputs.begin();
  whole->write("of an output\n");
  const std::string path = whole->keep();
  const DiskFiles view(Fd(::open(workspace.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  ReadsOutputs tool(std::make_unique<ReadFile>(view, workspace.path()),
                    std::make_unique<ReadFile>(outputs.files(), outputs.folder()),
                    outputs.folder());

  const Json output = Json::object({{"path", path}});
  BOOST_TEST(tool.actions(output).empty());
  BOOST_TEST(tool.run(output, {}).text.find("of an output") != std::string::npos);
  const Json other = Json::object({{"path", "a.txt"}});
  BOOST_TEST(tool.actions(other).size() == 2u);
  BOOST_TEST(tool.run(other, {}).text.find("of the workspace") != std::string::npos);
  for (const std::string& way : {folder.path().string() + "/../a", path + "/../../b"})
    BOOST_CHECK_THROW(tool.run(Json::object({{"path", way}}), {}), ToolError);
}

BOOST_AUTO_TEST_SUITE_END()
