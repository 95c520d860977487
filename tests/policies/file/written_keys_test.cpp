// No key of a task or policy can be forgotten in what is written of it: `task check`, the
// transcript, the digests and the run key.

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/task/task_loader.h"
#include "policies/file/policy_loader.h"
#include "tests/policies/file/key_samples.h"
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
      .short_forms = {"stages[].*", "verify[]", "verify[][]", "verify.commands[][]", "verify[].run",
                      "verify[].run[]", "verify[].timeout", "verify.commands[]",
                      "verify.commands[].run", "verify.setup[]", "verify.setup[][]",
                      "verify.setup[].run"},
      .of_one_value = {"version", "stages[]"}};

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
