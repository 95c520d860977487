#include "tools/tool_runner.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/text/base64.h"
#include "core/text/git_quote.h"
#include "core/text/text.h"
#include "policies/review/audit_flags.h"
#include "tools/offered_tools.h"
#include "tools/saved_outputs.h"

namespace sortie {
namespace {

/// The model's output for a denied call.
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

std::string remark_on_slips(const std::vector<std::string>& corrected) {
  return corrected.empty() ? "" : "corrected arguments: " + joined(corrected, "; ");
}

std::string remark_on(const std::vector<std::string>& ignored) {
  if (ignored.empty()) return "";
  std::string text = "unknown arguments were ignored:";
  for (const auto& name : ignored) text += " " + one_line(name, 60);
  return text;
}

/// How results are shown to the model.
struct ResultView {
  const Redactor& redactor;
  std::size_t shown_output = 10u << 10;  ///< bytes of an output that the model sees
  SavedOutputs* outputs = nullptr;       ///< keeps texts that are cut; null: they are not kept
};

/// The text, cut; if it is cut, the whole text is saved in a file.
CollectedOutput collected(const std::string& text, const ResultView& view) {
  OutputBuffer buffer(view.shown_output);
  buffer.feed(text);
  CollectedOutput output = buffer.finish();
  if (output.left_out_bytes == 0 || view.outputs == nullptr) return output;
  const auto file = view.outputs->begin();
  if (!file) return output;
  file->write(text);
  return buffer.finish(file->keep());
}

/// Removes images whose bytes contain what would be redacted in text: in a comment, in metadata or
/// after the end mark. Replacing bytes would break the file. Pixels and compressed data are not
/// searched.
///
/// @return  a note that names the images, counted from 1, and what they contain; "" if all stay
std::string remove_secret_images(std::vector<Image>& images, const Redactor& redactor) {
  std::string remark;
  std::vector<Image> kept;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string name = redactor.find(base64_decoded(images[i].base64), Audience::tools);
    if (name.empty()) {
      kept.push_back(std::move(images[i]));
      continue;
    }
    remark += remark.empty() ? "" : "; ";
    remark += (images.size() == 1 ? "the image" : "image " + std::to_string(i + 1)) +
              std::string(" is not shown: its file contains [REDACTED:") + name + ']';
  }
  images = std::move(kept);
  return remark;
}

std::string noted(const std::string& remark) { return remark.empty() ? "" : "\nNote: " + remark; }

CallDetails details_of(const ToolResult& result, const Redactor& redactor) {
  CallDetails details;
  details.session_id = result.session;
  if (!result.server_answer.is_object()) return details;
  const Json answer = redactor.json(result.server_answer, Audience::tools);
  details.content = answer["content"];
  details.structured_content = answer["structured_content"];
  details.meta = answer["_meta"];
  return details;
}

/// Images in the form of an MCP server's answer, so that a later process has them.
Json content_of(const std::vector<Image>& images) {
  Json content = Json::array();
  for (const Image& image : images)
    content.push_back(Json::object({{"type", "image"},
                                    {"mimeType", image.media_type},
                                    {"data", image.base64},
                                    {"width", image.width},
                                    {"height", image.height}}));
  return content;
}

/// The result of a call as the model and the transcript get it: redacted, the output cut and, if it
/// is cut, saved whole in a file.
/// @param remarks  notes for the model, after the output; "" for none
CallRecord shown_result(ToolResult result, const std::vector<std::string>& remarks,
                        const ResultView& view) {
  const Redactor& redactor = view.redactor;
  CollectedOutput output = result.collected
                               ? std::move(*result.collected)
                               : collected(redactor.text(result.text, Audience::tools), view);
  std::string tail = noted(result.note) + noted(remove_secret_images(result.images, redactor));
  for (const std::string& remark : remarks) tail += noted(remark);
  const std::string head = redactor.text(result.head, Audience::tools);

  CallRecord done;
  done.output.text = head + redactor.text(std::move(output.shown), Audience::tools) +
                     redactor.text(std::move(tail), Audience::tools);
  done.output.success = result.success;
  done.output.images = std::move(result.images);
  // The head of a command's output is left out: exit and duration are on record already.
  const bool is_command = result.exit || result.session;
  done.record.output = is_command ? std::move(output.recorded) : head + output.recorded;
  done.record.exit = std::move(result.exit);
  done.record.dropped_bytes = output.left_out_bytes;
  done.record.changed_files = std::move(result.changed_files);
  done.record.details = details_of(result, redactor);
  if (!done.record.details.content.is_array() && !done.output.images.empty())
    done.record.details.content = content_of(done.output.images);
  if (output.recorded_cut && !output.whole.empty() && view.outputs != nullptr)
    done.record.whole = view.outputs->find(output.whole);
  done.output.whole = output.whole.empty() ? std::move(result.whole) : std::move(output.whole);
  done.file_changes = std::move(result.file_changes);
  done.plan = std::move(result.plan);
  return done;
}

/// Limit for calls that run in parallel.
constexpr std::size_t kMostThreads = 4;

/// Threads started in this scope receive no signals.
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

/// A tool whose call does what was recorded.
class RecordedDoing : public Tool {
 public:
  RecordedDoing(const Tool& tool, std::vector<Action> actions)
      : tool_(tool), actions_(std::move(actions)) {}
  const ToolSpec& spec() const override { return tool_.spec(); }
  CallTool identity() const override { return tool_.identity(); }
  std::vector<Action> actions(const Json&) const override { return actions_; }
  ToolResult run(const Json&, std::stop_token) override {
    throw ToolError("the record does not have this call");
  }

