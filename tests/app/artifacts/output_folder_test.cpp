#include "app/artifacts/output_folder.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/artifacts/run_mark.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

constexpr const char* kRunId = "01980000-0000-7000-8000-000000000001";

void leave_run(const std::filesystem::path& out, const char* status, const char* id = kRunId) {
  std::filesystem::create_directories(out);
  write_file(
      out / "result.json",
      write_json(Json::object(
          {{"status", status}, {"run_id", id}, {"sortie", SORTIE_VERSION}, {"version", 1}})));
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

/// The folder of a run of several attempts.
void leave_attempts(const std::filesystem::path& out) {
  namespace fs = std::filesystem;
  leave_run(out, "running");
  write_file(out / "transcript.jsonl", "");
  for (const char* name : {"changes.diff", "summary.md", "report.html", "attestation.json",
                           "last-message.txt", "partial.diff", "last-message.json"})
    write_file(out / name, "");
  leave_run(out / "attempt-1", "running");
  write_file(out / "attempt-1/partial.diff", "");
  fs::create_directories(out / "state/upper");
  for (const char* name : {"began", "manifest", "in-place", "keeper", "changes.tar"})
    write_file(out / "state" / name, "");
  RunMark::write(out / "state", Json::object({}), 1);
}

/// The names that go from a folder, in their order, but for unfinished writes.
class Leaving {
 public:
  explicit Leaving(const std::filesystem::path& folder) : events_(::inotify_init1(IN_NONBLOCK)) {
    BOOST_REQUIRE(::inotify_add_watch(events_.get(), folder.c_str(), IN_DELETE | IN_MOVED_FROM) >=
                  0);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    alignas(inotify_event) char buffer[16384];
    for (ssize_t size = 0; (size = ::read(events_.get(), buffer, sizeof buffer)) > 0;)
      for (const char* at = buffer; at < buffer + size;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(at);
        if (event->len > 0 && !is_unfinished_write(event->name)) names.emplace_back(event->name);
        at += sizeof(inotify_event) + event->len;
      }
    return names;
  }

 private:
  Fd events_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(output_folder)

// Whenever it is killed, what is left is a run's, and no state of which a part is gone passes for whole.
BOOST_AUTO_TEST_CASE(a_run_goes_in_an_order_in_which_it_is_one_to_the_end) {
  for (const Previous previous : {Previous::discarded, Previous::kept}) {
    const test::TemporaryFolder place;
    leave_attempts(place / "out");
    OutputFolder folder(place / "out");
    const Leaving run(folder.path());

    folder.take(previous);

    const std::vector<std::string> names = run.names();
    BOOST_REQUIRE(names.size() == 11u);
    const std::set<std::string> last(names.end() - 2, names.end());
    BOOST_TEST((last == std::set<std::string>{"result.json", "transcript.jsonl"}));
    // Beside a result, a transcript may be torn; without one it has to be whole.
    if (previous == Previous::discarded) BOOST_TEST(names.back() == "result.json");
  }
}

BOOST_AUTO_TEST_CASE(a_state_is_no_longer_whole_before_anything_else_of_it_goes) {
  const test::TemporaryFolder place;
  leave_attempts(place / "out");
  OutputFolder folder(place / "out");
  const Leaving state(folder.path() / "state");

  folder.remove_state();

  const std::vector<std::string> names = state.names();
  BOOST_REQUIRE(!names.empty());
  BOOST_TEST(names.front() == "key");
}

BOOST_AUTO_TEST_CASE(a_run_of_which_a_part_is_in_its_previous_place_is_moved_there_whole) {
  const test::TemporaryFolder place;
  leave_attempts(place / "out");
  leave_run(place / "out.prev", "success", "01980000-0000-7000-8000-000000000002");
  write_file(place / "out.prev/changes.diff", "of another run");
  OutputFolder(place / "out").take(Previous::kept);
  BOOST_TEST(read_file(place / "out.prev/changes.diff").empty());
  // As if the process had been killed before the last one.
  std::filesystem::rename(place / "out.prev/transcript.jsonl", place / "out/transcript.jsonl");
  std::filesystem::copy_file(place / "out.prev/result.json", place / "out/result.json");

  OutputFolder(place / "out").take(Previous::kept);

  for (const char* name : {"transcript.jsonl", "result.json", "changes.diff", "attempt-1"})
    BOOST_TEST(std::filesystem::exists(place / "out.prev" / name), name);
  BOOST_TEST(!std::filesystem::exists(place / "out/transcript.jsonl"));
}

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

BOOST_AUTO_TEST_CASE(a_start_whose_files_a_power_loss_has_emptied_is_a_runs) {
  const test::TemporaryFolder place;
  const auto out = place.path() / "out";
  std::filesystem::create_directories(out / "state/upper");
  for (const char* name : {".lock", ".gitignore", "result.json", "transcript.jsonl"})
    write_file(out / name, "");
  {
    const OutputFolder folder(out);
    BOOST_TEST(folder.found().has_run);
    BOOST_TEST(folder.found().status == "");
  }

  // Of another program's files nothing says so.
  std::filesystem::remove(out / ".gitignore");
  BOOST_TEST((code_of(out) == ExitCode::usage));
  write_file(out / ".gitignore", "");
  write_file(out / "notes.txt", "");
  BOOST_TEST((code_of(out) == ExitCode::usage));
}

BOOST_AUTO_TEST_CASE(files_that_are_synced_together_are_those_that_were_written) {
  const test::TemporaryFolder place;
  OutputFolder folder(place.path() / "out");
  folder.take(Previous::nothing);
  for (const char* name : {"a", "b", "c"})
    folder.write(name, std::string("content of ") + name, Synced::content);
  folder.sync();
  folder.sync();  // nothing is left

  for (const char* name : {"a", "b", "c"})
    BOOST_TEST(read_file(folder.path() / name) == std::string("content of ") + name);
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
