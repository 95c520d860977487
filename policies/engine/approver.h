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

/// What an approver said of a call, or what stands in for it.
struct ApproverAnswer {
  enum class Verdict { allow, deny, always, abort };
  Verdict verdict = Verdict::deny;
  std::string reason;   ///< the approver's own words; may be ""
  std::string failure;  ///< why there was no answer: the verdict is deny then; else ""
  std::chrono::milliseconds duration{0};
};

const char* name_of(ApproverAnswer::Verdict verdict) noexcept;

/// {"decision","reason","failure"?,"duration_ms"}: the member `approver` of an approval record.
Json to_json(const ApproverAnswer& answer);

/// Reads {"decision": "allow|deny|always|abort", "reason": "…"}: exactly one JSON object, with
/// nothing before or behind it but white space. All else is a deny with a failure.
ApproverAnswer read_answer(std::string_view text);

/// Somebody who is asked where no rule matched.
class Approver {
 public:
  virtual ~Approver() = default;
  /// Always has an answer within its time limit; never throws for what the other side did.
  /// @param request    docs/approval.md, approver_request_schema()
  /// @param time_left  of the run; it is never waited longer
  virtual ApproverAnswer ask(const Json& request, std::chrono::milliseconds time_left,
                             std::stop_token stop) = 0;
};

/// The program that a policy names as its approver.
///
/// It is the operator's own and runs outside the sandbox: in the policy file's folder, with the
/// core variables alone, none that holds a secret, and no descriptor of ours.
class ProgramApprover : public Approver {
 public:
  /// Takes a line of its stderr, redacted, for the operator.
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

/// The files that an approver consists of, as far as its command names them: absolute. The run
/// must not be able to write them.
std::vector<std::filesystem::path> approver_files(const Policy& policy);

/// JSON Schema of what an approver gets on stdin, and of what it answers.
Json approver_request_schema();
Json approver_answer_schema();

}  // namespace sortie
