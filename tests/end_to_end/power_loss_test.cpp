// Runs that lose what was not synced, and go on.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/steady_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// What a power loss leaves, beside what was synced.
enum class Left {
  synced,  ///< no name and no content that was not synced
  names,   ///< all names as they were last, but no content that was not synced
};

/// The disk of tests/support/power_loss.cpp.
class Platter {
 public:
  Platter(fs::path kept, fs::path folder) : kept_(std::move(kept)), folder_(std::move(folder)) {
    fs::create_directories(kept_);
    fs::create_directories(folder_);
  }
  void preload(ProgramStart& start, long cut) const {
    start.environment["LD_PRELOAD"] =
        std::string(SORTIE_BINARY_DIR) + "/tests/support/libsortie_power_loss.so";
    start.environment["SORTIE_POWER_FOLDER"] = folder_.string();
    start.environment["SORTIE_POWER_PLATTER"] = kept_.string();
    start.environment["SORTIE_POWER_CUT"] = std::to_string(cut);
  }
  long steps() const { return std::stol(read_file(kept_ / "steps")); }
  /// Makes the folder as it is after the power loss; it was moved here before.
  void lose(const fs::path& before, Left left) const {
    fs::create_directories(folder_);
    if (left == Left::names)
      copy_names(before, folder_);
    else
      restore(key_of(before), folder_);
  }

 private:
  static std::string key_of(const fs::path& path) {
    struct statx status {};
    BOOST_REQUIRE(::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW,
                          STATX_BASIC_STATS | STATX_BTIME, &status) == 0);
    return std::to_string(status.stx_ino) + "-" + std::to_string(status.stx_btime.tv_sec) + "." +
           std::to_string(status.stx_btime.tv_nsec);
  }
  std::string content(const std::string& key) const {
    const fs::path file = kept_ / ("file-" + key);
    return fs::exists(file) ? read_file(file) : "";
  }
  void restore(const std::string& key, const fs::path& to) const {
    const fs::path list = kept_ / ("folder-" + key);
    if (!fs::exists(list)) return;
    std::istringstream lines(read_file(list));
    for (std::string line; std::getline(lines, line, '\0');) {
      const std::size_t space = line.rfind(' ');
      const std::string what = line.substr(2, space - 2);
      const fs::path path = to / line.substr(space + 1);
      if (line[0] == 'l') {
        fs::create_symlink(what, path);
      } else if (line[0] == 'd') {
        fs::create_directory(path);
        restore(what, path);
      } else {
        write_file(path, content(what));
      }
    }
  }
  void copy_names(const fs::path& from, const fs::path& to) const {
    for (const auto& entry : fs::directory_iterator(from)) {
      const fs::path path = to / entry.path().filename();
      const auto status = entry.symlink_status();
      if (fs::is_symlink(status)) {
        fs::copy_symlink(entry.path(), path);
      } else if (fs::is_directory(status)) {
        fs::create_directory(path);
        copy_names(entry.path(), path);
      } else if (fs::is_regular_file(status)) {
        write_file(path, content(key_of(entry.path())));
      }
    }
  }

  fs::path kept_;
  fs::path folder_;
};

/// The calls of a transcript, as far as it is whole; those with an output if `ended`.
std::set<std::string> calls_in(const fs::path& out, bool ended) {
  std::set<std::string> ids;
  const fs::path transcript = out / "transcript.jsonl";
  if (beginning_of(transcript) != Beginning::record) return ids;
  for (const RecordedTurn& turn : read_run_history(transcript).turns)
    for (const TurnCall& call : turn.calls)
      if (ended ? call.output.has_value() : call.called.has_value()) ids.insert(call.call_id);
  return ids;
}

/// A file system of its own, in a file, whose power can be cut.
class LoopDisk {
 public:
  LoopDisk(fs::path image, fs::path at) : image_(std::move(image)), at_(std::move(at)) {
    fs::create_directories(at_);
    works_ = ::geteuid() == 0 &&
             run("truncate -s 96M '" + image_.string() + "' && mkfs.ext4 -q '" + image_.string() +
                 "'") &&
             mount();
  }
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;
  ~LoopDisk() { run("umount -l '" + at_.string() + "'"); }
  bool works() const { return works_; }
  /// What the file system has not written by now never gets to the disk.
  bool lose() {
    const fs::path after = image_.string() + ".after";
    if (!run("cp --sparse=always '" + image_.string() + "' '" + after.string() + "'") ||
        !run("umount -l '" + at_.string() + "'"))
      return false;
    image_ = after;
    return mount();
  }

