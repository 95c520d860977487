#include "app/artifacts/output_folder.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

constexpr const char* kRunId = "01980000-0000-7000-8000-000000000001";

void leave_run(const std::filesystem::path& out, const char* status) {
  std::filesystem::create_directories(out);
  write_file(
      out / "result.json",
      write_json(Json::object(
          {{"status", status}, {"run_id", kRunId}, {"sortie", SORTIE_VERSION}, {"version", 1}})));
}

/// The code that a run would end with; success where it may have the folder.
ExitCode code_of(const std::filesystem::path& out) {
  try {
    const OutputFolder folder(out);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::success;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(output_folder)

BOOST_AUTO_TEST_CASE(a_run_that_is_kept_moves_aside) {
  const test::TemporaryFolder place;
  leave_run(place / "out", "success");

  OutputFolder folder(place / "out");
  folder.take(Previous::kept);

  BOOST_TEST(std::filesystem::exists(place / "out.prev/result.json"));
  BOOST_TEST(!std::filesystem::exists(place / "out/result.json"));
}

BOOST_AUTO_TEST_CASE(a_run_that_is_found_stays_as_it_is_until_it_is_judged) {
  const test::TemporaryFolder place;
  leave_run(place / "out", "running");

  OutputFolder folder(place / "out");

  BOOST_TEST(folder.found().has_run);
  BOOST_TEST(folder.found().status == "running");
  for (const Previous previous : {Previous::returned, Previous::resumed}) {
    folder.take(previous);
    BOOST_TEST(std::filesystem::exists(place / "out/result.json"));
  }
  folder.take(Previous::discarded);
  BOOST_TEST(!std::filesystem::exists(place / "out/result.json"));
  BOOST_TEST(!std::filesystem::exists(place / "out.prev"));
}

BOOST_AUTO_TEST_CASE(what_no_run_has_left_is_not_touched) {
  const test::TemporaryFolder place;
  std::filesystem::create_directories(place / "out");
  write_file(place / "out/thesis.txt", "mine");

  BOOST_TEST((code_of(place / "out") == ExitCode::usage));
  BOOST_TEST(read_file(place / "out/thesis.txt") == "mine");
}

BOOST_AUTO_TEST_CASE(a_second_run_in_the_same_folder_is_told_that_it_is_busy) {
  const test::TemporaryFolder place;
  const OutputFolder first(place / "out");

  BOOST_TEST((code_of(place / "out") == ExitCode::busy));
}

BOOST_AUTO_TEST_CASE(the_state_of_a_run_lies_outside_of_its_workspace) {
  const test::TemporaryFolder place;
  const auto workspace = place / "tree";
  OutputFolder inside(workspace / "out");
  OutputFolder beside(place / "out");

  const auto hidden = inside.make_state(workspace);
  const auto plain = beside.make_state(workspace);
  const bool outside = hidden.string().find(workspace.string()) == std::string::npos;
  const bool linked = std::filesystem::is_symlink(workspace / "out/state");
  inside.remove_state();

  BOOST_TEST(outside);
  BOOST_TEST(linked);
  BOOST_TEST(plain == beside.path() / "state");
  BOOST_TEST(!std::filesystem::exists(hidden));
  BOOST_TEST(!std::filesystem::exists(std::filesystem::symlink_status(workspace / "out/state")));
}

BOOST_AUTO_TEST_CASE(writing_a_file_gives_its_digest) {
  const test::TemporaryFolder place;
  const OutputFolder folder(place / "out");

  const std::string digest = folder.write("a.txt", "abc");

  BOOST_TEST(digest == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(read_file(folder.path() / "a.txt") == "abc");
}

BOOST_AUTO_TEST_SUITE_END()
