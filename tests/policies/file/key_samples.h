#pragma once

namespace sortie::test {

// Documents that give every key of a task and a policy a value which is not its default. FOLDER
// stands for a folder with a.gif, f.json and schema.json.

inline constexpr const char* kTask = R"({
  "version": 1, "requires": "<900", "name": "own", "prompt": "Go {{a}}.", "images": ["FOLDER/a.gif"],
  "instructions": "Be brief.", "instructions_replace": true, "policy": "review",
  "vars": {"a": {"default": "x", "env": "A", "required": true, "trusted": true}},
  "workspace": {"path": "/x", "isolation": "copy", "copy_limit": "1GiB", "project_docs": ["X.md"],
                "project_docs_max_bytes": "1KiB"},
  "model": {
    "provider": "replay", "name": "m", "effort": "high", "base_url": "http://localhost/v1",
    "api_key_env": "KEY", "max_output_tokens": 1000, "temperature": 0.25, "context_window": 5000,
    "price": {"input": 1, "cached_input": 0.5, "cache_write": 2, "output": 3},
    "timeout": {"connect": "1s", "first_event": "2s", "idle": "3s", "total": "4s"}, "retries": 1,
    "headers": {"X-A": "b"}, "legacy_functions": true, "cassette": "/x/c.jsonl", "pin": true,
    "fallback": [{
      "provider": "local", "name": "n", "effort": "low", "base_url": "http://localhost/v2",
      "api_key_env": "KEY2", "max_output_tokens": 2000, "temperature": 0.5, "context_window": 6000,
      "price": {"input": 4, "cached_input": 5, "cache_write": 6, "output": 7},
      "timeout": {"connect": "5s", "first_event": "6s", "idle": "7s", "total": "8s"}, "retries": 2,
      "headers": {"X-C": "d"}, "legacy_functions": true}]},
  "tools": {
    "enable": ["shell", "f"], "choice": "f", "functions": "FOLDER/f.json",
    "mcp": {"one": {"command": ["server"], "env": {"E": "e"}, "startup_timeout": "1s",
                    "tool_timeout": "2s", "tools": ["t"], "required": true,
                    "pin": "sha256:0000000000000000000000000000000000000000000000000000000000000000"},
            "two": {"url": "https://mcp.example.com", "bearer_token_env": "TOKEN"}}},
  "verify": {"commands": [{"run": ["make"], "timeout": "1s"}], "before": "fail", "baseline": "no-new-failures",
             "rounds": 1, "may_change": ["x"], "in": "run",
             "setup": [{"run": ["npm", "ci"], "timeout": "2s"}], "keep": ["build"]},
  "checks": {"missing_paths": "warn", "dangerous_words": "off", "repetition": "off"},
  "expect": {"changes": "any", "tool_success": false,
             "diff": {"max_files": 1, "max_lines": 2, "allow": ["src/**"], "deny": ["*.lock"]}},
  "budget": {"turns": 1, "tool_calls": 2, "tokens": 3, "cost": 4, "time": "5s"},
  "best_of": {"count": 3, "parallel": 2, "pick": "smallest-diff"},
  "context": {"compact_at": 0.5, "keep_last_turns": 1, "shown_output": "1KiB", "carry_over": "n"},
  "output": {"schema": "FOLDER/schema.json", "findings": true,
             "diff": {"context_lines": 1, "renames": false, "base": "head", "include": ["x"],
                      "products": "include", "lfs": true, "submodules": ["x"]}}})";

inline constexpr const char* kStages = R"({
  "version": 1, "workspace": {"path": "/x"},
  "stages": [{"name": "one", "prompt": "Go.", "tools": ["shell"], "choice": "none", "sandbox": "read-only",
              "max_turns": 3, "save": "a.md"}, "verify"],
  "verify": {"commands": [{"run": ["make"]}], "restore": ["tests/**"]}})";

inline constexpr const char* kPolicy = R"({
  "version": 1, "name": "own", "approval": "audit", "approval_override": true,
  "on_denied": "abort", "max_denials": 3, "unreadable": "allow",
  "bounds": {
    "credentials": {"KEY": ["api.example.com"]}, "models": ["a/*"], "vars_env": ["X_*"],
    "mcp": ["npx -y server"], "workspace": ["/a"], "own_tree": false,
    "model_hosts": ["m.example.com"],
    "mcp_env": ["A"], "carry_over": ["n.md"], "verify": "rules", "prices": true,
    "budget": {"time": "1s", "tokens": 2, "cost": 3.5}},
  "commands": [
    {"allow": ["cargo", ["build", "test"]], "but_not": {"args": ["--x"]}, "why": "w"},
    {"deny": ["a", ["b", "c"]]}, {"forbid": ["d", ["e", "f"]]}, {"allow": {"class": "read-only"}},
    {"allow": {"script": "./x.sh"}, "escalate": true,
     "sandbox": {"mode": "workspace-write", "network": "full"}}],
  "tools": [{"allow": ["a"], "why": "w"}, {"deny": ["b"]}, {"forbid": ["c"]}],
  "paths": {"write": ["src"], "read": ["/r"], "toolchains": "none", "hide": ["h"],
            "protect": ["p"]},
  "network": {"mode": "allow-list", "allow": ["a.example.com"]},
  "environment": {"inherit": "all", "include": ["I"], "exclude": ["E"], "set": {"S": "s"}},
  "limits": {"command_timeout": "1s", "output": "2B", "memory": "3GiB", "processes": 4,
             "file_size": "5B", "open_files": 60, "disk": "7B", "diff_file_size": "8B", "on_large_file": "report",
             "transcript": "9B"},
  "sandbox": {"mode": "none", "ptrace": "own", "guarantee": ["kernel"]}, "escalation": "rules",
  "trust": {"input": "trusted", "allow_all_three": true},
  "redact": {"patterns": ["x+"], "on_leak": "report"},
  "approver": {"command": ["/bin/ask"], "timeout": "1s"}})";

}  // namespace sortie::test
