#include "ci/report/story_maker.h"

#include <algorithm>
#include <utility>

#include "ci/report/call_words.h"
#include "core/base/clock.h"
#include "core/json/flow_yaml.h"
#include "core/provider/wires.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostText = 16u << 20;  ///< of all excerpts; then each is short
constexpr ExcerptSize kShort{.head = 100, .tail = 100};
constexpr std::size_t kMostNotes = 5000;
constexpr std::size_t kMostConnections = 200;
constexpr std::size_t kMostChanged = 50;
constexpr std::size_t kMostYaml = 4096;
constexpr std::size_t kMostLists = 8;

StoryUsage story_usage(const Usage& usage) {
  return {.input = usage.input_tokens,
          .cached = usage.cached_input_tokens,
          .output = usage.output_tokens,
          .reasoning = usage.reasoning_output_tokens};
}

std::optional<double> dollars(const std::optional<Cost>& cost) {
  if (!cost) return std::nullopt;
  return static_cast<double>(cost->to_micros()) / 1e6;
}

void add_usage(const StoryUsage& more, StoryUsage& usage) {
  usage.input = known_sum(usage.input, more.input);
  usage.cached = known_sum(usage.cached, more.cached);
  usage.output = known_sum(usage.output, more.output);
  usage.reasoning = known_sum(usage.reasoning, more.reasoning);
  usage.estimated = usage.estimated || more.estimated;
  if (more.usd) usage.usd = usage.usd.value_or(0) + *more.usd;
}

void add_time(milliseconds more, milliseconds& to) { to = known_sum(to, more); }

std::vector<std::string> lists_of(const Json& would_allow) {
  std::vector<std::string> names;
  for (const std::string& name : names_of_lists(would_allow))
    if (names.size() < kMostLists) names.push_back(visible_line(name, 100));
  return names;
}

StoryDenial story_denial(const Denial& denial, bool audited) {
  return {.tool = visible_line(denial.tool),
          .what = words_of_actions(denial.actions, denial.tool),
          .ruling = denial.effect,
          .audited = audited,
          .rule = words_of_rule(denial.rule),
          .reason = visible_line(denial.reason, 1000),
          .part = visible_line(denial.part),
          .count = denial.count,
          .yaml = visible_text(utf8_prefix(denial.would_allow_yaml, kMostYaml)),
          .lists = lists_of(denial.would_allow)};
}

StoryDenial story_denial(const DeniedHost& one) {
  return {.tool = "network",
          .what = visible_line(one.place()),
          .host = true,
          .reason = visible_line(one.reason, 1000),
          .count = one.count,
          .yaml = visible_text(utf8_prefix(one.would_allow_yaml, kMostYaml)),
          .lists = lists_of(one.would_allow)};
}

/// Lines of a policy that allow all of them: pasted one below the other, those of each would have
/// the same keys. "" if there are not several.
std::string allowing_all(const Tally& tally) {
  std::vector<Json> lines;
  const auto add = [&lines](const Json& one, const std::string& yaml) {
    const bool is_shown = one.is_object() && !yaml.empty() && yaml.size() <= kMostYaml;
    if (is_shown && std::find(lines.begin(), lines.end(), one) == lines.end()) lines.push_back(one);
  };
  for (const auto* denials : {&tally.denials, &tally.audited})
    for (const Denial& each : *denials) add(each.would_allow, each.would_allow_yaml);
  for (const DeniedHost& each : tally.denied_hosts) add(each.would_allow, each.would_allow_yaml);
  return lines.size() < 2 ? "" : visible_text(flow_yaml_lines(joined_lists(lines)));
}

/// The `name` of an effective task or policy; "" if that is not JSON.
std::string name_in(const SourceFile& source) {
  try {
    return visible_line(parse_json(source.text).string_at("name"));
  } catch (const JsonError&) {
    return {};
  }
}