 private:
  const Tool& tool_;
  const std::vector<Action> actions_;
};

/// A call that is answered without being run.
class Answered : public PendingCall {
 public:
  explicit Answered(CallRecord record) : record_(std::move(record)) {}
  bool ends_run() const override { return record_.verdict != CallVerdict::go_on; }
  void run(std::stop_token) override {}
  CallRecord finish() override { return std::move(record_); }

 private:
  CallRecord record_;
};

/// Paths as the tools name them: the model can tell a blank in a name from a newline, and use it.
std::string name_list(const std::vector<std::string>& paths) {
  constexpr std::size_t kMostNamed = 50;
  std::string list;
  for (std::size_t i = 0; i < std::min(paths.size(), kMostNamed); ++i)
    list += (i == 0 ? "" : ", ") + git_quoted_for_reading(paths[i]);
  if (paths.size() > kMostNamed)
    list += " and " + std::to_string(paths.size() - kMostNamed) + " more";
  return list;
}

/// Whether a command saves or takes up a stash. `git stash` fails without a word where it can't lock
/// the index (git, builtin/stash.c: do_push_stash).
bool names_stash(std::string_view arguments) {
  constexpr std::string_view kStash = "stash";
  const auto git = arguments.find("git");
  const auto stash = git == arguments.npos ? git : arguments.find(kStash, git);
  if (stash == arguments.npos) return false;
  std::string_view rest = arguments.substr(stash + kStash.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" ,\""), rest.size()));
  return !rest.starts_with("list") && !rest.starts_with("show");
}

}  // namespace

std::string PathWatch::changed_by_command() {
  if (!questions_.protected_changes) return "";
  const auto changed = questions_.protected_changes();
  if (changed.empty()) return "";
  return "a command changed protected paths: " + name_list(changed);
}

PathWatch::Findings PathWatch::after_call(const ToolResult& result, const std::string& arguments) {
  // A call that only reads created nothing, whatever appeared meanwhile.
  const bool worked = result.exit || result.worked_on_files;
  const bool wrote = worked || !result.changed_files.empty();
  const bool made = find_made() && worked;
  Findings found;
  const std::string led = wrote ? remark_on_redirected() : "";
  found.remarks = {remark_on_made(), led, remark_on_repository(result, arguments)};
  if (!led.empty()) found.verdict = "protected_path_led_elsewhere";
  if (made) found.verdict = "protected_path_made";
  if (worked) found.ends_run = changed_by_command();
  if (wrote && questions_.touched_paths) {
    found.touched = questions_.touched_paths();
    if (questions_.file_changes)
      found.changes =
          questions_.file_changes(found.touched, result.worked_on_files && !result.exit);
    found.remarks.push_back(remark_on_limit());
  }
  return found;
}

/// A program in a pipeline that the limit ends says nothing, and the shell neither.
std::string PathWatch::remark_on_limit() const {
  if (!questions_.files_at_limit) return "";
  const auto cut = questions_.files_at_limit();
  if (cut.empty()) return "";
  return "cut off at the limit for the size of files (limits.file_size): " + name_list(cut);
}

/// git's words where it can't write to its folder: "Unable to create '/w/.git/index.lock': Read-only
/// file system", "could not lock config file .git/config: …"; without namespaces "Permission denied".
std::string PathWatch::remark_on_repository(const ToolResult& result,
                                            const std::string& arguments) const {
  static const std::string kRemark =
      "the repository (.git) is read-only for commands, so git can't stage, commit, stash, "
      "switch or restore anything. To undo a change of a file, change it back with "
      "apply_patch ('git show HEAD:PATH' prints the old content); nothing needs to be "
      "committed: the run's diff is made from the files";
  if (!questions_.repository_is_read_only || !result.collected) return "";
  if (result.exit && !result.exit->success() && names_stash(arguments)) return kRemark;
  for (const std::string_view line : split_lines(result.collected->shown)) {
    const bool refused = line.find(": Read-only file system") != line.npos;
    const bool locks = (line.find("/.git/") != line.npos && line.find(".lock'") != line.npos) ||
                       line.find("could not lock config file .git/") != line.npos;
    if (refused && locks) return kRemark;
  }
  return "";
}

