#include "app/show/github_files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/base/patient_io.h"
#include "core/text/ci_commands.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfMessage = 64u << 10;  // all outputs of a job: 1 MiB
constexpr const char* kOutputs = "GITHUB_OUTPUT";
constexpr const char* kSummary = "GITHUB_STEP_SUMMARY";

std::string random_delimiter() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  std::string text = "sortie_";
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

/// UTF-8 without NUL, at most so long.
std::string value_of(std::string_view text) {
  std::string value = repair_utf8(text);
  std::erase(value, '\0');
  if (value.size() <= kMostOfMessage) return value;
  return std::string(utf8_prefix(value, kMostOfMessage)) + "\n[cut]";
}

}  // namespace

std::string output_lines(const std::vector<std::pair<std::string, std::string>>& outputs) {
  std::string lines;
  for (const auto& [name, value] : outputs) {
    const std::string delimiter = random_delimiter();
    lines += name;
    lines += "<<" + delimiter + "\n";
    lines += value_of(value);
    lines += "\n" + delimiter + "\n";
  }
  return lines;
}

GithubFiles::GithubFiles() {
  if (!ci_systems().github) return;
  outputs_ = open(kOutputs, own_variable("GITHUB_OUTPUT"));
  summary_ = open(kSummary, own_variable("GITHUB_STEP_SUMMARY"));
}

Fd GithubFiles::open(const char* variable, const std::string& path) {
  if (path.empty()) return {};
  Fd file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0)
    problems_.push_back(std::string(variable) + ": " + errno_text(errno));
  else if (!S_ISREG(found.st_mode))
    problems_.push_back(std::string(variable) + ": is not a regular file");
  else
    return file;
  return {};
}

void GithubFiles::append(const Fd& file, const char* variable, std::string_view text) {
  if (const int number = write_within(file.get(), text); number != 0)
    problems_.push_back(std::string(variable) + ": " + write_problem(number));
}

void GithubFiles::add_outputs(const Json& result, const fs::path& folder,
                              std::string_view message) {
  if (!outputs_) return;
  const bool started = !folder.empty();
  // A turn of `exec` has a diff only if it was asked for one.
  const bool has_diff = started && result.integer_at("exit_code", -1) == 0 &&
                        result["artifacts"].find("changes.diff") != nullptr;
  const auto path = [&](bool there, const char* name) {
    return there ? fs::absolute(folder / name).lexically_normal().string() : std::string();
  };
  const Json& total = result["usage"]["total"];
  append(
      outputs_, kOutputs,
      output_lines({{"status", result.string_at("status")},
                    {"exit-code", result["exit_code"].text()},
                    {"diff-path", path(has_diff, "changes.diff")},
                    {"transcript-path", path(started, "transcript.jsonl")},
                    {"final-message", std::string(message)},
                    {"cost-usd", result["usage"]["cost_usd"].text()},
                    {"tokens", total.is_object() ? std::to_string(total.integer_at("input_tokens") +
                                                                  total.integer_at("output_tokens"))
                                                 : ""}}));
}

void GithubFiles::add_values(const std::vector<std::pair<std::string, std::string>>& outputs) {
  if (outputs_) append(outputs_, kOutputs, output_lines(outputs));
}

std::uint64_t GithubFiles::summary_room() const {
  struct stat there {};
  if (!summary_ || ::fstat(summary_.get(), &there) != 0) return 0;
  const auto held = static_cast<std::uint64_t>(there.st_size);
  return held >= kMostOfStep ? 0 : kMostOfStep - held;
}

void GithubFiles::add_summary(std::string_view text) {
  if (text.size() <= summary_room() && !text.empty()) append(summary_, kSummary, text);
}

}  // namespace sortie