/// The file as it was given, or the preset that was named in its place.
std::string policy_name(const SourceFile& policy) {
  if (!policy.path.empty()) return visible_line(policy.path);
  const std::string name = name_in(policy);
  return name.empty() ? name : "preset " + name;
}

std::string of_stage(const std::string& name) { return "stage " + visible_line(name, 100); }

}  // namespace

void StoryMaker::on(const RunEvent& event, Time time, std::uint64_t cut_from_output) {
  cut_from_output_ = cut_from_output;
  number_ = event.turn;
  // The end tells of what was before it, which has to read the same before it is there.
  const bool is_end = std::holds_alternative<RunEnd>(event.what);
  if (!is_end) time_ = time;
  tally_.on(event);
  if (!is_end) ++story_.records;
  std::visit([this](const auto& what) { add(what); }, event.what);
}

RunStory StoryMaker::take() {
  end_turn();
  for (const Denial& denial : tally_.denials) story_.denials.push_back(story_denial(denial, false));
  for (const Denial& denial : tally_.audited) story_.denials.push_back(story_denial(denial, true));
  for (const DeniedHost& one : tally_.denied_hosts) story_.denials.push_back(story_denial(one));
  std::stable_sort(story_.denials.begin(), story_.denials.end(),
                   [](const StoryDenial& a, const StoryDenial& b) {
                     return std::pair(a.audited, -a.count) < std::pair(b.audited, -b.count);
                   });
  story_.denied_calls = tally_.denial_count;
  story_.denied_connections = tally_.denied_connections;
  story_.allowing_all = allowing_all(tally_);
  story_.usage.usd = dollars(tally_.cost());
  story_.tool_calls = tally_.tool_calls;
  story_.retries = tally_.retries;
  story_.setting.model_served = visible_line(tally_.served_model);
  return std::move(story_);
}

void StoryMaker::add(const RunStart& start) {
  end_.reset();
  StorySetting& setting = story_.setting;
  if (!setting.run_id.empty()) {
    end_turn();
    ++setting.resumed;
    note(StoryNote::Kind::resumed, "the run was taken up again at " + utc_timestamp(time_));
    return;
  }
  setting.run_id = visible_line(start.run_id);
  setting.sortie = visible_line(start.sortie);
  setting.task_path = visible_line(start.task.path);
  setting.task_digest = visible_line(start.task.digest);
  setting.policy_name = policy_name(start.policy);
  setting.policy_digest = visible_line(start.policy.digest);
  setting.model_requested =
      visible_line(start.model.string_at("provider") + " " + start.model.string_at("name"));
  setting.workspace = visible_line(start.workspace.path);
  setting.base_commit = visible_line(start.workspace.base_commit);
  setting.isolation = visible_line(start.workspace.isolation);
  setting.isolation_reason = visible_line(start.workspace.reason);
  setting.sandbox_mode = visible_line(start.sandbox.mode);
  setting.network = visible_line(start.sandbox.network);
  for (const std::string& layer : start.sandbox.missing)
    setting.missing_layers.push_back(visible_line(layer));
  setting.started = utc_timestamp(time_);
  for (const std::string& warning : start.warnings)
    story_.warnings.push_back(visible_line(warning, 1000));
  setting.task_name = name_in(start.task);
}

/// What is left of the time since the turn began is sortie's own.
void StoryMaker::end_turn() {
  if (!began_ || story_.turns.empty()) return;
  StoryTimes& times = story_.turns.back().times;
  const auto all = std::chrono::duration_cast<milliseconds>(time_ - *began_);
  times.own =
      known_time(std::max(milliseconds(0), all - times.model - times.tools - times.verification -
                                               std::exchange(waited_, milliseconds(0))));
  began_.reset();
}

void StoryMaker::add(const TurnStarted&) {
  end_turn();
  story_.turns.push_back({.number = number_, .began = time_, .stage = stage_});
  began_ = time_;
  step(StoryStep::Kind::turn, story_.turns.size() - 1);
}

