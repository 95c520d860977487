#include "ci/attempts.h"

#include <algorithm>
#include <charconv>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kFolder = "attempt-";
constexpr std::size_t kWhyBytes = 400;
constexpr std::uint64_t kMostOfAttempt = 64u << 20;

/// The nearest to a success first: the work was done and judged; it was cut off; it could not be
/// done; something is wrong that another attempt does not mend.
constexpr ExitCode kNearest[] = {
    ExitCode::task_failed, ExitCode::budget,      ExitCode::denied,     ExitCode::refused,
    ExitCode::limited,     ExitCode::unavailable, ExitCode::leak,       ExitCode::integrity,
    ExitCode::auth,        ExitCode::environment, ExitCode::usage,      ExitCode::conflict,
    ExitCode::busy,        ExitCode::interrupted, ExitCode::terminated, ExitCode::internal};

std::size_t distance(const AttemptEnd& attempt) {
  if (attempt.passed()) return 0;
  const auto* at = std::find(std::begin(kNearest), std::end(kNearest), attempt.code);
  std::size_t far = 1 + static_cast<std::size_t>(at - std::begin(kNearest));
  if (!attempt.has_ended()) far += 100;
  if (attempt.status == AttemptEnd::kNotStarted) far += 100;
  return far;
}

bool comes_before(Pick rule, const AttemptEnd& a, const AttemptEnd& b) {
  const bool by_size = rule == Pick::smallest_diff && a.passed() && b.passed();
  if (distance(a) != distance(b)) return distance(a) < distance(b);
  if (by_size && a.lines != b.lines) return a.lines < b.lines;
  if (by_size && a.files != b.files) return a.files < b.files;
  if (a.passed() && !by_size) return a.place < b.place;
  return a.number < b.number;
}

std::string lines_text(std::int64_t lines) {
  return with_thousands(lines) + (lines == 1 ? " changed line" : " changed lines");
}

std::string why_picked(Pick rule, const AttemptEnd& best, std::ptrdiff_t passed) {
  if (!best.passed()) return "no attempt passed; this one came nearest";
  if (rule == Pick::first_passing) return "the first that passed";
  if (passed == 1) return "the only one that passed";
  return lines_text(best.lines) + ", the fewest of the " + std::to_string(passed) + " that passed";
}

std::string why_not(Pick rule, const AttemptEnd& attempt, const AttemptEnd& best) {
  const std::string other = "attempt " + std::to_string(best.number);
  if (attempt.status == AttemptEnd::kStopped) return "ended, since " + other + " had passed";
  if (attempt.status == AttemptEnd::kNotStarted)
    return best.passed() ? "not needed, since " + other + " had passed"
                         : "not started: " + attempt.reason;
  if (!attempt.passed()) return one_line(attempt.reason, kWhyBytes);
  if (rule == Pick::first_passing) return "passed after " + other;
  return lines_text(attempt.lines) + ", " + other + " has " + with_thousands(best.lines);
}

std::int64_t tokens_of(const Json& total) {
  return std::max<std::int64_t>(
             0, total.integer_at("input_tokens") - total.integer_at("cached_input_tokens")) +
         total.integer_at("output_tokens");
}

Json to_json(const AttemptEnd& one) {
  return Json::object(
      {{"n", one.number},
       {"status", one.status},
       {"exit_code", one.has_exit_code() ? Json(static_cast<int>(one.code)) : Json()},
       {"verified", one.verified ? Json(*one.verified) : Json()},
       {"files", one.files},
       {"lines", one.lines},
       {"turns", one.turns},
       {"tool_calls", one.tool_calls},
       {"tokens", one.tokens},
       {"cost_usd", one.cost ? Json::number(one.cost->exact()) : Json()},
       {"duration_ms", static_cast<std::int64_t>(one.duration.count())},
       {"transcript", one.transcript.empty() ? Json() : Json(one.transcript)},
       {"picked", one.picked},
       {"why", one.why}});
}

