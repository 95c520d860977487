#include "app/artifacts/run_mark.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/base/error.h"
#include "core/base/process_end.h"
#include "core/files/files.h"
#include "core/record/transcript.h"
#include "core/text/text.h"
#include "core/workspace/file_stamp.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostMark = 1u << 20;
constexpr std::chrono::seconds kMostWait{10};  ///< for the processes of a run that was killed
constexpr const char* kMark = "key";
constexpr const char* kKeeper = "keeper";
constexpr const char* kKeeperStart = "keeper_start";
constexpr const char* kPlace = "place";

/// Changes with each start of the machine; "" if unknown.
std::string boot_id() {
  return std::string(trimmed(read_bytes_file("/proc/sys/kernel/random/boot_id", 100).text));
}

/// When the process started, so that another one with its id is not taken for it; "" if it is gone.
std::string process_start(int pid) {
  const std::string stat = read_bytes_file("/proc/" + std::to_string(pid) + "/stat", 4096).text;
  std::size_t at = stat.rfind(')');
  if (at == std::string::npos) return "";
  if (stat.substr(at, 4).find('Z') != std::string::npos) return "";
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  return at == std::string::npos ? "" : stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
}

/// "INODE born TIME", of the file or folder that the path leads to.
/// @param witness  a file that is made with it, and never changed
std::string place_of(const fs::path& path, const fs::path& witness) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "";
  const std::string inode = std::to_string(status.st_ino);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (const auto born = birth_of(AT_FDCWD, real.native()); !error && born)
    return inode + " born " + std::to_string(*born);
  if (::lstat(witness.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  return inode + " changed " + std::to_string(stamp_of(status).ctime);
}

std::string place_of_state(const fs::path& state) { return place_of(state, state / "began"); }

}  // namespace

RunMark::RunMark(const fs::path& state) {
  const TextFile file = read_bytes_file(state / kMark, kMostMark);
  try {
    if (file.problem.empty()) mark_ = parse_json(file.text);
  } catch (const JsonError&) {  // torn
  }
  const std::string place = mark_.string_at(kPlace);
  own_ = !place.empty() && place == place_of_state(state);
}

void RunMark::write(const fs::path& state, const Json& key_parts, int keeper, Synced synced) {
  const Json mark = Json::object({{"parts", key_parts},
                                  {"boot", boot_id()},
                                  {kPlace, place_of_state(state)},
                                  {kKeeper, keeper},
                                  {kKeeperStart, process_start(keeper)}});
  write_file(state / kMark, write_json(mark) + "\n", 0600, synced);
}

void RunMark::remove(const fs::path& state) noexcept {
  std::error_code error;
  if (RunMark(state).own_) fs::remove(state / kMark, error);
}

bool RunMark::is_whole() const { return own_ && mark_.string_at("boot") == boot_id(); }

void RunMark::wait_for_processes(const fs::path& out) const {
  const auto pid = static_cast<int>(mark_.integer_at(kKeeper));
  const std::string start = mark_.string_at(kKeeperStart);
  if (!own_ || pid <= 0 || process_start(pid) != start) return;
  if (!wait_for_process_end(pid, kMostWait))
    throw Error(out.string() + ": process " + std::to_string(pid) +
                    " of the run that was killed is still using this folder",
                ExitCode::busy);
}

std::string transcript_seal(const fs::path& out) {
  return place_of(out / kTranscriptName, out / ".gitignore");
}

}  // namespace sortie
