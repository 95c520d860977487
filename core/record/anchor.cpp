#include "core/record/anchor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/file_name.h"
#include "core/json/json.h"

namespace sortie {
namespace {

Fd open_target(const std::string& target) {
  if (const int number = anchor_descriptor(target); number >= 0)
    return Fd(::fcntl(number, F_DUPFD_CLOEXEC, 3));
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Fd file(::open(target.c_str(), flags, 0644));
  if (!file && errno == ENXIO) file = open_for_writing(target);  // a pipe without a reader so far
  return file;
}

}  // namespace

int anchor_descriptor(const std::string& target) {
  int number = -1;
  const char* end = target.data() + target.size();
  const auto read = std::from_chars(target.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= 0 ? number : -1;
}

bool is_anchored(std::string_view type) {
  return type == "run.started" || type == "turn.started" || type == "run.completed";
}

Anchor::Anchor(const std::string& target, std::string run_id)
    : target_(target), run_id_(std::move(run_id)), file_(open_target(target)) {
  if (!file_)
    throw Error("--anchor " + path_text(target_) + ": " + write_problem(errno), ExitCode::usage);
}

void Anchor::write(std::uint64_t seq, const std::string& digest) {
  const Json line =
      Json::object({{"anchor", 1}, {"run_id", run_id_}, {"seq", seq}, {"sha256", digest}});
  const int number = write_within(file_.get(), write_json(line) + "\n");
  if (number != 0)
    throw Error("--anchor " + path_text(target_) + ": " + write_problem(number),
                ExitCode::environment, cause_of(number));
  struct stat status {};
  if (::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      ::fdatasync(file_.get()) != 0)
    throw Error("--anchor " + path_text(target_) + ": fdatasync: " + errno_text(errno),
                ExitCode::environment, cause_of(errno));
}

}  // namespace sortie
