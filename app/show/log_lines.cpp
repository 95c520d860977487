#include "app/show/log_lines.h"

#include <algorithm>
#include <utility>

#include "app/show/event_items.h"
#include "core/provider/wires.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Lines of output below a verification that failed.
constexpr std::size_t kLinesOfVerification = 40;
/// Lines of the agent's words, unless all are wanted.
constexpr std::size_t kLinesOfWords = 4;
constexpr std::size_t kTitleBytes = 80;
/// The beginning of a line of output that is kept until its end comes.
constexpr std::size_t kLongestPart = 64u << 10;
constexpr const char* kWaiting = "waiting for the model";
constexpr const char* kReadingChanges = "reading the changes";

std::string counted(std::int64_t number, const char* noun) {
  return words_of_count(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace

std::vector<LogLine> LogLines::on(const LogStyle& style, const RunEvent& event) {
  style_ = style;
  event_turn_ = event.turn;
  std::visit([this](const auto& what) { show(what); }, event.what);
  return std::exchange(lines_, {});
}

void LogLines::add(std::string line) {
  if (title_) {
    lines_.push_back({std::exchange(title_, {}).value(), LogLine::Kind::group});
    in_group_ = true;
  }
  lines_.push_back({std::move(line)});
}

void LogLines::end_group() {
  title_.reset();
  if (std::exchange(in_group_, false)) lines_.push_back({"", LogLine::Kind::group});
}

void LogLines::add_turn_line(const std::string& text, Tint tint) {
  const std::size_t room = style_.columns == 0 ? 0 : std::max<std::size_t>(style_.columns, 20) - 6;
  bool first = true;
  for (const auto& line : wrapped(text, room)) {
    add((first ? tinted(style_, Tint::faint, mark()) : "    ") + tinted(style_, tint, line));
    first = false;
  }
}

void LogLines::show(const TurnStarted&) {
  add_words();
  turn_ = event_turn_;
  now_ = kWaiting;
}

void LogLines::show(const ModelAnswered& answer) {
  if (answer.tokens) tokens_ += answer.tokens->input_tokens + answer.tokens->output_tokens;
  cost_known_ = cost_known_ && answer.cost;
  if (answer.cost) cost_ += *answer.cost;
  if (answer.aside) return;  // a summary or notes: no word of the conversation
  std::string searches;
  for (const Json& item : answer.items.items())
    for (const Said& one : said_in(item)) {
      if (one.kind == Said::Kind::message)
        words_ += (words_.empty() ? "" : "\n") + one.text;
      else if (one.kind == Said::Kind::web_search)
        searches += (searches.empty() ? "" : ", ") + one.text;
    }
  words_turn_ = event_turn_;
  if (options_.groups) {
    end_group();
    title_ = "turn " + std::to_string(event_turn_);
    const std::string first = first_line_of(words_, redactor_);
    if (!first.empty()) *title_ += ": " + one_line(first, kTitleBytes);
  }
  // They may be the final message: what comes next tells.
  if (!searches.empty()) add_turn_line("web_search " + shown(searches));
}

/// Words of the agent, which are wrapped and not cut inside a line.
void LogLines::add_words() {
  if (trimmed(words_).empty()) return words_.clear();
  // As a whole: a private key is one secret of many lines.
  const std::string text =
      redactor_.text(std::string(trimmed(std::exchange(words_, {}))), Audience::people);
  const std::size_t room = style_.columns == 0 ? 0 : std::max<std::size_t>(style_.columns, 20) - 6;
  std::vector<std::string> lines;
  for (const auto line : split_lines(text))
    if (!trimmed(line).empty())
      for (auto& part : wrapped(one_line(line, kMostOfLine), room))
        lines.push_back(std::move(part));
  std::size_t most = style_.verbose ? lines.size() : kLinesOfWords;
  if (lines.size() == most + 1) ++most;
  const std::string begin = "[" + std::to_string(words_turn_) + "] ";
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    add(i == 0 ? tinted(style_, Tint::faint, begin) + "> " + lines[i]
               : std::string(begin.size(), ' ') + "  " + lines[i]);
  if (lines.size() > most)
    add(tinted(style_, Tint::faint,
               std::string(begin.size(), ' ') + "  … " +
                   counted(static_cast<std::int64_t>(lines.size() - most), "more line")));
}

void LogLines::show(const CompactionRecord& record) {
  add_turn_line(std::string("context: ") + name_of(record.method) + ", " +
                words_of_count(record.tokens_before) + " tokens became " +
                words_of_count(record.tokens_after) + " (" + record.cause + ")");
}

void LogLines::show(const ModelCutOff& answer) {
  add_turn_line("model: the answer broke off; it counts as " +
                    words_of_count(answer.tokens.output_tokens) + " output tokens" +
                    (answer.cost ? " (" + answer.cost->exact() + " USD)" : "") + ", by estimate",
                Tint::caution);
}

void LogLines::show(const RetryRecord& retry) {
  // The message of a refused request begins with its status.
  std::string cause = retry.message.starts_with("HTTP status ") ? retry.message
                      : retry.status <= 0                       ? retry.kind + ": " + retry.message
                                          : "status " + std::to_string(retry.status) + ", " +
                                                retry.kind + ": " + retry.message;
  if (cause.ends_with('.')) cause.pop_back();
  add_turn_line("model: " + shown(cause) + "; trying again in " + seconds_text(retry.delay) +
                    (retry.retry_after ? " (as the provider asks)" : ""),
                Tint::caution);
}

void LogLines::show(const PacedWait& wait) {
  now_ = wait.waited ? kWaiting : "waiting for the rate limit of " + shown(wait.limit);
  if (wait.waited) return;
  add_turn_line("waiting " + seconds_text(wait.expected) + " for the rate limit of " +
                    shown(wait.limit) +
                    (wait.ahead == 0 ? "" : " (" + counted(wait.ahead, "request") + " before)"),
                Tint::faint);
}

void LogLines::show(const FallbackRecord& record) {
  const std::string left_out = left_out_text(record);
  add_turn_line("model: " + shown(record.reason) + "; " + record.to + " takes over from " +
                    record.from + (left_out.empty() ? "" : ", without " + left_out),
                Tint::caution);
}

void LogLines::show(const CallDecided& call) {
  add_words();
  for (auto& line : calls_.on_approval(style_, event_turn_, call)) add(std::move(line));
  now_ = calls_.under_way();
}

void LogLines::show(const ToolOutputRecord& output) {
  add_words();
  flush_output();
  for (auto& line : calls_.on_output(style_, event_turn_, output)) add(std::move(line));
  now_ = calls_.under_way();
  if (now_.empty()) now_ = kWaiting;
}

void LogLines::show(const PlanUpdated& plan) {
  const auto steps = plan.read_steps();
  const auto done = static_cast<std::size_t>(std::count_if(
      steps.begin(), steps.end(), [](const PlanStep& step) { return step.status == "completed"; }));
  const auto current = std::find_if(steps.begin(), steps.end(), [](const PlanStep& step) {
    return step.status == "in_progress";
  });
  if (steps.empty()) return;
  const std::string all = std::to_string(steps.size());
  if (current != steps.end())
    add_turn_line("plan, step " + std::to_string(current - steps.begin() + 1) + " of " + all +
                  ": " + shown(current->step));
  else
    add_turn_line("plan, " + std::to_string(done) + " of " + all + " steps done");
}

void LogLines::show(const NetworkRecord& record) {
  const std::string place =
      shown(record.method + " " + record.host + ":" + std::to_string(record.port));
  if (record.state == ConnectionState::denied)
    add_turn_line("network: " + place + " (denied: " + shown(record.reason) + ")", Tint::caution);
  else if (style_.verbose && record.state == ConnectionState::closed)
    add_turn_line("network: " + place + " (" +
                  (record.reason.empty() ? std::to_string(record.sent) + " bytes sent, " +
                                               std::to_string(record.received) + " received"
                                         : shown(record.reason)) +
                  ")");
}

void LogLines::show(const McpServerRecord& record) {
  if (record.state == ServerState::started) servers_.insert(record.server);
  // A server that could not be started is reported together with the others.
  if (record.state == ServerState::failed && servers_.count(record.server) == 0) return;
  if (const auto problem = record.problem(); !problem.empty())
    add_turn_line(shown(problem), Tint::caution);
}

void LogLines::show(const VerificationRecord& record) {
  const std::string command = "$ " + first_line_of(record.command, redactor_);
  now_ = "verify " + command;
  if (!style_.verbose || record.phase == VerificationPhase::run_tests) return;
  add_words();
  end_group();
  const char* const mark = record.setup ? "verify, setup: " : "verify: ";
  for (auto& line : lines_of(style_, {.mark = mark, .text = command})) add(std::move(line));
}

void LogLines::show(const VerificationCompleted& record) {
  flush_output();
  const bool at_end = record.passed && record.phase == VerificationPhase::after;
  now_ = at_end ? kReadingChanges : kWaiting;
  if (record.phase == VerificationPhase::run_tests) {  // the call's line has it
    if (const std::string call = calls_.under_way(); !call.empty()) now_ = call;
    return;
  }
  const bool before = record.phase == VerificationPhase::before;
  // Before the work it is expected to fail, or either will do.
  const bool bad = !record.passed && (!before || options_.start_must_pass);
  if (bad) add_words();
  end_group();
  std::string note = verdict_of(record.exit, record.passed);
  if (note.empty()) note = "passed";
  if (bad && !before && (options_.rounds > 1 || record.round > 1))
    note += ", round " + words_of_count(record.round) +
            (record.round <= options_.rounds ? " of " + std::to_string(options_.rounds) : "");
  LogEntry entry{.mark = std::string("verify") + (record.setup ? ", setup" : "") +
                         (before ? ", before the work: " : ": "),
                 .text = "$ " + first_line_of(record.command, redactor_),
                 .note = note + ", " + took_text(record.exit.duration),
                 .tint = record.passed ? Tint::good
                         : bad         ? Tint::bad
                                       : Tint::faint};
  for (auto& line : lines_of(style_, entry)) add(std::move(line));
  if (!bad || style_.verbose) return;
  for (auto& line : last_lines(style_, record.output, kLinesOfVerification, redactor_))
    add(std::move(line));
}

void LogLines::show(const StageRecord& stage) {
  add_words();
  end_group();
  add("stage " + shown(stage.name));
}

void LogLines::show(const StageCompleted& stage) {
  add_words();
  end_group();
  add("stage " + shown(stage.name) + ": " +
      (stage.reason.empty() ? "completed"
                            : tinted(style_, Tint::bad, "failed: " + shown(stage.reason))) +
      ", " + counted(stage.turns, "turn"));
}

void LogLines::show(const CheckRecord& hit) {
  if (hit.check == "unknown_tool" || hit.check == "unusable_arguments")
    return;  // the call's line says it
  add_words();
  if (hit.check == "expect") return;  // the round's line says it
  if (hit.check != "image_refused")
    return add_turn_line("check " + hit.check + ": " + shown(hit.saw), Tint::caution);
  add_turn_line("model: the provider refused an image: " + shown(hit.saw) +
                    "; asking again without the images of call " + shown(joined(hit.calls, ", ")),
                Tint::caution);
}

std::vector<LogLine> LogLines::on_output_text(const LogStyle& style, const void* source,
                                              std::string_view text) {
  style_ = style;
  if (!style.verbose) return {};
  calls_.output_was_shown();
  std::string& part = outputs_[source];
  part += text;
  std::size_t begin = 0;
  for (std::size_t end = part.find('\n'); end != std::string::npos; end = part.find('\n', begin)) {
    add(output_line(style_, std::string_view(part).substr(begin, end - begin), redactor_));
    begin = end + 1;
  }
  part.erase(0, begin);
  if (part.size() > kLongestPart) part.resize(kLongestPart);
  if (part.empty()) outputs_.erase(source);
  return std::exchange(lines_, {});
}

/// The last lines of outputs without a newline.
void LogLines::flush_output() {
  for (const auto& [source, part] : std::exchange(outputs_, {}))
    add(output_line(style_, part, redactor_));
}

std::vector<LogLine> LogLines::finish(const LogStyle& style, bool with_message) {
  style_ = style;
  flush_output();
  if (with_message) add_words();
  words_.clear();
  end_group();
  return std::exchange(lines_, {});
}

std::string LogLines::status(const std::string& elapsed) const {
  return "turn " + std::to_string(turn_) + " | " + elapsed + " | " + with_thousands(tokens_) +
         " tokens | " + (cost_known_ && cost_ > Cost() ? cost_.text() + " USD | " : "") + now_;
}

}  // namespace sortie
