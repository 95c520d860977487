#include "app/show/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLineBytes = 200;
/// Redacted for a line, which is shorter: a secret at the line's end must be seen whole.
constexpr std::size_t kRedactedBytes = 64u << 10;
constexpr std::string_view kNotRun = "Not run: ";

/// The argv of a call's commands, else its paths, else "".
std::string describe_actions(const std::vector<RecordedAction>& actions) {
  std::string text;
  std::string last;
  for (const RecordedAction& action : actions) {
    std::string one;
    if (action.argv)
      for (const auto& word : *action.argv) one += (one.empty() ? "" : " ") + word;
    if (one.empty()) one = action.path.value_or("");
    if (one.empty() || one == last) continue;  // a path as named and where it leads: once
    last = one;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

using std::chrono::steady_clock;

constexpr std::chrono::seconds kHeartbeat{30};
constexpr std::chrono::seconds kStatusStep{1};

bool stderr_is_terminal() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return ::isatty(STDERR_FILENO) == 1 && !dumb;
}

bool use_colors(const std::string& wanted, bool terminal) {
  if (wanted != "auto") return wanted == "always";
  const char* off = std::getenv("NO_COLOR");
  return terminal && (off == nullptr || *off == '\0');
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

/// One line of foreign text, redacted for people and cut.
std::string line_for_people(std::string_view text, const Redactor& redactor) {
  return one_line(redactor.text(std::string(utf8_prefix(text, kRedactedBytes)), Audience::people),
                  kLineBytes);
}

/// "1.3 s"
std::string seconds_text(std::chrono::milliseconds duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(duration.count()) / 1000.0);
  return text;
}

/// "exit 1", "signal 9", "timed_out"; "ok" or "failed" for a call without a command.
std::string describe_exit(const std::optional<ExitStatus>& exit, bool success = true) {
  if (!exit) return success ? "ok" : "failed";
  if (exit->ending == Ending::signalled) return "signal " + std::to_string(exit->code);
  if (exit->ending != Ending::exited) return name_of(exit->ending);
  // The command may succeed and print an invalid result.
  return "exit " + std::to_string(exit->code) + (exit->code == 0 && !success ? ", failed" : "");
}

}  // namespace

std::string CallLines::shown(std::string_view text) const {
  return line_for_people(text, redactor_);
}

void CallLines::on_approval(const CallDecided& decided) {
  Call call{.id = decided.call_id, .what = decided.tool, .decision = decided.decision};
  const std::string what = describe_actions(decided.actions);
  if (!what.empty()) call.what += " " + what;
  call.what = shown(call.what);
  if (call.decision != Ruling::allow)
    call.reason = shown(decided.reason);
  else if (decided.audited)
    call.note = " (audit: " + shown(decided.reason) + ")";
  else if (decided.approver)
    call.note = " (approver)";
  calls_.push_back(std::move(call));
}

std::vector<std::string> CallLines::on_output(int turn, const ToolOutputRecord& record) {
  std::vector<std::string> lines;
  lines.push_back("[" + std::to_string(turn) + "] " + line_of(take(record), record));
  if (!options_.outputs) return lines;
  // As a whole: a private key is one secret of many lines.
  const std::string output = redactor_.text(record.output, Audience::people);
  for (const auto line : split_lines(output)) lines.push_back("    " + one_line(line, kLineBytes));
  return lines;
}

/// The call of the output; without a decision, a call with only its name.
CallLines::Call CallLines::take(const ToolOutputRecord& output) {
  const auto found = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const Call& call) { return call.id == output.call_id; });
  if (found == calls_.end()) return {.what = shown(output.tool)};
  Call call = std::move(*found);
  calls_.erase(found);
  return call;
}

std::string CallLines::line_of(const Call& call, const ToolOutputRecord& output) const {
  if (!call.decision) {
    // Invalid arguments, an unknown tool, or the run ended first.
    const std::string& why = output.output;
    return call.what + ": not run, " +
           shown(why.starts_with(kNotRun) ? why.substr(kNotRun.size()) : why);
  }
  const std::string decision = name_of(*call.decision);
  if (*call.decision != Ruling::allow)
    return call.what + ": " + (options_.colors ? "\x1b[33m" + decision + "\x1b[0m" : decision) +
           ", " + call.reason;
  return call.what + ": allow" + call.note + ", " + describe_exit(output.exit, output.success) +
         ", " + seconds_text(output.duration);
}

std::string CallLines::under_way() const {
  if (calls_.empty()) return {};
  const std::string& first = calls_.front().what;
  return calls_.size() == 1 ? first
                            : first + ", and " + std::to_string(calls_.size() - 1) + " more";
}

Progress::Progress(const OutputStyle& style, const Redactor& redactor, ErrorStream& errors)
    : style_(style),
      redactor_(redactor),
      errors_(errors),
      terminal_(stderr_is_terminal()),
      colors_(use_colors(style.color, terminal_)),
      started_(steady_clock::now()),
      last_line_(started_),
      calls_({.colors = colors_, .outputs = style.verbose}, redactor) {
  if (!style_.quiet) ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() { finish(); }

void Progress::finish() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    clear_status();
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kStatusStep, [this] { return done_; })) {
    if (terminal_)
      draw_status();
    else if (steady_clock::now() - last_line_ >= kHeartbeat)
      print("still at work: turn " + std::to_string(turn_) + ", " + elapsed() + ", " + now_);
  }
}

std::string Progress::elapsed() const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - started_).count();
  if (seconds < 60) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
}

void Progress::print(const std::string& line) {
  clear_status();
  errors_.write(line + "\n");
  last_line_ = steady_clock::now();
  if (terminal_ && !done_) draw_status();
}