/// Whether another start of the attempt may come further.
bool is_unfinished(const Json& attempt) {
  if (!attempt["exit_code"].is_number()) return attempt.string_at("status") != AttemptEnd::kStopped;
  const auto code = static_cast<ExitCode>(attempt.integer_at("exit_code"));
  if (code == ExitCode::conflict) return false;  // it begins anew, with all others
  return is_retryable(code) || code == ExitCode::budget || code == ExitCode::environment ||
         code == ExitCode::usage || code == ExitCode::auth;
}

/// What its own folder does not say.
bool is_of_the_comparison(const std::string& member) {
  return member == "n" || member == "status" || member == "picked" || member == "why";
}

std::string mismatch_of(const Json& said, const std::filesystem::path& folder) {
  const int number = static_cast<int>(said.integer_at("n"));
  const std::string status = said.string_at("status");
  if (status == AttemptEnd::kNotStarted || status == AttemptEnd::kKilled) return "";
  const std::string name = attempt_folder(number) + "/result.json";
  std::error_code error;
  const bool has_end = !said["transcript"].is_null();
  if (!has_end && !std::filesystem::exists(folder / name, error)) return "";
  std::optional<AttemptEnd> end;
  try {
    end = read_attempt_end(number, parse_json(read_file(folder / name, kMostOfAttempt)));
  } catch (const std::exception& problem) {
    return name + " can't be read: " + problem.what();
  }
  // One that had to be killed once another had passed has none.
  if (!end && !has_end && status == AttemptEnd::kStopped) return "";
  if (!end) return name + " is of a run without an end";
  if (status != AttemptEnd::kStopped && status != end->status)
    return "attempts: the status of attempt " + std::to_string(number) + " is " +
           one_line(status, 40) + ", but " + name + " says " + one_line(end->status, 40);
  const Json own = to_json(*end);
  for (const auto& [member, value] : own.members()) {
    if (is_of_the_comparison(member) || said[member] == value) continue;
    return "attempts: " + member + " of attempt " + std::to_string(number) + " is " +
           one_line(write_json(said[member]), 120) + ", but " + name + " says " +
           one_line(write_json(value), 120);
  }
  return "";
}

/// The reports of all attempts, which no record names.
std::string reports_mismatch(const Json& artifacts, const std::filesystem::path& folder) {
  for (const auto& [name, digest] : artifacts.members()) {
    if (!is_report_of_attempts(name)) continue;
    std::error_code error;
    const bool there =
        std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / name, error));
    if (!there) return name + " is missing, or is no file of ours";
    if ("sha256:" + sha256_hex(read_file(folder / name)) != digest.text())
      return name + " was changed";
  }
  return "";
}

}  // namespace

bool is_report_of_attempts(const std::string& name) noexcept {
  return name == "summary.md" || name == "report.html";
}

std::string attempt_folder(int number) { return std::string(kFolder) + std::to_string(number); }

int attempt_number(const std::string& name) {
  if (!name.starts_with(kFolder)) return 0;
  int number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + kFolder.size(), end, number);
  const bool whole = read.ec == std::errc() && read.ptr == end;
  return whole && number >= 1 && number <= kMostAttempts && name == attempt_folder(number) ? number
                                                                                           : 0;
}

std::optional<AttemptEnd> read_attempt_end(int number, const Json& result) {
  const std::string status = result.string_at("status");
  if (status.empty() || status == "running") return std::nullopt;
  AttemptEnd end{.number = number, .status = status};
  end.code = static_cast<ExitCode>(result.integer_at("exit_code"));
  end.reason = result.string_at("reason");
  if (result["verified"].is_boolean()) end.verified = result["verified"].boolean();
  end.files = result.integer_at("changed_files");
  end.lines = result.integer_at("added_lines") + result.integer_at("removed_lines");
  end.turns = result["counts"].integer_at("turns");
  end.tool_calls = result["counts"].integer_at("tool_calls");
  end.tokens = tokens_of(result["usage"]["total"]);
  if (result["usage"]["cost_usd"].is_number())
    end.cost = Cost::usd(*result["usage"]["cost_usd"].real());
  end.duration = std::chrono::milliseconds(result["durations"].integer_at("total_ms"));
  end.transcript = result["digests"].string_at("transcript");
  return end;
}