StoryTurn& StoryMaker::turn() {
  if (story_.turns.empty()) {
    story_.turns.push_back({.number = number_, .began = time_, .stage = stage_});
    step(StoryStep::Kind::turn, 0);
  }
  return story_.turns.back();
}

void StoryMaker::add(const RetryRecord& retry) {
  const std::string status =
      retry.status <= 0 ? "" : "status " + std::to_string(retry.status) + ", ";
  note(StoryNote::Kind::retry,
       "attempt " + words_of_count(retry.attempt) + " failed (" + status +
           visible_line(retry.kind) + "): " + visible_line(retry.message) + "; again after " +
           words_of_time(retry.delay),
       true);
}

void StoryMaker::add(const PacedWait& wait) {
  constexpr milliseconds kShownWait{1000};
  if (!wait.waited) return;
  waited_ += *wait.waited;
  if (*wait.waited >= kShownWait)
    note(StoryNote::Kind::retry, "waited " + words_of_time(*wait.waited) +
                                     " for the rate limit of " + visible_line(wait.limit));
}

void StoryMaker::add(const FallbackRecord& fallback) {
  note(StoryNote::Kind::fallback,
       visible_line(fallback.to) + " takes over from " + visible_line(fallback.from) + ": " +
           visible_line(fallback.reason),
       true);
}

void StoryMaker::add(const ModelCutOff& cut_off) {
  StoryUsage usage = story_usage(cut_off.tokens);
  usage.estimated = true;
  usage.usd = dollars(cut_off.cost);
  add_usage(usage, turn().usage);
  add_usage(usage, story_.usage);
  note(StoryNote::Kind::cut_off, "a response was cut off", true);
}

void StoryMaker::add(const ModelAnswered& answer) {
  StoryTurn& turn = this->turn();
  turn.answered = true;
  turn.aside = answer.aside;
  turn.model = visible_line(answer.served_model.empty() ? answer.model : answer.served_model);
  turn.stop_reason = visible_line(answer.stop_reason);
  add_time(answer.duration, turn.times.model);
  add_time(answer.duration, story_.times.model);
  if (answer.tokens) {
    StoryUsage usage = story_usage(*answer.tokens);
    usage.estimated = answer.tokens_estimated;
    usage.usd = dollars(answer.cost);
    add_usage(usage, turn.usage);
    add_usage(usage, story_.usage);
  }
  std::string words;
  std::string reasoning;
  for (const Json& item : answer.items.items())
    for (const Said& said : said_in(item)) {
      std::string& to = said.kind == Said::Kind::reasoning ? reasoning : words;
      if (said.text.empty()) continue;
      if (!to.empty()) to += "\n\n";
      to += said.kind == Said::Kind::web_search ? "web search: " + said.text : said.text;
    }
  turn.words = cut(words);
  turn.reasoning = cut(reasoning);
}

void StoryMaker::add(const CheckRecord& check) {
  note(StoryNote::Kind::check, visible_line(check.check) + ": " + visible_line(check.saw), true,
       cut(check.sent));
}

/// The call of that id of the current turn.
StoryCall& StoryMaker::call(const std::string& id, const std::string& tool) {
  auto& calls = turn().calls;
  const std::string shown = visible_line(id, 100);
  const auto found = std::find_if(calls.rbegin(), calls.rend(), [&](const StoryCall& each) {
    return each.id == shown && !each.done;
  });
  if (found != calls.rend()) return *found;
  calls.push_back({.id = shown, .tool = visible_line(tool, 100)});
  return calls.back();
}

void StoryMaker::add(const CallDecided& decided) {
  StoryCall& one = call(decided.call_id, decided.tool);
  one.what = words_of_actions(decided.actions, decided.tool);
  one.ruling = decided.decision;
  one.audited = decided.audited;
  one.rule = words_of_rule(decided.rule);
  one.reason = visible_line(decided.reason, 1000);
  if (decided.approver)
    one.approver = visible_line(name_of(decided.approver->decision) +
                                (decided.approver->reason ? ": " + *decided.approver->reason : ""));
}

