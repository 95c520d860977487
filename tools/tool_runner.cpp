#include "tools/tool_runner.h"

#include <csignal>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/text/text.h"
#include "tools/arguments.h"
#include "tools/shown_result.h"

namespace sortie {
namespace {

/// The line that the model gets of a denied call.
std::string denial_text(const Decision& decision) {
  std::string text = decision.effect == Effect::forbid ? "Forbidden" : "Denied";
  if (!decision.part.empty()) text += ": " + one_line(decision.part, 400);
  if (!decision.reason.empty()) text += ": " + one_line(decision.reason, 400);
  if (decision.rule.line > 0)
    text += " (" + decision.rule.file + ":" + std::to_string(decision.rule.line) + ", " +
            one_line(decision.rule.text) + ")";
  if (!decision.instead.empty()) text += ". Instead: " + one_line(decision.instead, 600);
  return text;
}

std::string remark_on(const std::vector<std::string>& ignored) {
  if (ignored.empty()) return "";
  std::string text = "arguments that are not known were ignored:";
  for (const auto& name : ignored) text += " " + one_line(name, 60);
  return text;
}

/// Of the tools that run at the same time.
constexpr std::size_t kMostThreads = 4;

/// Threads that are started meanwhile get no signals.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// A call that is not run.
class Answered : public PendingCall {
 public:
  explicit Answered(CallRecord record) : record_(std::move(record)) {}
  bool ends_run() const override { return record_.verdict != CallVerdict::go_on; }
  void run(std::stop_token) override {}
  CallRecord finish() override { return std::move(record_); }

 private:
  CallRecord record_;
};

}  // namespace

/// A call that may run.
class ToolRunner::Running : public PendingCall {
 public:
  Running(ToolRunner& runner, const ToolCall& made, Tool& tool, CallArguments arguments)
      : call(made), runner_(runner), tool_(tool), arguments_(std::move(arguments)) {}

  void run(std::stop_token stop) override {
    const auto start = runner_.clock_.steady();
    try {
      if (stop.stop_requested()) throw ToolError("Not run: the run is to end");
      result = tool_.run(arguments_.values, stop);
    } catch (const ToolError& error) {
      result.text = error.what();
      result.success = false;
    } catch (...) {  // what ends the run is thrown in the thread of the run
      failure_ = std::current_exception();
    }
    duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(runner_.clock_.steady() - start);
  }
  CallRecord finish() override {
    if (failure_) std::rethrow_exception(failure_);
    return runner_.finish(*this);
  }
  const std::vector<std::string>& ignored() const { return arguments_.ignored; }

  const ToolCall& call;
  ToolResult result{};
  std::chrono::milliseconds duration{0};