void Progress::draw_status() {
  if (!errors_.keeps_up()) return;
  const std::string text = "turn " + std::to_string(turn_) + " | " + elapsed() + " | " +
                           std::to_string(tokens_) + " tokens | " +
                           (cost_known_ ? cost_.text() + " USD | " : "") + now_;
  // One short of the width: a full line would wrap, and the next clear would leave it behind.
  const std::string line(utf8_prefix(one_line(text, 400), terminal_columns() - 1));
  errors_.write("\r\x1b[K" + line);
  status_shown_ = true;
}

void Progress::clear_status() {
  if (!status_shown_) return;
  errors_.write("\r\x1b[K");
  status_shown_ = false;
}

std::string Progress::shown(std::string_view text) const {
  return line_for_people(text, redactor_);
}

void Progress::say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!style_.quiet) print("sortie: " + one_line(redactor_.text(text, Audience::people), 1000));
}

void Progress::warn(const std::string& text) {
  const std::lock_guard lock(mutex_);
  print("sortie: WARNING: " + one_line(redactor_.text(text, Audience::people), 1000));
}

void Progress::show(const TurnStarted&) {
  turn_ = event_turn_;
  now_ = "waiting for the model";
}

void Progress::show(const ModelAnswered& answer) {
  if (answer.tokens) tokens_ += answer.tokens->input_tokens + answer.tokens->output_tokens;
  cost_known_ = cost_known_ && answer.cost;
  if (answer.cost) cost_ += *answer.cost;
}

void Progress::show(const CompactionRecord& record) {
  print_turn_line(std::string("context: ") + name_of(record.method) + ", " +
                  std::to_string(record.tokens_before) + " tokens became " +
                  std::to_string(record.tokens_after) + " (" + record.cause + ")");
}

void Progress::show(const ModelCutOff& answer) {
  print_turn_line("model: the answer broke off; it counts as " +
                  std::to_string(answer.tokens.output_tokens) + " output tokens" +
                  (answer.cost ? " (" + answer.cost->exact() + " USD)" : "") + ", by estimate");
}

void Progress::show(const RetryRecord& retry) {
  const std::string status =
      retry.status == 0 ? "" : "status " + std::to_string(retry.status) + ", ";
  print_turn_line("model: " + shown(status + retry.kind + ": " + retry.message) +
                  "; trying again in " + seconds_text(retry.delay));
}

void Progress::show(const FallbackRecord& record) {
  print_turn_line("model: " + shown(record.reason) + "; " + record.to + " takes over from " +
                  record.from +
                  (record.dropped == 0
                       ? ""
                       : ", without " + std::to_string(record.dropped) + " items of reasoning"));
}

void Progress::show(const CallDecided& call) {
  calls_.on_approval(call);
  now_ = calls_.under_way();
}

void Progress::show(const ToolOutputRecord& output) {
  for (const auto& line : calls_.on_output(event_turn_, output)) print(line);
  now_ = calls_.under_way();
  if (now_.empty()) now_ = "waiting for the model";
}

void Progress::show(const NetworkRecord& record) {
  const std::string place = record.method + " " + record.host + ":" + std::to_string(record.port);
  if (record.state == ConnectionState::denied)
    print_turn_line("network: " + shown(place) + ": " +
                    (colors_ ? "\x1b[33mdeny\x1b[0m, " : "deny, ") + shown(record.reason));
  else if (style_.verbose && record.state == ConnectionState::closed)
    print_turn_line("network: " + shown(place) + ": " +
                    (record.reason.empty() ? std::to_string(record.sent) + " bytes sent, " +
                                                 std::to_string(record.received) + " received"
                                           : shown(record.reason)));
}

void Progress::show(const McpServerRecord& record) {
  if (record.state == ServerState::started) servers_.insert(record.server);
  // A server that could not be started is reported together with the others.
  if (record.state == ServerState::failed && servers_.count(record.server) == 0) return;
  if (const auto problem = record.problem(); !problem.empty()) print_turn_line(shown(problem));
}

void Progress::show(const VerificationRecord& record) {
  now_ = "verifying: " + shown(record.command);
}

void Progress::show(const VerificationCompleted& record) {
  print((record.phase == VerificationPhase::before  ? "verify (before): "
         : record.phase == VerificationPhase::after ? "verify: "
                                                    : "run_tests: ") +
        shown(record.command) + ": " + describe_exit(record.exit));
}

void Progress::show(const StageRecord& stage) { print("stage " + shown(stage.name)); }

void Progress::show(const StageCompleted& stage) {
  print("stage " + shown(stage.name) + ": " +
        (stage.reason.empty() ? "completed" : "failed: " + shown(stage.reason)) + ", " +
        std::to_string(stage.turns) + (stage.turns == 1 ? " turn" : " turns"));
}

void Progress::show(const CheckRecord& hit) {
  if (hit.check == "unknown_tool" || hit.check == "unusable_arguments")
    return;  // the call's line says it
  if (hit.check != "image_refused")
    return print_turn_line("check " + hit.check + ": " + shown(hit.saw));
  std::string calls;
  for (const auto& call : hit.calls) calls += (calls.empty() ? "" : ", ") + call;
  print_turn_line("model: the provider refused an image: " + shown(hit.saw) +
                  "; asking again without the images of call " + shown(calls));
}

/// Prints a line with the number of the turn.
void Progress::print_turn_line(const std::string& line) {
  print("[" + std::to_string(event_turn_) + "] " + line);
}

void Progress::on(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  if (style_.quiet) return;
  event_turn_ = event.turn;
  std::visit([this](const auto& what) { show(what); }, event.what);
}

}  // namespace sortie
