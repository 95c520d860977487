#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "policies/command_check.h"
#include "policies/command_rules.h"
#include "policies/host_pattern.h"
#include "policies/shell/lookup.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

/// Combinations of a rule's alternatives that are tried at most.
constexpr std::size_t kMaxCombinations = 256;

/// Programs that run what their arguments say, so that a rule without a second word allows all.
bool runs_anything(std::string_view name) {
  static constexpr std::array<std::string_view, 22> kInterpreters = {
      "awk",  "gawk",   "mawk", "python", "python2", "python3", "perl", "ruby",
      "node", "nodejs", "php",  "lua",    "tclsh",   "deno",    "bun",  "sudo",
      "doas", "su",     "ssh",  "docker", "podman",  "make"};
  return is_shell(name) || is_wrapper(name) ||
         std::find(kInterpreters.begin(), kInterpreters.end(), name) != kInterpreters.end();
}

/// The argvs that a rule's prefix stands for; none where there are too many of them.
std::vector<std::vector<std::string>> combinations(const CommandRule& rule) {
  std::vector<std::vector<std::string>> argvs = {{}};
  for (const auto& words : rule.prefix) {
    if (argvs.size() * words.size() > kMaxCombinations) return {};
    std::vector<std::vector<std::string>> longer;
    for (const auto& argv : argvs) {
      for (const auto& word : words) {
        longer.push_back(argv);
        longer.back().push_back(word);
      }
    }
    argvs = std::move(longer);
  }
  return argvs;
}

std::string place_text(const RulePlace& place) {
  return place.file + ":" + std::to_string(place.line);
}

class Search {
 public:
  explicit Search(const Policy& policy) : policy_(policy), rules_(policy.commands) {}

  std::vector<PolicyWarning> run() {
    for (const auto& rule : policy_.commands)
      if (rule.effect == Effect::allow) check_allow(rule);
    check_network();
    check_modes();
    return std::move(warnings_);
  }

 private:
  void add(const RulePlace& place, std::string text) {
    warnings_.push_back({.place = place, .text = std::move(text)});
  }
  void add_at(const std::string& key, std::string text) {
    const auto place = policy_.places.find(key);
    add(place == policy_.places.end() ? RulePlace{} : place->second, std::move(text));
  }

  void check_allow(const CommandRule& rule) {
    if (rule.escalate && !policy_.escalation)
      add(rule.place, "'escalate' has no effect: 'escalation' is deny");
    if (rule.prefix.empty()) return;
    for (const auto& word : rule.prefix[0]) {
      if (word.find('/') != std::string::npos && word.front() != '/')
        add(rule.place, "'" + word +
                            "' is a path: no command of the workspace is allowed by its "
                            "words; use allow: {script: …}");
      else if (rule.prefix.size() == 1 && runs_anything(base_name(word)) &&
               !(word == "make" && !rule.but_not_args.empty()))
        add(rule.place, "allows all that " + word + " can run: name its arguments too");
    }
    check_covered(rule);
  }

  /// A deny of the words that all of a rule's commands begin with denies each of them.
  void check_covered(const CommandRule& rule) {
    const CommandPlace place{.workspace = "/workspace", .workdir = "/workspace", .folders = {}};
    const auto argvs = combinations(rule);
    const CommandRule* by = nullptr;
    for (const auto& argv : argvs) {
      const RuleMatch match = rules_.find_deny(argv, place);
      if (match.rule == nullptr) return;
      by = match.rule;
    }
    if (by != nullptr)
      add(rule.place, "can never match: " + place_text(by->place) + " (" + by->place.text +
                          ") denies all that it allows");
  }

  void check_network() {
    if (policy_.network != NetworkMode::allow_list) {
      if (!policy_.network_allow.empty())
        add_at("network.allow",
               "'network.allow' is not used: the mode is " + std::string(name_of(policy_.network)));
      return;
    }
    if (policy_.network_allow.empty())
      add_at("network.mode", "the allow-list is empty: nothing can be reached");
    for (const auto& entry : policy_.network_allow) {
      std::string problem;
      const auto host = parse_host_pattern(entry, problem);
      if (host && host->is_broad())
        add_at("network.allow", "'" + entry + "' lets commands reach nearly every host");
    }
  }

  void check_modes() {
    if (policy_.sandbox == SandboxMode::none)
      add_at("sandbox.mode", "commands run without a sandbox: for a throw-away machine only");
    const bool has_network = std::find(policy_.guarantee.begin(), policy_.guarantee.end(),
                                       Guarantee::network) != policy_.guarantee.end();
    if (policy_.sandbox == SandboxMode::none && !policy_.guarantee.empty())
      add_at("sandbox.mode",
             "without a sandbox nothing of 'sandbox.guarantee' is proved: runs end with code 7");
    else if (policy_.network == NetworkMode::full && has_network)
      add_at("network.mode",
             "the network is open: 'network' of 'sandbox.guarantee' is not asked for");
    if (policy_.allow_all_three)
      add_at("trust.allow_all_three", "a run may have untrusted input, secrets and open network");
    if (policy_.approver && policy_.approval != Approval::deny_by_default)
      add_at("approver", "the approver is never asked: the approval mode is " +
                             std::string(name_of(policy_.approval)));
  }

  const Policy& policy_;
  CommandRules rules_;
  std::vector<PolicyWarning> warnings_;
};

}  // namespace

std::vector<PolicyWarning> policy_warnings(const Policy& policy) { return Search(policy).run(); }

std::string warning_text(const Policy& policy, const PolicyWarning& warning) {
  const std::string place = warning.place.line > 0 ? place_text(warning.place) : policy.name;
  return place + ": warning: " + warning.text;
}

}  // namespace sortie
