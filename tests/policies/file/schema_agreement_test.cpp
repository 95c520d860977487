// What the loaders of tasks and policies accept is what their JSON Schemas accept, which editors use:
// compared over samples with every value replaced, every key left out, and keys added.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/task/task_loader.h"
#include "policies/file/policy_loader.h"
#include "tests/policies/file/key_samples.h"
#include "tests/support/images.h"
#include "tests/support/npm_packages.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A document that differs from a sample at one place.
struct Mutant {
  std::string what;  ///< "model.retries = true"
  Json document;
};

const std::vector<Json>& values() {
  static const std::vector<Json> all = [] {
    std::vector<Json> list;
    for (const char* text :
         {"null", "true", "5", "-1", "1e15", "\"\"", "\"a b\"", "[]", "[\"\"]", "{}"})
      list.push_back(parse_json(text));
    return list;
  }();
  return all;
}

/// Adds the mutants of the value at `at`, which lies in `root`.
void mutate(const Json& root, Json& at, const std::string& key, std::vector<Mutant>& mutants) {
  const Json kept = at;
  const auto add = [&](const std::string& change) { mutants.push_back({key + change, root}); };
  for (const Json& value : values()) {
    at = value;
    add(" = " + write_json(value));
  }
  at = kept;
  if (at.is_object()) {
    at.set("zzz", 1);
    add(" with zzz");
    for (std::size_t i = 0; i < kept.members().size(); ++i) {
      at = kept;
      at.members().erase(at.members().begin() + static_cast<std::ptrdiff_t>(i));
      add(" without " + kept.members()[i].first);
    }
    at = kept;
    for (auto& [name, member] : at.members()) mutate(root, member, key + "." + name, mutants);
  }
  for (std::size_t i = 0; i < at.items().size(); ++i)
    mutate(root, at.items()[i], key + "[]", mutants);
}

std::vector<Mutant> mutants_of(const std::vector<Json>& samples) {
  std::vector<Mutant> mutants;
  for (Json sample : samples) {
    mutants.push_back({"the sample", sample});
    mutate(sample, sample, "", mutants);
  }
  return mutants;
}

/// What the loader finds and no schema can say: what lies in other files, how values of several keys
/// fit together, and ranges of values that are written as text.
bool is_beyond_schemas(const std::string& finding) {
  for (const char* part : {"unknown variable",            // of a prompt, by vars
                           "is built in",                 // a variable's name
                           "there is no tool",            // by the functions' file
                           "tools.enable leaves it out",  // by another key
                           "does not have the tool",
                           "has no tools",
                           "names no server",
                           "'instructions_replace' needs 'instructions'",
                           "two stages are called",
                           "two stages save",
                           "needs commands in the task's 'verify'",
                           "is a file that sortie itself writes",
                           "must not be blank",
                           "is a directory",
                           "No such file",
                           "not a regular file",
                           "Not a directory",
                           "Is a directory",
                           "No such",
                           "can't be set by the task",
                           "the task requires sortie",
                           "expected a value from",  // durations and sizes
                           "no such file",
                           "expected a host",
                           "'sandbox' of a rule needs",
                           "'escalate' needs",
                           "must not lead out of the workspace",
                           "'{{'"})
    if (finding.find(part) != std::string::npos) return true;
  return false;
}

/// @param finding_of  what the loader says of the document's text; "" if it is accepted
void compare(const Json& schema, const std::vector<Json>& samples,
             const std::function<std::string(const std::string&)>& finding_of,
             std::vector<Mutant>& mutants) {
  const JsonSchema compiled(schema);
  mutants = mutants_of(samples);
  BOOST_TEST(mutants.size() > 500u);
  for (const Mutant& mutant : mutants) {
    const bool valid = compiled.check(mutant.document).empty();
    const std::string finding = finding_of(write_json(mutant.document));
    if (!valid)
      BOOST_TEST(!finding.empty(), "the schema refuses what the loader accepts: " << mutant.what);
    else if (!is_beyond_schemas(finding))
      BOOST_TEST(finding == "", "the schema accepts " << mutant.what << ": " << finding);
  }
}

/// Checks that another implementation of JSON Schema has the same verdicts.
void compare_with_ajv(const Json& schema, const std::vector<Mutant>& mutants) {
  const NpmPackages npm = npm_packages();
  const TemporaryFolder folder;
  const JsonSchema compiled(schema);
  std::string documents;
  for (const Mutant& mutant : mutants) documents += write_json(mutant.document) + "\n";
  write_file(folder / "schema.json", write_json(schema));
  write_file(folder / "documents.jsonl", documents);
  write_file(folder / "check.js",
             "const Ajv = require('" + (npm.folder / "node_modules/ajv/dist/2020").string() +
                 "').default;\n"
                 "const fs = require('fs');\n"
                 "const validate = new Ajv({strict: false, unicodeRegExp: true})\n"
                 "    .compile(JSON.parse(fs.readFileSync('schema.json')));\n"
                 "for (const line of fs.readFileSync('documents.jsonl', 'utf8').split('\\n'))\n"
                 "  if (line) console.log(validate(JSON.parse(line)) ? 'valid' : 'not');\n");
  const ProgramEnd end = run_program({.argv = {npm.node, "check.js"}, .folder = folder.path()});
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  std::size_t at = 0;
  for (const Mutant& mutant : mutants) {
    const std::size_t line = std::min(end.output.find('\n', at), end.output.size());
    const bool valid = end.output.substr(at, line - at) == "valid";
    at = line + 1;
    BOOST_TEST(valid == compiled.check(mutant.document).empty(), mutant.what);
  }
}

struct SampleFolder : TemporaryFolder {
  SampleFolder() {
    std::ofstream(*this / "a.gif", std::ios::binary) << images::kGif;
    write_file(*this / "f.json", R"([{"name": "f", "description": "d", "run": ["cat"]}])");
    write_file(*this / "schema.json", "{}");
  }
  Json sample(std::string text) const {
    const std::string mark = "FOLDER";
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark))
      text.replace(at, mark.size(), path().string());
    return parse_json(text);
  }
};

std::string finding_of_task(const std::string& text) {
  try {
    load_task("-", text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string finding_of_policy(const std::string& text) {
  try {
    parse_policy(text, "p.yaml", "/");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schema_agreement)

BOOST_AUTO_TEST_CASE(the_loader_of_tasks_and_their_schema_agree) {
  const SampleFolder folder;
  std::vector<Mutant> mutants;
  compare(task_schema(), {folder.sample(kTask), folder.sample(kStages)}, finding_of_task, mutants);
}

BOOST_AUTO_TEST_CASE(the_loader_of_policies_and_their_schema_agree) {
  const SampleFolder folder;
  std::vector<Mutant> mutants;
  compare(policy_schema(), {folder.sample(kPolicy)}, finding_of_policy, mutants);
}

BOOST_AUTO_TEST_CASE(another_validator_has_the_same_verdicts,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const SampleFolder folder;
  compare_with_ajv(task_schema(), mutants_of({folder.sample(kTask), folder.sample(kStages)}));
  compare_with_ajv(policy_schema(), mutants_of({folder.sample(kPolicy)}));
}

BOOST_AUTO_TEST_SUITE_END()