std::size_t pick_attempt(Pick rule, std::vector<AttemptEnd>& attempts,
                         std::optional<ExitCode> stopped) {
  const auto of_signal = [&](const AttemptEnd& one) { return stopped && one.code == *stopped; };
  const auto best = std::min_element(attempts.begin(), attempts.end(),
                                     [&](const AttemptEnd& a, const AttemptEnd& b) {
                                       if (of_signal(a) != of_signal(b)) return of_signal(a);
                                       return comes_before(rule, a, b);
                                     });
  const auto passed =
      std::count_if(attempts.begin(), attempts.end(), [](const auto& one) { return one.passed(); });
  for (AttemptEnd& one : attempts) {
    one.picked = &one == &*best;
    one.why = one.picked ? why_picked(rule, *best, passed) : why_not(rule, one, *best);
  }
  return static_cast<std::size_t>(best - attempts.begin());
}

std::vector<int> attempts_left(ExitCode code, const Json& attempts) {
  // As for a run by itself: these, and those of a signal, go on or begin anew as a whole.
  const bool for_good = code == ExitCode::task_failed || code == ExitCode::denied ||
                        code == ExitCode::refused || code == ExitCode::integrity ||
                        code == ExitCode::leak || code == ExitCode::internal;
  std::vector<int> left;
  if (!for_good) return left;
  for (const Json& one : attempts.items())
    if (is_unfinished(one)) left.push_back(static_cast<int>(one.integer_at("n")));
  return left;
}

std::string go_on_with(const std::vector<int>& left, const Json& attempts) {
  if (left.empty()) return "";
  std::vector<std::string> names;
  bool by_budget = true;
  for (const Json& one : attempts.items()) {
    if (std::find(left.begin(), left.end(), one.integer_at("n")) == left.end()) continue;
    const std::string why = one.string_at("why");
    // Then all begin anew, unless somebody puts that back.
    if (why.find("the workspace has changed") != std::string::npos) return "";
    names.push_back(std::to_string(one.integer_at("n")));
    const std::string status = one.string_at("status");
    by_budget = by_budget && (status == status_word(ExitCode::budget) ||
                              why.find("budget") != std::string::npos);
  }
  return std::string("the same command ") + (by_budget ? "with a larger budget " : "") +
         "goes on with attempt " + joined(names, ", ");
}

SharedBudget::Use sum_of(const std::vector<AttemptEnd>& attempts) {
  SharedBudget::Use sum;
  for (const AttemptEnd& one : attempts)
    sum = sum + SharedBudget::Use{one.turns, one.tool_calls, one.tokens, one.cost.value_or(Cost())};
  return sum;
}

Json attempts_json(const std::vector<AttemptEnd>& attempts) {
  Json list = Json::array();
  for (const AttemptEnd& one : attempts) list.push_back(to_json(one));
  return list;
}

std::string comparison_digest(const Json& result) {
  Json added = Json::object();
  for (const char* member :
       {"best_of", "attempts", "applied", "applied_paths", "next", "artifacts"})
    added.set(member, result[member]);
  return "sha256:" + sha256_hex(write_json(added));
}

void set_comparison_digest(Json& result) {
  Json digests = Json::object({{"attempts", comparison_digest(result)}});
  for (const auto& [name, digest] : result["digests"].members())
    if (name != "attempts") digests.set(name, digest);
  result.set("digests", std::move(digests));
}

std::string attempts_mismatch(const Json& result, const std::filesystem::path& folder) {
  int picked = 0;
  for (const Json& said : result["attempts"].items()) {
    if (auto mismatch = mismatch_of(said, folder); !mismatch.empty()) return mismatch;
    if (!said["picked"].boolean()) continue;
    if (++picked > 1) return "attempts: more than one is picked";
    // One that could not be handed over has none.
    const Json& own = result["digests"]["transcript"];
    if (!own.is_null() && said["transcript"] != own)
      return "attempts: the transcript of the picked attempt " +
             std::to_string(said.integer_at("n")) + " is not the one of this result";
  }
  if (result.find("attempts") == nullptr && result.find("best_of") == nullptr) return "";
  if (picked != 1) return "attempts: none is picked";
  if (result["digests"].string_at("attempts") != comparison_digest(result))
    return "best_of or attempts were changed: digests.attempts is of others";
  return reports_mismatch(result["artifacts"], folder);
}

}  // namespace sortie