 private:
  ToolRunner& runner_;
  Tool& tool_;
  CallArguments arguments_;
  std::exception_ptr failure_{};
};

ToolRunner::ToolRunner(std::vector<std::unique_ptr<Tool>> tools, const Engine& engine,
                       EventSink& events, const Redactor& redactor, const Clock& clock,
                       ToolRunnerOptions options)
    : offered_(std::move(tools), engine, std::move(options.offer)),
      engine_(engine),
      events_(events),
      redactor_(redactor),
      clock_(clock),
      options_(std::move(options)),
      gate_(engine, options_.approval),
      paths_(options_.paths) {}

Json ToolRunner::origin(const ToolCall& call) const {
  const OfferedTool* offered = offered_.find(call.name);
  return offered ? offered->tool->origin() : Json();
}

bool ToolRunner::reads_only(const ToolCall& call) const {
  const OfferedTool* offered = offered_.find(call.name);
  return offered != nullptr && offered->tool->reads_only();
}

std::unique_ptr<PendingCall> ToolRunner::prepare(const ToolCall& call, int turn,
                                                 std::stop_token stop) {
  paths_.before_call();
  const auto answered = [](CallRecord record) {
    return std::make_unique<Answered>(std::move(record));
  };
  const OfferedTool* offered = offered_.find(call.name);
  if (!offered)
    return answered(unusable(call, turn, "unknown_tool", offered_.why_unknown(call.name)));
  try {
    return decide(call, *offered, turn, std::move(stop));
  } catch (const UnusableArguments& error) {
    return answered(unusable(call, turn, "unusable_arguments", error.what()));
  } catch (const ToolError& error) {
    return answered(misfit(call, error.what()));
  }
}

std::unique_ptr<PendingCall> ToolRunner::decide(const ToolCall& call, const OfferedTool& offered,
                                                int turn, std::stop_token stop) {
  CallArguments arguments = read_arguments(call, offered);
  CallDecision decided = gate_.decide(*offered.tool, call, arguments.values, turn, std::move(stop));
  Json actions = Json::array();
  for (const auto& action : decided.actions) actions.push_back(to_json(action, engine_));
  events_.on(approval_event(turn, call, std::move(actions), std::move(decided.record),
                            std::move(decided.flags)));
  if (decided.decision.effect != Effect::allow)
    return std::make_unique<Answered>(refuse(call, decided.decision));
  denials_ = 0;
  // A session may have changed what those obey, and the last look at it is some time ago.
  if (decided.decision.escalation || offered.foreign) {
    if (std::string why = paths_.changed_by_command(); !why.empty()) {
      CallRecord record = not_run(call, redactor_.text("Not run: " + why, Audience::tools),
                                  "protected_path_changed");
      record.verdict = CallVerdict::protected_path_changed;
      record.reason = std::move(why);
      return std::make_unique<Answered>(std::move(record));
    }
  }
  return std::make_unique<Running>(*this, call, *offered.tool, std::move(arguments));
}

/// Of a call that can't be told apart: that it came is on record, as all that can't be used.
CallRecord ToolRunner::unusable(const ToolCall& call, int turn, const std::string& check,
                                const std::string& text) {
  events_.on(check_hit_event(turn, check, one_line(call.name, 80) + " (" + call.call_id + ")",
                             redactor_.text(text, Audience::tools)));
  return misfit(call, text);
}

CallRecord ToolRunner::misfit(const ToolCall& call, const std::string& text) const {
  return not_run(call, redactor_.text(text, Audience::tools));
}

CallRecord ToolRunner::refuse(const ToolCall& call, const Decision& decision) {
  const bool forbidden = decision.effect == Effect::forbid;
  const std::string text = redactor_.text(denial_text(decision), Audience::tools);
  CallRecord record = not_run(call, text, forbidden ? "forbidden" : "denied");
  record.record.declined = redactor_.text(decision.reason);
  ++denials_;
  if (forbidden || options_.abort_on_denied) {
    record.verdict = CallVerdict::forbidden;
    record.reason = text;
  } else if (denials_ >= options_.max_denials) {
    record.verdict = CallVerdict::too_many_denials;
    record.reason = std::to_string(denials_) + " calls in a row were denied; the last: " + text;
  }
  return record;
}

void ToolRunner::run(std::span<const std::unique_ptr<PendingCall>> calls, std::stop_token stop) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < calls.size(); i = next++) calls[i]->run(stop);
  };
  std::vector<std::jthread> threads;
  {
    // Signals are the business of the thread that the run is in.
    const AllSignalsBlocked blocked;
    for (std::size_t i = 1; i < std::min(calls.size(), kMostThreads); ++i) {
      try {
        threads.emplace_back(work);
      } catch (const std::system_error&) {  // no more to be had: those that are there do it
        break;
      }
    }
  }
  work();
}

CallRecord ToolRunner::finish(Running& one) {
  PathWatch::Findings found = paths_.after_call(one.result);
  if (!found.verdict.empty()) one.result.success = false;
  std::vector<std::string> remarks = {remark_on(one.ignored())};
  for (std::string& remark : found.remarks) remarks.push_back(std::move(remark));
  CallRecord done = shown_result(std::move(one.result), remarks,
                                 {redactor_, options_.shown_output, options_.outputs});
  done.output.call_id = one.call.call_id;
  done.output.form = one.call.form;
  done.record.duration = one.duration;
  done.record.verdict = std::move(found.verdict);
  if (!found.ends_run.empty()) {
    done.verdict = CallVerdict::protected_path_changed;
    done.record.verdict = "protected_path_changed";
    done.reason = std::move(found.ends_run);
  }
  // A tool that says itself what it did knows better.
  if (done.record.changed_files.empty()) done.record.changed_files = std::move(found.touched);
  return done;
}

}  // namespace sortie
