// No key of a task or policy can be forgotten in what is written of it: `task check`, the
// transcript, the digests and the run key.

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/task/task_loader.h"
#include "policies/file/policy_loader.h"
#include "tests/support/images.h"
#include "tests/support/schema_keys.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// Documents that give every key of a schema a value which is not its default.
struct Samples {
  Json schema;
  std::vector<Json> documents;
  /// Keys that bring in what is written as something else, with what lies below them.
  std::set<std::string> not_written;
  /// Keys that a file may write at greater length, as they are written.
  std::set<std::string> short_forms;
  std::set<std::string> of_one_value;
};

/// Whether a key, or what it stands in, is in the set.
bool is_under(const std::string& key, const std::set<std::string>& keys) {
  for (const auto& each : keys)
    if (key == each || key.starts_with(each + ".") || key.starts_with(each + "[")) return true;
  return false;
}

/// Checks that each value of the sample is written, and differs from the default.
/// @param otherwise  what is written without the key
void check_written(const Samples& samples, const Json& sample, const Json& written,
                   const Json& otherwise, const std::string& key) {
  if (is_under(key, samples.not_written)) return;
  const std::string prefix = key.empty() ? "" : key + ".";
  for (const auto& [name, member] : sample.members())
    check_written(samples, member, written[name], otherwise[name], prefix + name);
  const auto& items = sample.items();
  // Some lists are added to their default.
  const std::size_t skipped = written.items().size() - items.size();
  BOOST_TEST_REQUIRE(written.items().size() >= items.size(), key);
  for (std::size_t i = 0; i < items.size(); ++i)
    check_written(samples, items[i], written.items()[skipped + i], {}, key + "[]");
  if (sample.is_object() || sample.is_array()) return;
  BOOST_TEST(write_json(written) == write_json(sample), key << " is not written");
  if (!samples.of_one_value.contains(key))
    BOOST_TEST(write_json(sample) != write_json(otherwise), key << " is given its default");
}

/// null stands for what is not given.
Json without_nulls(const Json& json) {
  Json result = json;
  std::erase_if(result.members(), [](const auto& member) { return member.second.is_null(); });
  for (auto& [name, member] : result.members()) member = without_nulls(member);
  for (Json& item : result.items()) item = without_nulls(item);
  return result;
}

/// @param written_of  what is written of the document with that text
template <typename WrittenOf>
void check(const Samples& samples, const Json& smallest, const WrittenOf& written_of) {
  std::set<std::string> given;
  for (const Json& document : samples.documents) {
    collect_given(samples.schema, document, "", given);
    const Json written = written_of(write_json(document));
    check_written(samples, document, written, written_of(write_json(smallest)), "");
    BOOST_TEST(write_json(written_of(write_json(without_nulls(written)))) == write_json(written));
  }
  std::set<std::string> keys;
  collect_keys(samples.schema, "", keys);
  for (const std::string& key : keys)
    if (!is_under(key, samples.not_written) && !samples.short_forms.contains(key))
      BOOST_TEST(given.contains(key), key << " has no value in the samples");
}

constexpr const char* kTask = R"({
  "version": 1, "name": "own", "prompt": "Go {{a}}.", "images": ["FOLDER/a.gif"],
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
    "enable": ["shell", "f"], "functions": "FOLDER/f.json",
    "mcp": {"one": {"command": ["server"], "env": {"E": "e"}, "startup_timeout": "1s",
                    "tool_timeout": "2s", "tools": ["t"], "required": true,
                    "pin": "sha256:0000000000000000000000000000000000000000000000000000000000000000"},
            "two": {"url": "https://mcp.example.com", "bearer_token_env": "TOKEN"}}},
  "verify": {"commands": [{"run": ["make"], "timeout": "1s"}], "before": "fail", "rounds": 1,
             "may_change": ["x"], "in": "run"},
  "checks": {"missing_paths": "warn", "dangerous_words": "off", "repetition": "off"},
  "expect": {"changes": "any"},
  "budget": {"turns": 1, "tool_calls": 2, "tokens": 3, "cost": 4, "time": "5s"},
  "context": {"compact_at": 0.5, "keep_last_turns": 1, "shown_output": "1KiB", "carry_over": "n"},
  "output": {"schema": "FOLDER/schema.json",
             "diff": {"context_lines": 1, "renames": false, "base": "head", "include": ["x"]}}})";

constexpr const char* kStages = R"({
  "version": 1, "workspace": {"path": "/x"},
  "stages": [{"name": "one", "prompt": "Go.", "tools": ["shell"], "sandbox": "read-only",
              "max_turns": 3, "save": "a.md"}, "verify"],
  "verify": {"commands": [{"run": ["make"]}]}})";

constexpr const char* kPolicy = R"({
  "version": 1, "name": "own", "approval": "audit", "approval_override": true,
  "on_denied": "abort", "max_denials": 3, "unreadable": "allow",
  "bounds": {
    "credentials": {"KEY": ["api.example.com"]}, "models": ["a/*"], "vars_env": ["X_*"],
    "mcp": ["npx -y server"], "workspace": ["/a"], "model_hosts": ["m.example.com"],
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
             "file_size": "5B", "open_files": 60, "disk": "7B", "diff_file_size": "8B",
             "transcript": "9B"},
  "sandbox": {"mode": "none", "ptrace": "own", "guarantee": ["kernel"]}, "escalation": "rules",
  "trust": {"input": "trusted", "allow_all_three": true},
  "redact": {"patterns": ["x+"], "on_leak": "report"},
  "approver": {"command": ["/bin/ask"], "timeout": "1s"}})";

Json sample(std::string text, const TemporaryFolder& folder) {
  const std::string mark = "FOLDER";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
    text.replace(at, mark.size(), folder.path().string());
  return parse_json(text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(written_keys)

BOOST_AUTO_TEST_CASE(every_key_of_a_task_is_written_and_read_back) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.gif", std::ios::binary) << images::kGif;
  std::ofstream(folder / "f.json") << R"([{"name": "f", "description": "d", "run": ["cat"]}])";
  std::ofstream(folder / "schema.json") << "{}";
  const Samples samples = {
      .schema = task_schema(),
      .documents = {sample(kTask, folder), sample(kStages, folder)},
      .not_written = {"prompt_file", "stages[].prompt_file"},
      .short_forms = {"stages[].*", "verify[]", "verify[].run", "verify[].run[]",
                      "verify[].timeout", "verify.commands[]", "verify.commands[].run"},
      .of_one_value = {"version", "verify.in", "stages[]"}};

  check(samples, parse_json(R"({"version": 1, "prompt": "x"})"),
        [](const std::string& text) { return task_json(load_task("-", text)); });
}

BOOST_AUTO_TEST_CASE(every_key_of_a_policy_is_written_and_read_back) {
  const TemporaryFolder folder;
  const Samples samples = {.schema = policy_schema(),
                           .documents = {sample(kPolicy, folder)},
                           .not_written = {"extends", "commands[].examples"},
                           .short_forms = {"tools[].allow", "tools[].deny", "tools[].forbid"},
                           .of_one_value = {"version"}};

  check(samples, parse_json(R"({"version": 1})"),
        [](const std::string& text) { return policy_json(parse_policy(text, "p.yaml", "/")); });
}

BOOST_AUTO_TEST_SUITE_END()
