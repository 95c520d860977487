#include "tools/files/view_image.h"
#include "core/text/base64.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/base/error.h"
#include "core/images/image_file.h"
#include "tests/support/images.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(view_image)

namespace {

struct Fixture {
  ToolResult view(const std::string& path) { return tool.run(Json::object({{"path", path}}), {}); }
  std::string error(const std::string& path) {
    try {
      (void)tool.actions(Json::object({{"path", path}}));
      return "shown: " + view(path).text;
    } catch (const ToolError& error) {
      return error.what();
    }
  }
  void write(const std::string& name, std::string_view content) {
    write_file(folder / name, content);
  }

  TemporaryFolder folder;
  DiskFiles files{Fd(::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  ViewImage tool{files, folder.path(), [](const auto& path) { return path == "hidden.png"; }};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_image_is_told_by_its_content_and_shown_as_it_is, Fixture) {
  const struct {
    const char* name;
    const std::string& content;
    const char* says;
  } rows[] = {
      {"a.png", images::kPng, "a.png: image/png, 3 x 2 pixels, 69 bytes"},
      {"a.txt", images::kGif, "a.txt: image/gif, 1 x 1 pixels, 44 bytes"},
      {"b", images::kWebp, "b: image/webp, 1 x 1 pixels, 44 bytes"},
      {"c.png", images::kJpeg, "c.png: image/jpeg, 16 x 5 pixels, 56 bytes"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write(row.name, row.content);
      const ToolResult result = view(row.name);
      BOOST_TEST(result.text.substr(0, result.text.rfind(',')) ==
                 std::string(row.says).substr(0, std::string(row.says).rfind(',')));
      BOOST_TEST(result.success);
      BOOST_REQUIRE(result.images.size() == 1u);
      BOOST_TEST(result.images[0].base64 == base64_encoded(row.content));
      BOOST_TEST(result.images[0].media_type == read_image_header(row.content)->media_type);
    }
  }
  BOOST_TEST(view((folder / "a.png").string()).images.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(what_can_not_be_shown_is_named_with_its_reason, Fixture) {
  std::filesystem::create_directory(folder / "folder");
  write("text.png", "no image\n");
  write("empty.png", "");
  write("cut.png", images::kPng.substr(0, 18));
  write("half.png", images::kPng.substr(0, 50));
  write("hidden.png", images::kPng);
  write("shot.png", images::kPng);
  BOOST_REQUIRE(::mkfifo((folder / "pipe.png").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/etc/passwd", folder / "out.png");
  std::filesystem::create_symlink("loop.png", folder / "loop.png");
  write("large.png", images::kPng);
  std::filesystem::resize_file(folder / "large.png", kMaxImageBytes + 1);
  const struct {
    const char* path;
    const char* says;
  } rows[] = {
      {"text.png", "text.png is not a PNG, JPEG, GIF or WebP image"},
      {"empty.png", "empty.png is empty"},
      {"cut.png", "cut.png begins like a PNG image, but is cut off or damaged"},
      {"half.png", "half.png is not a complete PNG: it ends before its chunk IEND"},
      {"folder", "folder: is a folder"},
      {"pipe.png", "pipe.png: is not a regular file"},
      {"large.png", "large.png: is too large: 10485761 bytes of at most 10485760"},
      {"out.png", "out.png: leads outside the workspace"},
      {"loop.png", "loop.png: is a loop of links"},
      {"../shot.png", "Path outside the workspace"},
      {"/etc/passwd", "Path outside the workspace"},
      {"/tmp/shot.png", "only commands can access /tmp and HOME"},
      {"shoot.png", "shoot.png: no such file or folder; did you mean shot.png?"},
      {"none/shot.png", "none/shot.png: no such file or folder; did you mean shot.png?"},
      {"none/other.png", "none/other.png: no such file or folder; the workspace has no none"},
      {"shot.png/x", "shot.png/x: no such file or folder: not a folder: shot.png"},
      {"a\nb", "contains control characters"},
  };
  for (const auto& row : rows)
    BOOST_TEST(error(row.path).find(row.says) != std::string::npos, error(row.path));
  // What is hidden is not proposed.
  BOOST_TEST(error("hidde.png").find("hidden") == std::string::npos, error("hidde.png"));
}

BOOST_FIXTURE_TEST_CASE(the_largest_image_is_shown, Fixture) {
  write("large.gif", images::kGif);
  std::filesystem::resize_file(folder / "large.gif", kMaxImageBytes);

  BOOST_TEST(view("large.gif").images.at(0).base64.size() == (kMaxImageBytes + 2) / 3 * 4);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_shown_any_more_once_the_run_is_to_end, Fixture) {
  write("a.png", images::kPng);
  std::stop_source stop;
  stop.request_stop();
  BOOST_CHECK_THROW(tool.run(Json::object({{"path", "a.png"}}), stop.get_token()), ToolError);
}

BOOST_AUTO_TEST_SUITE_END()