void StoryMaker::add(const ToolCalled& called) {
  StoryCall& one = call(called.call.call_id, called.call.name);
  one.ran = true;
  one.arguments = cut(called.call.arguments);
  if (called.origin) one.server = visible_line(called.origin->server, 100);
}

void StoryMaker::add(const ToolOutputRecord& output) {
  StoryCall& one = call(output.call_id, output.tool);
  one.done = true;
  one.ran = one.ran && output.declined.empty();
  one.success = output.success;
  const bool refused = output.verdict == "denied" || output.verdict == "forbidden";
  one.ending = refused || !output.declined.empty()
                   ? visible_line(output.verdict.empty() ? "not run" : output.verdict)
                   : words_of_ending(output.exit, output.success);
  one.duration = output.duration;
  one.output = cut(output.output, cut_from_output_);
  for (const std::string& path : output.changed_files)
    if (one.changed.size() < kMostChanged) one.changed.push_back(visible_line(path, 4096));
  add_time(output.duration, turn().times.tools);
  add_time(output.duration, story_.times.tools);
}

/// "plan, 1 of 3 steps done: write the test": why it was changed, or else what comes now.
void StoryMaker::add(const PlanUpdated& plan) {
  std::string steps;
  std::string now = plan.explanation;
  std::int64_t done = 0;
  std::int64_t all = 0;
  for (const PlanStep& each : plan.read_steps()) {
    steps += "[" + each.status + "] " + each.step + "\n";
    if (now.empty() && each.status == "in_progress") now = each.step;
    if (each.status == "completed") ++done;
    ++all;
  }
  note(StoryNote::Kind::plan,
       "plan, " + words_of_count(done) + " of " + words_of_count(all) +
           (all == 1 ? " step done" : " steps done") +
           (now.empty() ? "" : ": " + visible_line(now)),
       false, cut(steps));
}

void StoryMaker::add(const FileChange& change) {
  Writers& writers = writers_[change.path];
  (change.by.empty() ? writers.agent : writers.command) = true;
}

void StoryMaker::add(const DiffWritten& diff) {
  DiffWritten slim{.name = diff.name, .submodule = diff.submodule, .prefix = diff.prefix};
  for (const DiffedFile& file : diff.files) {
    DiffedFile one{.path = file.path, .old_path = file.old_path};
    if (file.before) one.before = RecordedSide{.mode = file.before->mode};
    if (file.after) one.after = RecordedSide{.mode = file.after->mode};
    slim.files.push_back(std::move(one));
  }
  std::erase_if(diffs_, [&slim](const DiffWritten& other) { return other.name == slim.name; });
  diffs_.push_back(std::move(slim));
}

/// The same one again and again is one note, with their number.
void StoryMaker::add(const NetworkRecord& connection) {
  if (connection.state == ConnectionState::closed) return;
  const bool denied = connection.state == ConnectionState::denied;
  const std::string text = std::string(denied ? "no connection to " : "a command reaches ") +
                           visible_line(connection.host) +
                           (connection.port > 0 ? ":" + std::to_string(connection.port) : "") +
                           (denied ? ": " + visible_line(connection.reason) : "");
  const bool again = same_connections_ > 0 && text == connection_ && !story_.timeline.empty() &&
                     story_.timeline.back().kind == StoryStep::Kind::note &&
                     story_.timeline.back().index == connection_note_;
  if (again) {
    story_.notes[connection_note_].text =
        text + " (" + std::to_string(++same_connections_) + " times)";
    return;
  }
  if (++connections_ > kMostConnections || story_.notes.size() >= kMostNotes) return;
  note(StoryNote::Kind::connection, text, denied);
  connection_ = text;
  connection_note_ = story_.notes.size() - 1;
  same_connections_ = 1;
}

void StoryMaker::add(const McpServerRecord& server) {
  const std::string problem = server.problem();
  if (!problem.empty()) note(StoryNote::Kind::server, visible_line(problem), true);
}

