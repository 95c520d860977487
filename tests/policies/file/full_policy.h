#pragma once

#include <string>

#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"

namespace sortie::test {

/// The policy of this text.
inline Policy parse(const std::string& text) { return parse_policy(text, "p.yaml", "."); }

/// Every key that a policy may have.
inline constexpr const char* kFullPolicy = R"(version: 1
name: own
extends: [strict]
approval: full-auto
approval_override: true
on_denied: abort
max_denials: 3
unreadable: allow
bounds:
  credentials: {MY_KEY: [api.example.com, "*.example.org:8443"]}
  models: ["openai/*"]
  vars_env: ["X_*"]
  mcp: [npx -y server, "https://*.example.com:8443"]
  budget: {cost: 1.5, time: 2h}
commands:
  - allow: [cargo, [build, test]]
    but_not: {args: ["--config*"]}
    why: building is the job
    examples: {match: [[cargo, test]], not_match: [[cargo, test, --config=x]]}
  - deny: [git, push]
  - forbid: [sudo]
    escalate: false
  - allow: {script: "./scripts/*.sh"}
    escalate: true
    sandbox: {mode: workspace-write, network: full}
tools:
  - deny: "mcp__*"
    why: no
  - forbid: [a, b]
paths:
  write: [src]
  read: [/opt/data]
  hide: [secrets, "~/.ssh"]
  protect: [Makefile]
network:
  mode: full
  allow: ["*", "[2001:db8::1]:8080", "*.example.org:443"]
environment:
  inherit: none
  include: [CARGO_HOME]
  exclude: ["X_*"]
  set: {CI: "true"}
limits:
  command_timeout: 1m
  output: 1MiB
  memory: 50%
  processes: 10
  file_size: 2MiB
  open_files: 64
  disk: 3MiB
  diff_file_size: 4MiB
  on_large_file: report
  transcript: 5MiB
sandbox:
  mode: none
  ptrace: own
  guarantee: [processes]
escalation: rules
approver:
  command: [./approve.sh]
  timeout: 5s
trust:
  input: trusted
  allow_all_three: true
redact:
  patterns: ["ACME-[0-9]{8}"]
  on_leak: report
)";

}  // namespace sortie::test
