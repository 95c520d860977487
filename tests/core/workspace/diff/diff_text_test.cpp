#include "core/workspace/diff/diff_text.h"

#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>

#include "core/workspace/diff/patch_check.h"
#include "core/workspace/diff/patch_text.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
namespace fs = std::filesystem;

namespace {

/// Lines of very different lengths, of some megabytes together.
std::string written_in_parts(DiffTextWriter& writer) {
  std::string all;
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::string line = "+" + std::string(i % 1500, 'x') + std::to_string(i) + "\n";
    writer.add(line);
    all += line;
  }
  const std::string long_line(3u << 20, 'y');
  writer.add(long_line);
  writer.add('\n');
  return all + long_line + "\n";
}

/// A number of kB in /proc/self/status.
std::size_t kilobytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t number = 0;
    if (word == name + ":" && status >> number) return number;
  }
  return 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diff_text)

BOOST_AUTO_TEST_CASE(a_text_is_the_same_in_a_file_and_in_memory) {
  const test::TemporaryFolder folder;
  for (const fs::path& place : {fs::path(), folder.path(), folder / "missing"}) {
    DiffTextWriter writer(place);
    const std::string written = written_in_parts(writer);

    const DiffText text = writer.take();

    BOOST_TEST((text == written), place);
    text.give_back();
    const DiffText copy = text;
    BOOST_TEST((copy == written), place);
  }
  BOOST_TEST(fs::is_empty(folder.path()));  // the file has no name
  BOOST_TEST(DiffTextWriter(folder.path()).take().empty());
}

// Linux: writes to it fail as on a full disk once a part is in the file.
BOOST_AUTO_TEST_CASE(a_text_that_has_no_room_on_the_disk_is_kept_in_memory) {
  const test::TemporaryFolder folder;
  DiffTextWriter writer(folder.path());
  rlimit before{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{3u << 20, before.rlim_max};
  BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);

  const std::string written = written_in_parts(writer);
  const DiffText text = writer.take();

  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  BOOST_TEST((text == written));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Beside both sides there is only what one pass needs: not the text, and no record of each line.
BOOST_AUTO_TEST_CASE(a_diff_of_every_second_line_of_a_large_file_takes_less_memory_than_its_text) {
  const test::TemporaryFolder folder;
  std::string before;
  std::string after;
  for (int i = 1'000'000; i < 1'600'000; ++i) {
    before += std::to_string(i) + "\n";
    after += (i % 2 == 0 ? "x" : "") + std::to_string(i) + "\n";
  }
  const TouchedFiles old_side{{"a.txt", {0100644, std::move(before)}}};
  const TouchedFiles new_side{{"a.txt", {0100644, std::move(after)}}};
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins anew
  const std::size_t at_start = kilobytes("VmRSS");

  const PatchText patch = make_patch(old_side, new_side, 3, true, {}, 1000, folder.path());
  const std::string flaw =
      check_patch(patch.text, old_side, new_side, {}, [&] { patch.text.give_back(); });

  const std::size_t peak = kilobytes("VmHWM");
  BOOST_TEST(flaw == "");
  BOOST_TEST(patch.files.at(0).added_lines == 300'000);
  BOOST_TEST((peak - at_start) * 1024 < patch.text.size());
}
#endif

BOOST_AUTO_TEST_SUITE_END()