bool PathWatch::find_made() {
  if (!questions_.made_paths) return false;
  auto made = questions_.made_paths();
  const bool any = !made.empty();
  std::move(made.begin(), made.end(), std::back_inserter(made_));
  return any;
}

std::string PathWatch::remark_on_made() {
  if (made_.empty()) return "";
  return "removed again, since the policy protects these paths and nothing may create them: " +
         name_list(std::exchange(made_, {}));
}

std::string PathWatch::remark_on_redirected() {
  if (!questions_.led_elsewhere) return "";
  const auto now = questions_.led_elsewhere();
  std::vector<std::string> news;
  for (const std::string& path : now)
    if (redirected_.count(path) == 0) news.push_back(path);
  redirected_ = {now.begin(), now.end()};
  if (news.empty()) return "";
  return "the policy protects these paths, and they now lead through a link to other content than "
         "at the start: " +
         name_list(news) + ". Undo this: the run fails until you do";
}

/// A call that may run.
class ToolRunner::Running : public PendingCall {
 public:
  Running(ToolRunner& runner, const ToolCall& made, Tool& tool, CallArguments arguments)
      : call(made), runner_(runner), tool_(tool), arguments_(std::move(arguments)) {}

  void run(std::stop_token stop) override {
    const auto start = runner_.clock_.steady();
    try {
      if (stop.stop_requested()) throw ToolError("Not run: the run is ending");
      auto recorded = runner_.options_.recorded ? runner_.options_.recorded(call) : std::nullopt;
      result = recorded ? std::move(*recorded) : tool_.run(arguments_.values, stop);
    } catch (const ToolError& error) {
      result.text = error.what();
      result.success = false;
    } catch (...) {  // rethrown in the run's own thread, to end the run
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
  const std::vector<std::string>& corrected() const { return arguments_.corrected; }

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
  } catch (const LeadsOutside& error) {
    return answered(outside(call, turn, error));
  } catch (const ToolError& error) {
    return answered(rejected(call, error.what()));
  }
}

/// A call whose path leads out of the workspace: no attempt at it may be without a record.
CallRecord ToolRunner::outside(const ToolCall& call, int turn, const LeadsOutside& error) {
  const std::vector<Action> actions = {ReadPath{error.path()}};
  const Decision decision = {
      .effect = Effect::deny, .part = error.path().string(), .reason = error.what()};
  events_.on(approval_event(turn, call, Json::array({to_json(actions[0], engine_)}),
                            to_json(decision),
                            to_json(audit_flags(actions, Json(), engine_.workspace()))));
  return rejected(call, error.what());
}

std::unique_ptr<PendingCall> ToolRunner::decide(const ToolCall& call, const OfferedTool& offered,
                                                int turn, std::stop_token stop) {
  CallArguments arguments = read_arguments(call, offered);
  auto recorded = options_.recorded_actions ? options_.recorded_actions(call) : std::nullopt;
  CallDecision decided =
      recorded ? gate_.decide(RecordedDoing(*offered.tool, std::move(*recorded)), call,
                              arguments.values, turn, std::move(stop))
               : gate_.decide(*offered.tool, call, arguments.values, turn, std::move(stop));
  Json actions = Json::array();
  for (const auto& action : decided.actions) actions.push_back(to_json(action, engine_));
  events_.on(approval_event(turn, call, std::move(actions), std::move(decided.record),
                            std::move(decided.flags)));
  if (decided.decision.effect != Effect::allow)
    return std::make_unique<Answered>(refuse(call, decided.decision));
  denials_ = 0;
  // A session may have changed protected paths since the last check, and these calls obey them.
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

/// A call of an unknown tool or with unreadable arguments; recorded as a failed check.
CallRecord ToolRunner::unusable(const ToolCall& call, int turn, const std::string& check,
                                const std::string& text) {
  events_.on(check_hit_event(turn, check, one_line(call.name, 80) + " (" + call.call_id + ")",
                             redactor_.text(text, Audience::tools)));
  return rejected(call, text);
}

CallRecord ToolRunner::rejected(const ToolCall& call, const std::string& text) const {
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
    // Signals belong to the run's own thread.
    const AllSignalsBlocked blocked;
    for (std::size_t i = 1; i < std::min(calls.size(), kMostThreads); ++i) {
      try {
        threads.emplace_back(work);
      } catch (const std::system_error&) {  // the threads that did start do the work
        break;
      }
    }
  }
  work();
}

CallRecord ToolRunner::finish(Running& one) {
  PathWatch::Findings found = paths_.after_call(one.result, one.call.arguments);
  if (!found.verdict.empty()) one.result.success = false;
  std::vector<std::string> remarks = {remark_on_slips(one.corrected()), remark_on(one.ignored())};
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
  // A tool that reports its own changes knows better.
  if (done.record.changed_files.empty()) done.record.changed_files = std::move(found.touched);
  if (done.file_changes.empty()) done.file_changes = std::move(found.changes);
  if (options_.later_changes) options_.later_changes(one.call, done.file_changes);
  return done;
}

}  // namespace sortie
