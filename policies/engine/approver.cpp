#include "policies/engine/approver.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/base/clock.h"
#include "core/process/operator_program.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Verdict = ApproverAnswer::Verdict;

constexpr std::array kVerdicts = {Verdict::allow, Verdict::deny, Verdict::always, Verdict::abort};
constexpr std::size_t kMaxReason = 1000;
constexpr std::size_t kMaxErrorLines = 20;

ApproverAnswer failed(std::string failure) {
  ApproverAnswer answer;
  answer.failure = std::move(failure);
  return answer;
}

/// Why the program gave no valid answer, by how it ended; "" if it exited with 0.
std::string failure_of(const OperatorProgramEnd& end, milliseconds limit, bool run_ends) {
  const ExitStatus& exit = end.exit;
  switch (exit.ending) {
    case Ending::exited:
      return exit.code == 0 ? "" : "it ended with exit code " + std::to_string(exit.code);
    case Ending::signalled:
      return "it was killed by signal " + std::to_string(exit.code);
    case Ending::timed_out:
      return run_ends ? "the run's time was up before it answered"
                      : "it gave no answer within " + limit_text(limit);
    case Ending::output_limit:
      return "its answer is longer than 64 KiB";
    case Ending::cancelled:
      return "the run was interrupted before it answered";
    case Ending::not_started:
      return "it could not be started: " + exit.detail;
    default:
      return "it ended unexpectedly";
  }
}

/// A relative path starts at the policy file's folder; a bare name is looked up. "" if not found.
fs::path program_of(const PolicyApprover& approver, const std::vector<fs::path>& path) {
  const std::string& name = approver.command.at(0);
  if (name.find('/') != std::string::npos) return (approver.folder / name).lexically_normal();
  for (const fs::path& folder : path)
    if (::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  return {};
}

/// The core variables without those that may hold a secret, whatever the policy passes to commands.
Environment approver_environment(const Policy& policy, const Environment& own) {
  const std::vector<Secret> secrets = environment_secrets(policy, own);
  Environment environment;
  for (const auto& [name, value] : own) {
    if (!is_core_variable(name)) continue;
    const bool secret =
        std::any_of(secrets.begin(), secrets.end(),
                    [&name = name](const Secret& each) { return each.name == name; });
    if (!secret) environment.emplace(name, value);
  }
  return environment;
}

}  // namespace

const char* name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::allow:
      return "allow";
    case Verdict::deny:
      return "deny";
    case Verdict::always:
      return "always";
    case Verdict::abort:
      return "abort";
  }
  return "deny";
}

Json to_json(const ApproverAnswer& answer) {
  Json json = Json::object({{"decision", name_of(answer.verdict)},
                            {"reason", answer.reason},
                            {"duration_ms", static_cast<std::int64_t>(answer.duration.count())}});
  if (!answer.failure.empty()) json.set("failure", answer.failure);
  return json;
}

ApproverAnswer read_answer(std::string_view text) {
  Json json;
  try {
    json = parse_json(text, 8);
  } catch (const JsonError& error) {
    return failed(std::string("its answer is not one JSON object: ") + error.what());
  }
  if (!json.is_object()) return failed("its answer is not one JSON object");
  for (const auto& [name, value] : json.members())
    if (name != "decision" && name != "reason")
      return failed("its answer has the unknown member '" + one_line(name, 60) + "'");
  if (json.find("reason") && !json["reason"].is_string())
    return failed("the reason in its answer is not a string");
  const std::string decision = json.string_at("decision");
  const auto* const verdict = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                           [&](Verdict each) { return decision == name_of(each); });
  if (verdict == kVerdicts.end())
    return failed("its decision is not one of allow, deny, always and abort: '" +
                  one_line(decision, 60) + "'");
  ApproverAnswer answer;
  answer.verdict = *verdict;
  answer.reason = json.string_at("reason");
  return answer;
}

ProgramApprover::ProgramApprover(const Policy& policy, const Environment& own,
                                 std::vector<fs::path> path, const Redactor& redactor, Say say)
    : approver_(policy.approver.value()),
      environment_(approver_environment(policy, own)),
      path_(std::move(path)),
      redactor_(redactor),
      say_(std::move(say)) {}

