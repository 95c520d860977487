#include "ci/run_compare.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/record/diff_names.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace run_compare {

namespace fs = std::filesystem;

constexpr std::size_t kShown = 4000;
constexpr std::size_t kMostOutputs = 20;
constexpr std::uint64_t kMostDiff = 1ull << 30;

/// One thing that a run did, as far as a replay can do it again.
struct Step {
  enum class Kind { decision, call, file, verification, end } kind = Kind::end;
  int turn = 0;
  std::string what;      ///< "the decision on shell (call_1)"
  std::string value;     ///< has to be equal
  std::string output{};  ///< may differ
  std::string call{};    ///< RunDifference::call
};

/// "make test" of "sh -c 'make test'", else the words as a shell takes them.
std::string script_or_line(const std::vector<std::string>& argv) {
  const bool script = argv.size() == 3 && argv[0] == "sh" && argv[1] == "-c";
  return script ? argv[2] : shell_line(argv);
}

std::string ending(const ExitStatus& exit) {
  return exit.ending == Ending::exited || exit.ending == Ending::signalled
             ? std::string(name_of(exit.ending)) + " " + std::to_string(exit.code)
             : std::string(name_of(exit.ending));
}

/// What was called, in words: the script of a shell, a command's words, else the arguments.
std::string call_text(const ToolCall& call) {
  std::string text = call.arguments;
  try {
    const Json arguments = parse_json(call.arguments);
    for (const char* name : {"command", "cmd", "path"})
      if (const Json& value = arguments[name]; value.is_string())
        text = value.text();
      else if (value.is_array())
        text = script_or_line(value.texts());
  } catch (const JsonError&) {  // free text
  }
  return one_line(call.name, 60) + " " + one_line(text, kShown);
}

/// Turns events into steps.
class Reader {
 public:
  /// A process that goes on with the run verifies anew what was cut off.
  void take(int, const RunStart&) { resumed_at_ = steps_.size(); }
  void take(int, const ToolCalled& called) { calls_[called.call.call_id] = call_text(called.call); }
  void take(int, const CheckRecord& hit) {
    if (hit.check == kReplayGap) gaps_.push_back(hit.saw);
  }
  void take(int turn, const CallDecided& decided) {
    std::string value = name_of(decided.decision);
    if (decided.audited) value += ", audited";
    add(Step::Kind::decision, turn, "the decision on " + call(decided.tool, decided.call_id),
        value);
  }
  void take(int turn, const ToolOutputRecord& output) {
    std::string value = !output.declined.empty() ? "declined"
                        : output.success         ? "completed"
                                                 : "failed";
    // A replay takes its output from the record, as any other one.
    if (!output.verdict.empty() && output.verdict != "interrupted") value += ", " + output.verdict;
    if (output.exit) value += ", " + ending(*output.exit);
    if (!output.changed_files.empty()) value += ", changed " + joined(output.changed_files, ", ");
    // Of a call that was not run, the output names the rule's place, which a replay does not have.
    add(Step::Kind::call, turn, "the result of " + call(output.tool, output.call_id), value,
        output.declined.empty() ? output.output : "");
    if (const auto call = calls_.find(output.call_id); call != calls_.end())
      steps_.back().call = call->second;
  }
  void take(int turn, const FileChange& change) {
    std::string value = name_of(change.kind);
    value += (change.mode & 0100) != 0 ? ", executable" : "";
    if (!change.moved_from.empty()) value += ", from " + change.moved_from;
    if (!change.link_target.empty()) value += ", a link";
    const std::string& digest = change.sha256_after;
    add(Step::Kind::file, turn, "the change of " + one_line(change.path, 200), value,
        digest.empty() ? "" : "content with the SHA-256 " + digest);
  }
  void take(int turn, const VerificationCompleted& done) {
    drop_cut_off(done);
    add(Step::Kind::verification, turn, verification(done),
        std::string(done.passed ? "passed" : "failed") + ", " + ending(done.exit), done.output);
  }
  void take(int turn, const RunEnd& completed) {
    end_ = {Step::Kind::end, turn, "the end of the run",
            completed.status + " (" + std::to_string(static_cast<int>(completed.code)) + ")", ""};
    diffs_.clear();
    for (const auto& [name, digest] : completed.artifacts)
      if (is_diff_name(name)) diffs_[name] = digest;
  }
  template <class Other>
  void take(int, const Other&) {}

