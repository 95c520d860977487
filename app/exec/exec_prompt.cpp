#include "app/exec/exec_prompt.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMostPiped = 16u << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

ReadBytes read_stdin(std::chrono::milliseconds quiet) {
  return read_to_end(STDIN_FILENO, {.max_bytes = kMostPiped, .quiet = quiet, .total = 1h});
}

/// What is beyond the most that is taken, so that its writer does not fail.
void drain() {
  for (int rounds = 0; rounds < 1024; ++rounds)
    if (const ReadBytes rest = read_stdin(10s); rest.problem.empty() || rest.bytes.empty()) return;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

bool is_there(const std::string& word) {
  std::error_code error;
  return std::filesystem::exists(word, error);
}

/// What to write where -i may have taken the prompt.
std::string no_prompt(const std::vector<std::string>& images) {
  const std::string missing = "no prompt: give it as an argument, or pipe it into stdin";
  if (images.empty()) return missing;
  const std::string& last = images.back();
  if (images.size() == 1 || is_there(last))
    return missing + "; -i takes all words behind it, so the prompt stands before it";
  const std::string word = one_line(last, 60);
  return "no prompt: -i takes all words behind it as images, also '" + word +
         "', which is no file; write '-- " + word + "', or the prompt before -i";
}

bool has_blank(const std::string& word) { return word.find_first_of(" \t\n") != std::string::npos; }

}  // namespace

PipedInput read_piped_input(bool has_prompt) {
  if (::isatty(STDIN_FILENO) == 1) return {};
  ReadBytes read = read_stdin(has_prompt ? 10s : 1h);
  PipedInput piped;
  if (read.error == EBADF) return piped;  // it was closed
  if (!read.problem.empty() && read.bytes.size() >= kMostPiped) {
    drain();
    piped.problem = "stdin: " + read.problem;
    return piped;
  }
  if (!read.problem.empty() && has_prompt)
    piped.note = "stdin " + read.problem + ": what came until then is used";
  else if (!read.problem.empty())
    piped.problem = "stdin: " + read.problem;
  piped.text = std::move(read.bytes);
  if (piped.text.starts_with(kByteOrderMark)) piped.text.erase(0, kByteOrderMark.size());
  if (!is_utf8(piped.text)) piped.problem = "stdin: not UTF-8";
  return piped;
}

void drain_piped_input() {
  if (::isatty(STDIN_FILENO) != 1) drain();
}

std::string compose_prompt(const std::optional<std::string>& argument, const PipedInput& piped,
                           const std::vector<std::string>& images) {
  if (!piped.problem.empty()) throw InputError(piped.problem);
  const bool piped_alone = !argument || *argument == "-";
  std::string prompt = piped_alone ? piped.text : *argument;
  if (!piped_alone && !trimmed(piped.text).empty())
    prompt += "\n\n<stdin>\n" + piped.text + (piped.text.ends_with('\n') ? "" : "\n") + "</stdin>";
  if (!is_utf8(prompt)) throw InputError("the prompt is not UTF-8");
  if (prompt.find('\0') != std::string::npos) throw InputError("the prompt has a NUL byte");
  if (trimmed(prompt).empty())
    throw InputError(piped_alone ? no_prompt(images) : "the prompt is empty");
  return prompt;
}

std::string as_literal_prompt(std::string_view prompt) {
  std::string literal;
  for (std::size_t at = 0; at < prompt.size();) {
    const std::size_t next = std::min(prompt.find("{{", at), prompt.size());
    literal += prompt.substr(at, next - at);
    if (next < prompt.size()) literal += "\\{{";
    at = std::min(next + 2, prompt.size());
  }
  return literal;
}

std::vector<std::string> with_images_apart(const std::vector<std::string>& words) {
  std::vector<std::string> apart;
  bool resumes = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    resumes = resumes || word == "resume";
    if (word == "--") {
      apart.insert(apart.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    if (word != "-i" && word != "--image") {
      apart.push_back(word);
      continue;
    }
    std::size_t end = i + 1;
    while (end < words.size() && !is_option(words[end]) && words[end] != "-") ++end;
    if (end == i + 1) apart.push_back(word);  // without a value: an error of the parser
    const std::string& last = words[end - 1];
    const bool has_prompt = end > i + 2 && !is_there(last) && (resumes || has_blank(last));
    for (std::size_t image = i + 1; image < end - (has_prompt ? 1 : 0); ++image) {
      apart.emplace_back("--image");
      apart.push_back(words[image]);
    }
    if (has_prompt) apart.push_back(last);
    i = end - 1;
  }
  return apart;
}

}  // namespace sortie