ApproverAnswer ProgramApprover::ask(const Json& request, milliseconds time_left,
                                    std::stop_token stop) {
  OperatorProgram program;
  program.argv = approver_.command;
  const fs::path file = program_of(approver_, path_);
  if (file.empty())
    return failed("it could not be started: there is no '" + one_line(program.argv[0], 60) +
                  "' on PATH");
  program.argv[0] = file.string();
  program.workdir = approver_.folder;
  program.environment = environment_;
  program.input = write_json(redactor_.json(request)) + '\n';
  program.timeout = std::min(approver_.timeout, time_left);

  OperatorProgramEnd end;
  try {
    end = run_operator_program(program, std::move(stop));
  } catch (const std::exception& error) {
    return failed(std::string("it could not be started: ") + error.what());
  }
  const std::string errors = redactor_.text(repair_utf8(end.errors));
  std::size_t lines = 0;
  for (const auto line : split_lines(errors)) {
    if (!say_ || ++lines > kMaxErrorLines) break;
    say_("approver: " + one_line(line, 300));
  }
  const std::string failure = failure_of(end, program.timeout, time_left < approver_.timeout);
  ApproverAnswer answer = failure.empty() ? read_answer(end.output) : failed(failure);
  answer.reason = one_line(redactor_.text(answer.reason), kMaxReason);
  answer.failure = redactor_.text(answer.failure);
  answer.duration = end.exit.duration;
  return answer;
}

std::vector<fs::path> approver_files(const Policy& policy) {
  std::vector<fs::path> files;
  if (!policy.approver) return files;
  for (const std::string& word : policy.approver->command) {
    const fs::path file = (policy.approver->folder / word).lexically_normal();
    std::error_code error;
    if (!fs::is_regular_file(file, error)) continue;
    files.push_back(file);
    const fs::path real = fs::canonical(file, error);
    if (!error && real != file) files.push_back(real);
  }
  return files;
}

Json approver_request_schema() {
  return parse_json(R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "What sortie asks an approver, on its stdin",
  "type": "object",
  "required": ["version", "run_id", "policy", "turn", "call", "workspace", "actions", "unmatched",
               "reason", "audit_flags", "always", "would_allow"],
  "properties": {
    "version": {"const": 1},
    "run_id": {"type": "string"},
    "policy": {"type": "string", "description": "its name"},
    "turn": {"type": "integer", "minimum": 0},
    "call": {
      "type": "object",
      "required": ["id", "tool", "arguments"],
      "properties": {
        "id": {"type": "string"},
        "tool": {"type": "string"},
        "arguments": {"description": "as the tool will get them"}
      }
    },
    "workspace": {"type": "string", "description": "absolute; what relative paths are relative to"},
    "actions": {
      "type": "array",
      "description": "the call taken apart, as in the transcript's approval record",
      "items": {"$ref": "#/$defs/action"}
    },
    "unmatched": {
      "type": "array",
      "minItems": 1,
      "description": "those that no rule allows; the others are allowed by rules",
      "items": {"$ref": "#/$defs/action"}
    },
    "reason": {"type": "string", "description": "why it is not allowed by itself"},
    "audit_flags": {"type": "array", "items": {"type": "string"}},
    "always": {
      "type": "array",
      "description": "what the answer 'always' would cover until the run ends",
      "items": {"type": "object"}
    },
    "would_allow": {"type": ["object", "null"], "description": "lines of a policy that would"}
  },
  "$defs": {
    "action": {
      "type": "object",
      "required": ["kind"],
      "properties": {
        "kind": {"enum": ["run_command", "read_path", "write_path", "call_tool"]},
        "argv": {"type": "array", "items": {"type": "string"}},
        "commands": {
          "type": "array",
          "description": "of a shell script: the argv of each simple command",
          "items": {"type": "array", "items": {"type": "string"}}
        },
        "unreadable": {"type": "string", "description": "why the script could not be read"},
        "workdir": {"type": "string"},
        "path": {"type": "string"},
        "name": {"type": "string"}
      }
    }
  }
})");
}

Json approver_answer_schema() {
  return parse_json(R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "What an approver answers, on its stdout",
  "type": "object",
  "required": ["decision"],
  "additionalProperties": false,
  "properties": {
    "decision": {"enum": ["allow", "deny", "always", "abort"]},
    "reason": {"type": "string"}
  }
})");
}

}  // namespace sortie
