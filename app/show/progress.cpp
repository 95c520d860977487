#include "app/show/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "core/agent/server_trouble.h"
#include "core/text/text.h"

namespace sortie {
namespace {

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

std::string turn_mark(const RunEvent& event) { return "[" + std::to_string(event.turn) + "] "; }

}  // namespace

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

void Progress::show_retry(const RunEvent& event) {
  const Json& failure = event.data["failure"];
  const std::string status =
      failure.integer_at("status") == 0 ? "" : "status " + failure["status"].text() + ", ";
  print(turn_mark(event) + "model: " +
        shown(status + failure.string_at("kind") + ": " + failure.string_at("message")) +
        "; trying again in " + seconds_text(event.data.integer_at("delay_ms")));
}

void Progress::show_connection(const RunEvent& event) {
  const Json& data = event.data;
  const std::string state = data.string_at("state");
  const std::string reason = data.string_at("reason");
  const std::string place = data.string_at("method") + " " + data.string_at("host") + ":" +
                            std::to_string(data.integer_at("port"));
  if (state == "denied")
    print(turn_mark(event) + "network: " + shown(place) + ": " +
          (colors_ ? "\x1b[33mdeny\x1b[0m, " : "deny, ") + shown(reason));
  else if (style_.verbose && state == "closed")
    print(turn_mark(event) + "network: " + shown(place) + ": " +
          (reason.empty() ? std::to_string(data.integer_at("sent_bytes")) + " bytes sent, " +
                                std::to_string(data.integer_at("received_bytes")) + " received"
                          : shown(reason)));
}

void Progress::show_output(const RunEvent& event) {
  for (const auto& line : calls_.on_output(event)) print(line);
  now_ = calls_.under_way();
  if (now_.empty()) now_ = "waiting for the model";
}

void Progress::show_server(const RunEvent& event) {
  const std::string state = event.data.string_at("state");
  const std::string server = event.data.string_at("server");
  if (state == "started") servers_.insert(server);
  // One that could not be started is told of with those that could.
  if (state == "failed" && servers_.count(server) == 0) return;
  if (const auto trouble = server_trouble(event.data); !trouble.empty())
    print(turn_mark(event) + shown(trouble));
}

void Progress::show_refused_image(const RunEvent& event) {
  std::string calls;
  for (const Json& call : event.data["calls"].items())
    calls += (calls.empty() ? "" : ", ") + call.text();
  print(turn_mark(event) +
        "model: the provider refused an image: " + shown(event.data.string_at("saw")) +
        "; asking again without the images of call " + shown(calls));
}

void Progress::on(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  if (style_.quiet) return;
  const Json& data = event.data;
  if (event.type == "turn.started") {
    turn_ = event.turn;
    now_ = "waiting for the model";
  } else if (event.type == "model.response") {
    const Json& tokens = data["tokens"];
    tokens_ += tokens.integer_at("input_tokens") + tokens.integer_at("output_tokens");
    const auto cost = data["cost_usd"].real();
    cost_known_ = cost_known_ && cost;
    if (cost) cost_ += Cost::usd(*cost);
  } else if (event.type == "context.compacted") {
    print(turn_mark(event) + "context: " + data.string_at("method") + ", " +
          data["tokens_before"].text() + " tokens became " + data["tokens_after"].text() + " (" +
          data.string_at("cause") + ")");
  } else if (event.type == "model.cut_off") {
    const std::string& cost = data["cost_usd"].text();
    print(turn_mark(event) + "model: the answer broke off; it counts as " +
          data["tokens"]["output_tokens"].text() + " output tokens" +
          (cost.empty() ? "" : " (" + cost + " USD)") + ", by estimate");
  } else if (event.type == "model.retry") {
    show_retry(event);
  } else if (event.type == "model.fallback") {
    print(turn_mark(event) + "model: " + shown(data.string_at("reason")) + "; " +
          data.string_at("to") + " takes over from " + data.string_at("from") +
          (data.integer_at("dropped_items") == 0
               ? ""
               : ", without " + std::to_string(data.integer_at("dropped_items")) +
                     " items of reasoning"));
  } else if (event.type == "approval") {
    calls_.on_approval(data);
    now_ = calls_.under_way();
  } else if (event.type == "tool.output") {
    show_output(event);
  } else if (event.type == "mcp.server") {
    show_server(event);
  } else if (event.type == "verification.started") {
    now_ = "verifying: " + shown(data.string_at("command"));
  } else if (event.type == "verification.completed") {
    const std::string phase = data.string_at("phase");
    print((phase == "before"  ? "verify (before): "
           : phase == "after" ? "verify: "
                              : "run_tests: ") +
          shown(data.string_at("command")) + ": " + describe_exit(data));
  } else if (event.type == "stage.started") {
    print("stage " + shown(data.string_at("name")));
  } else if (event.type == "stage.completed") {
    const std::string reason = data.string_at("reason");
    const std::int64_t turns = data.integer_at("turns");
    print("stage " + shown(data.string_at("name")) + ": " +
          (reason.empty() ? "completed" : "failed: " + shown(reason)) + ", " +
          std::to_string(turns) + (turns == 1 ? " turn" : " turns"));
  } else if (event.type == "network.connection") {
    show_connection(event);
  } else if (event.type == "check.hit") {
    const std::string check = data.string_at("check");
    if (check == "unknown_tool" || check == "unusable_arguments")
      return;  // the call's line says it
    if (check == "image_refused") return show_refused_image(event);
    print(turn_mark(event) + "check " + check + ": " + shown(data.string_at("saw")));
  }
}

}  // namespace sortie