  std::vector<Step> finish() {
    if (!end_.what.empty()) steps_.push_back(std::move(end_));
    return std::move(steps_);
  }
  const std::map<std::string, std::string>& diffs() const { return diffs_; }
  std::vector<std::string> take_gaps() { return std::move(gaps_); }

 private:
  static std::string verification(const VerificationRecord& done) {
    return "the verification '" + command(done) + "' (" + name_of(done.phase) + ", round " +
           std::to_string(done.round) + ")";
  }
  /// The commands of a verification that an earlier process began, and that now begins anew.
  void drop_cut_off(const VerificationRecord& done) {
    if (steps_.size() != resumed_at_) return;
    std::size_t first = resumed_at_;
    while (first > 0 && steps_[first - 1].kind == Step::Kind::verification) --first;
    for (; first < resumed_at_ && steps_[first].what != verification(done);) ++first;
    steps_.resize(first);
  }
  /// Its text as the task has it is not in the effective task of a replay.
  static std::string command(const VerificationRecord& verification) {
    return one_line(script_or_line(verification.argv), 200);
  }
  static std::string call(const std::string& tool, const std::string& id) {
    return one_line(tool, 60) + " (" + one_line(id, 60) + ")";
  }
  void add(Step::Kind kind, int turn, std::string what, std::string value,
           std::string output = {}) {
    steps_.push_back({kind, turn, std::move(what), std::move(value), std::move(output), {}});
  }

  std::vector<Step> steps_;
  std::size_t resumed_at_ = 0;                ///< how many steps there were at the last start
  std::map<std::string, std::string> calls_;  ///< call_text() by call id
  std::vector<std::string> gaps_;
  Step end_{};  ///< the last one counts
  std::map<std::string, std::string> diffs_;
};

/// A diff in a run's folder.
struct LeftDiff {
  std::string digest;                 ///< "sha256:…"
  std::optional<std::string> text{};  ///< nothing: only the transcript is there
};

/// A run as its steps and its diffs.
struct Run {
  std::vector<Step> steps;
  std::map<std::string, LeftDiff> diffs;  ///< by name
  std::vector<std::string> gaps{};
};

Run read_run(const fs::path& folder) {
  const fs::path transcript = folder / kTranscriptName;
  Reader reader;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    const auto event = record.event();
    if (!event) return;
    std::visit(
        [&]<class What>(const What&) {
          if constexpr (requires(Reader & one, const What& what) { one.take(0, what); }) {
            const RunEvent whole = event_with_blobs(record, transcript);
            reader.take(record.turn, std::get<What>(whole.what));
          }
        },
        event->what);
  });
  Run run;
  run.steps = reader.finish();
  run.gaps = reader.take_gaps();
  std::error_code error;
  for (const auto& [name, digest] : reader.diffs()) {
    LeftDiff& diff = run.diffs[name];
    diff.digest = digest;
    if (fs::exists(folder / name, error)) diff.text = read_file(folder / name, kMostDiff);
  }
  return run;
}

std::string place(const Step& step) {
  return (step.turn > 0 ? "turn " + std::to_string(step.turn) + ": " : "") + step.what;
}

/// The first lines in which two texts differ.
RunDifference text_difference(const std::string& where, std::string_view recorded,
                              std::string_view replayed) {
  std::size_t line = 1;
  for (;; ++line) {
    const std::size_t one = std::min(recorded.find('\n'), recorded.size());
    const std::size_t other = std::min(replayed.find('\n'), replayed.size());
    const bool ended = one == recorded.size() || other == replayed.size();
    if (ended || recorded.substr(0, one) != replayed.substr(0, other))
      return {where + ", line " + std::to_string(line),
              one_line(repair_utf8(recorded.substr(0, one)), kShown),
              one_line(repair_utf8(replayed.substr(0, other)), kShown),
              {}};
    recorded.remove_prefix(one + 1);
    replayed.remove_prefix(other + 1);
  }
}

