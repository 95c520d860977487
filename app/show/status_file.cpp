#include "app/show/status_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/new_file_mode.h"
#include "core/text/ci_commands.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kBegin = "{\"status\":\"";
constexpr std::size_t kShortestText = 16;

/// The same object, its texts cut.
Json with_short_texts(const Json& members, std::size_t most_of_text) {
  Json cut = Json::object();
  for (const auto& [name, value] : members.members())
    cut.set(name, value.is_string() ? Json(one_line(value.text(), most_of_text)) : value);
  return cut;
}

std::filesystem::path parent_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

bool is_same_inode(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Whether a file that is there may be overwritten: it is empty, or holds an earlier status.
bool holds_a_status(int file, off_t size) {
  if (size == 0) return true;
  std::array<char, kBegin.size()> begin{};
  return size <= static_cast<off_t>(kMostStatusBytes) &&
         ::pread(file, begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         std::string_view(begin.data(), begin.size()) == kBegin;
}

std::string problem_of(int file) {
  struct stat found {};
  if (::fstat(file, &found) != 0) return errno_text(errno);
  if (!S_ISREG(found.st_mode)) return "is not a regular file";
  if (found.st_nlink > 1) return "has a second name (a hard link), whose file would be overwritten";
  if (!holds_a_status(file, found.st_size))
    return "holds something else than a status, and would be overwritten; name another file";
  return "";
}

}  // namespace

std::string status_line(const Json& members) {
  const CiSystems all{.github = true, .gitlab = true, .azure = true, .teamcity = true};
  for (std::size_t most = 1000;; most /= 2) {
    std::string line = CiCommandFilter::json(write_json(with_short_texts(members, most)), all);
    line += '\n';
    if (line.size() <= kMostStatusBytes || most <= kShortestText) return line;
  }
}

std::string status_line(const Json& result, const std::string& out) {
  const auto text = [&result](const char* name) {
    return result[name].is_string() ? result[name] : Json();
  };
  const Json& total = result["usage"]["total"];
  return status_line(Json::object(
      {{"status", text("status")},
       {"exit_code", result["exit_code"]},
       {"reason", text("reason")},
       {"next", text("next")},
       {"retryable", result["retryable"]},
       {"retry_after_s", result["retry_after_s"]},
       {"run_id", text("run_id")},
       {"tokens", total.is_object()
                      ? Json(total.integer_at("input_tokens") + total.integer_at("output_tokens"))
                      : Json()},
       {"cost_usd", result["usage"]["cost_usd"]},
       {"out", out.empty() ? Json() : Json(out)}}));
}

Json unstarted_result(ExitCode code, const std::string& reason) {
  return Json::object({{"status", status_word(code)},
                       {"exit_code", static_cast<int>(code)},
                       {"reason", reason},
                       {"next", Json()},
                       {"retryable", is_retryable(code)}});
}

StatusFile::StatusFile(const std::filesystem::path& path) : path_(path) {
  const auto refuse = [&path](const std::string& problem) {
    throw InputError("--status-file " + path_text(path) + ": " + problem);
  };
  folder_ = Fd(::open(parent_of(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) refuse(errno_text(errno));
  const std::string name = path.filename().string();
  const int how = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file_ = Fd(::openat(folder_.get(), name.c_str(), O_RDWR | O_CREAT | how, 0644));
  if (!file_ && errno == EACCES)  // a log that may only be written to
    file_ = Fd(::openat(folder_.get(), name.c_str(), O_WRONLY | how));
  if (!file_) refuse(errno == ELOOP ? "is a link; name the file itself" : errno_text(errno));
  if (const std::string problem = problem_of(file_.get()); !problem.empty()) refuse(problem);
  if (const std::string problem = fill("{\"status\":\"running\"}\n"); !problem.empty())
    refuse(problem);
}

std::string StatusFile::write(const std::string& line) const {
  const std::string problem = fill(line);
  struct stat held {};
  struct stat there {};
  if (::fstat(folder_.get(), &held) != 0 || ::stat(parent_of(path_).c_str(), &there) != 0 ||
      !is_same_inode(held, there))
    return "its folder was moved or replaced during the run; what stands at " + path_text(path_) +
           " is not this run's";
  return has_its_name() ? problem : take_name(line);
}

std::string StatusFile::fill(const std::string& line) const {
  if (::ftruncate(file_.get(), 0) != 0) return errno_text(errno);
  const ssize_t written = ::pwrite(file_.get(), line.data(), line.size(), 0);
  if (written < 0) return errno_text(errno);
  return static_cast<std::size_t>(written) == line.size() ? "" : "no room";
}

bool StatusFile::has_its_name() const {
  struct stat held {};
  struct stat there {};
  return ::fstat(file_.get(), &held) == 0 &&
         ::fstatat(folder_.get(), path_.filename().c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         is_same_inode(held, there);
}

/// What has the name by now may be a forged status.
std::string StatusFile::take_name(const std::string& line) const {
  const std::string temporary = temporary_name();
  const Fd file(::openat(folder_.get(), temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, new_file_mode()));
  if (file && write_all(file.get(), line) &&
      ::renameat(folder_.get(), temporary.c_str(), folder_.get(), path_.filename().c_str()) == 0)
    return "another file had its name at the end of the run, and was replaced";
  const std::string problem = errno_text(errno);
  if (file) ::unlinkat(folder_.get(), temporary.c_str(), 0);
  return "another file has its name, and can't be replaced: " + problem;
}

}  // namespace sortie