 private:
  bool mount() const {
    return run("mount -o loop '" + image_.string() + "' '" + at_.string() + "'");
  }
  static bool run(const std::string& line) {
    return std::system(("{ " + line + "; } >/dev/null 2>&1").c_str()) == 0;
  }

  fs::path image_;
  fs::path at_;
  bool works_ = false;
};

/// Lets the machine seem to have been started again.
void change_boot(const fs::path& out) {
  const fs::path file = out / "state/key";
  try {
    Json mark = parse_json(read_file(file));
    mark.set("boot", "00000000-0000-0000-0000-000000000000");
    write_file(file, write_json(mark));
  } catch (const std::exception&) {  // lost too
  }
}

int cuts_wanted() {
  const char* const wanted = std::getenv("SORTIE_TEST_CUTS");
  return wanted != nullptr ? std::atoi(wanted) : 8;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(power_loss)

BOOST_AUTO_TEST_CASE(a_run_that_loses_what_was_not_synced_goes_on_to_the_same_diff) {
  SteadyModel model;
  SteadyRun whole;
  const Platter first(whole.path("platter"), whole.out());
  ProgramStart undisturbed = whole.start(model.url());
  first.preload(undisturbed, 0);
  const ProgramEnd end = run_program(undisturbed);
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const std::string diff = whole.artifact("changes.diff");
  const long steps = first.steps();
  BOOST_TEST(steps > 50);

  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed << ", " << steps << " steps");
  std::mt19937 random(seed);
  for (int i = 0; i < cuts_wanted(); ++i) {
    // The beginning is short, and has many kinds of steps.
    const long cut = std::uniform_int_distribution<long>(1, i % 4 < 2 ? 24 : steps)(random);
    const Left left = i % 2 == 0 ? Left::synced : Left::names;
    BOOST_TEST_CONTEXT("seed " << seed << ", step " << cut
                               << (left == Left::names ? ", with all names" : "")) {
      SteadyRun run;
      const Platter platter(run.path("platter"), run.out());
      ProgramStart start = run.start(model.url());
      start.shows_events = false;
      platter.preload(start, cut);
      const ProgramEnd killed = run_program(start);
      BOOST_TEST_REQUIRE((killed.status == 137 || killed.status == 0), killed.errors);
      const fs::path before = run.path("before");
      fs::rename(run.out(), before);
      platter.lose(before, left);

      // A valid prefix, in which everything is that had an effect.
      const std::set<std::string> done = calls_in(before, true);
      const std::set<std::string> kept = calls_in(run.out(), false);
      for (const std::string& id : done) BOOST_TEST(kept.count(id) == 1, id);

      const ProgramEnd again = run_program(run.start(model.url()));

      BOOST_REQUIRE_MESSAGE(again.status == 0, again.errors);
      BOOST_TEST((run.artifact("changes.diff") == diff), run.artifact("changes.diff"));
      check_record(run.out());
      const ProgramEnd verified =
          run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
      BOOST_TEST(verified.status == 0, verified.errors << verified.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_whose_disk_is_cut_off_goes_on_to_the_same_diff) {
  SteadyModel model;
  SteadyRun whole;
  const auto began = std::chrono::steady_clock::now();
  const ProgramEnd end = run_program(whole.start(model.url()));
  const auto took = std::chrono::steady_clock::now() - began;
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const std::string diff = whole.artifact("changes.diff");

  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < std::max(2, cuts_wanted() / 4); ++i) {
    BOOST_TEST_CONTEXT("seed " << seed << ", cut " << i) {
      SteadyRun run;
      LoopDisk disk(run.path("image"), run.path("disk"));
      if (!disk.works()) {
        BOOST_TEST_MESSAGE("no file system can be mounted here: see the other test");
        return;
      }
      const fs::path out = run.path("disk/out");
      ProgramStart start = run.start(model.url(), {"--out", out.string()});
      start.shows_events = false;
      const auto delay = std::chrono::duration_cast<std::chrono::milliseconds>(
          took * std::uniform_real_distribution<double>(0.0, 1.0)(random));
      {
        Program program(start);
        ::poll(nullptr, 0, static_cast<int>(delay.count()));
        program.signal(SIGKILL);
        program.finish();
      }
      const std::set<std::string> done = calls_in(out, true);
      BOOST_REQUIRE(disk.lose());
      const std::set<std::string> kept = calls_in(out, false);
      for (const std::string& id : done) BOOST_TEST(kept.count(id) == 1, id);
      change_boot(out);

      const ProgramEnd again = run_program(start);

      BOOST_REQUIRE_MESSAGE(again.status == 0, again.errors);
      const std::string text = read_file(out / "changes.diff");
      BOOST_TEST((text == diff), text);
      check_record(out);
      BOOST_TEST(verify_run(out).ok, verify_run(out).problem);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