void StoryMaker::add(const VerificationRecord& command) {
  auto& rounds = story_.rounds;
  const bool same = !rounds.empty() && rounds.back().phase == command.phase &&
                    rounds.back().number == command.round && rounds.back().commands.back().done &&
                    !story_.timeline.empty() &&
                    story_.timeline.back().kind == StoryStep::Kind::round &&
                    words_of_command(command.command) != rounds.back().commands.front().command;
  if (!same) {
    rounds.push_back({.phase = command.phase, .number = command.round, .commands = {}});
    step(StoryStep::Kind::round, rounds.size() - 1);
  }
  rounds.back().passed = false;
  rounds.back().commands.push_back(
      {.command = words_of_command(command.command), .setup = command.setup});
}

void StoryMaker::add(const VerificationCompleted& command) {
  if (story_.rounds.empty()) add(static_cast<const VerificationRecord&>(command));
  StoryRound& round = story_.rounds.back();
  StoryCommand& one = round.commands.back();
  one.done = true;
  one.passed = command.passed;
  one.ending = words_of_ending(command.exit, command.passed || command.exit.success());
  one.duration = command.exit.duration;
  one.output = cut(command.output, cut_from_output_);
  one.compared = visible_line(command.compared, 1000);
  round.passed = std::all_of(round.commands.begin(), round.commands.end(),
                             [](const StoryCommand& each) { return each.done && each.passed; });
  add_time(command.exit.duration, story_.times.verification);
  if (began_ && command.phase != VerificationPhase::run_tests)
    add_time(command.exit.duration, turn().times.verification);
}

void StoryMaker::add(const StageRecord& stage) {
  stage_ = visible_line(stage.name, 100);
  story_.stages.push_back({.name = stage_, .turns = 0, .ended = "under-way"});
  note(StoryNote::Kind::stage, of_stage(stage.name) + " (" + visible_line(stage.sandbox) + ")",
       false, cut(stage.prompt));
}

void StoryMaker::add(const StageCompleted& stage) {
  const bool failed = !stage.reason.empty();
  if (!story_.stages.empty()) {
    story_.stages.back().turns = stage.turns;
    story_.stages.back().ended = failed ? "failed" : "completed";
  }
  note(StoryNote::Kind::stage_end,
       of_stage(stage.name) + (failed ? " failed: " + visible_line(stage.reason) : " is done"),
       failed);
  stage_.clear();
}

void StoryMaker::add(const CompactionRecord& compaction) {
  note(StoryNote::Kind::compaction,
       std::string("the history was ") +
           (compaction.method == CompactionMethod::summary ? "summarised" : "cut") + ": " +
           words_of_count(compaction.tokens_before) + " to " +
           words_of_count(compaction.tokens_after) + " tokens" +
           (compaction.reason.empty() ? "" : " (" + visible_line(compaction.reason) + ")"),
       false, cut(compaction.summary));
}

void StoryMaker::add(const BudgetExhausted& budget) {
  note(StoryNote::Kind::budget,
       std::string("the budget ") + name_of(budget.which) +
           " is used up: " + words_of_count(budget.used) + " of " + words_of_count(budget.limit),
       true);
}

void StoryMaker::add(const RunEnd& end) {
  end_turn();
  end_ = end;
}

void StoryMaker::note(StoryNote::Kind kind, std::string text, bool problem, Excerpt detail) {
  if (story_.notes.size() >= kMostNotes) return;
  story_.notes.push_back({kind, std::move(text), problem, std::move(detail)});
  step(StoryStep::Kind::note, story_.notes.size() - 1);
}

void StoryMaker::step(StoryStep::Kind kind, std::size_t index) {
  story_.timeline.push_back({kind, index});
}

Excerpt StoryMaker::cut(std::string_view text, std::uint64_t between) {
  Excerpt excerpt = excerpt_of(text, text_bytes_ > kMostText ? kShort : ExcerptSize{}, between);
  text_bytes_ += excerpt.head.size() + excerpt.tail.size();
  return excerpt;
}

}  // namespace sortie