/// The same for diffs, without the lines of digests: what makes them differ comes after them.
RunDifference diff_difference(const std::string& name, const std::string& recorded,
                              const std::string& replayed) {
  const auto without_ids = [](std::string_view diff) {
    std::string text;
    while (!diff.empty()) {
      const std::size_t end = std::min(diff.find('\n'), diff.size());
      const std::string_view line = diff.substr(0, end);
      text += line.starts_with("index ") ? "" : std::string(line);
      text += '\n';  // so that lines keep their numbers
      diff.remove_prefix(std::min(end + 1, diff.size()));
    }
    return text;
  };
  const std::string one = without_ids(recorded);
  const std::string other = without_ids(replayed);
  return one == other ? text_difference(name, recorded, replayed)
                      : text_difference(name, one, other);
}

std::string names_of(const std::map<std::string, LeftDiff>& diffs) {
  std::string names;
  for (const auto& [name, diff] : diffs) names += (names.empty() ? "" : ", ") + name;
  return names;
}

/// The first difference between the diffs of two runs.
std::optional<RunDifference> diffs_difference(const Run& one, const Run& other) {
  const std::string names = names_of(one.diffs);
  if (const std::string others = names_of(other.diffs); names != others)
    return RunDifference{"the diff", names, others, {}};
  for (const auto& [name, was] : one.diffs) {
    const LeftDiff& is = other.diffs.at(name);
    if (was.digest == is.digest) continue;
    if (was.text && is.text) return diff_difference(name, *was.text, *is.text);
    return RunDifference{name, was.digest, is.digest, {}};
  }
  return std::nullopt;
}

void count(const Step& step, RunComparison& comparison) {
  comparison.decisions += step.kind == Step::Kind::decision ? 1 : 0;
  comparison.calls += step.kind == Step::Kind::call ? 1 : 0;
  comparison.verifications += step.kind == Step::Kind::verification ? 1 : 0;
}

}  // namespace run_compare

RunComparison compare_runs(const std::filesystem::path& recorded,
                           const std::filesystem::path& replayed) {
  using run_compare::Step;
  const run_compare::Run one = run_compare::read_run(recorded);
  const run_compare::Run other = run_compare::read_run(replayed);
  RunComparison comparison;
  comparison.gaps = other.gaps;
  const std::size_t most = std::max(one.steps.size(), other.steps.size());
  for (std::size_t i = 0; i < most; ++i) {
    const Step* was = i < one.steps.size() ? &one.steps[i] : nullptr;
    const Step* is = i < other.steps.size() ? &other.steps[i] : nullptr;
    if (was == nullptr || is == nullptr || was->what != is->what || was->value != is->value) {
      const auto side = [&](const Step* step, const Step* beside) -> std::string {
        if (step == nullptr) return "nothing more";
        const bool same = beside != nullptr && step->what == beside->what;
        return one_line(same ? step->value : place(*step) + ": " + step->value,
                        run_compare::kShown);
      };
      comparison.first = RunDifference{place(was != nullptr ? *was : *is), side(was, is),
                                       side(is, was), (was != nullptr ? *was : *is).call};
      return comparison;
    }
    count(*was, comparison);
    if (was->output != is->output && comparison.outputs.size() < run_compare::kMostOutputs) {
      comparison.outputs.push_back(
          run_compare::text_difference(place(*was), was->output, is->output));
      comparison.outputs.back().call = was->call;
    }
  }
  // A turn of `exec` that nobody asked a diff of has none.
  if (one.diffs.empty() && !other.diffs.empty())
    comparison.gaps.push_back("the diff");
  else
    comparison.first = run_compare::diffs_difference(one, other);
  comparison.diff_bytes = 0;
  for (const auto& [name, diff] : other.diffs)
    comparison.diff_bytes += diff.text ? diff.text->size() : 0;
  return comparison;
}

}  // namespace sortie
