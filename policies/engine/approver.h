#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/secrets/redact.h"
#include "policies/environment/environment.h"
#include "policies/rules/policy.h"

namespace sortie {

/// An approver's answer for one call, or the failure to get one.
struct ApproverAnswer {
  enum class Verdict { allow, deny, always, abort };
  Verdict verdict = Verdict::deny;
  std::string reason;   ///< in the approver's words; may be ""
  std::string failure;  ///< why there was no valid answer (the verdict is deny then), or ""
  std::chrono::milliseconds duration{0};
};

const char* name_of(ApproverAnswer::Verdict verdict) noexcept;

/// {"decision","reason","failure"?,"duration_ms"}: the member `approver` of an approval record.
Json to_json(const ApproverAnswer& answer);

/// Reads {"decision": "allow|deny|always|abort", "reason": "…"}: exactly one JSON object, with
/// nothing but white space around it. Anything else is a deny with a failure.
ApproverAnswer read_answer(std::string_view text);

/// Decides calls that no rule matches.
class Approver {
 public:
  virtual ~Approver() = default;
  /// Always returns within its time limit; errors of the other side are a failure, not an
  /// exception.
  /// @param request    docs/approval.md, approver_request_schema()
  /// @param time_left  of the run: the longest wait
  virtual ApproverAnswer ask(const Json& request, std::chrono::milliseconds time_left,
                             std::stop_token stop) = 0;
};

/// The program that a policy names as its approver.
///
/// It belongs to the operator and runs outside the sandbox: in the policy file's folder, with only
/// the core variables that hold no secret, and without descriptors of this process.
class ProgramApprover : public Approver {
 public:
  /// Receives each line of its stderr, redacted, for the operator.
  using Say = std::function<void(const std::string&)>;

  /// @param own   this process's environment
  /// @param path  folders in which a bare name is looked up (command_path)
  ProgramApprover(const Policy& policy, const Environment& own,
                  std::vector<std::filesystem::path> path, const Redactor& redactor, Say say);

  ApproverAnswer ask(const Json& request, std::chrono::milliseconds time_left,
                     std::stop_token stop) override;

 private:
  PolicyApprover approver_;
  Environment environment_;
  std::vector<std::filesystem::path> path_;
  const Redactor& redactor_;
  Say say_;
};

/// The files that the approver's command names, absolute. The run must not be able to write them.
std::vector<std::filesystem::path> approver_files(const Policy& policy);

/// JSON Schemas of an approver's stdin and of its answer.
Json approver_request_schema();
Json approver_answer_schema();

}  // namespace sortie
