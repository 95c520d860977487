#include "ci/report/junit.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "ci/report/call_words.h"
#include "ci/test_output/read_results.h"
#include "core/text/deceptive.h"
#include "core/text/markup.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostCases = 10'000;
constexpr std::size_t kMostName = 1000;

/// A test of a suite.
struct Case {
  std::string name;
  std::string group;
  milliseconds time{0};
  std::string failure{};  ///< its one line; "" of one that passed
  std::string type{};     ///< of the failure
  std::string text{};
};

struct Suite {
  std::string name;
  std::vector<Case> cases{};
  milliseconds time{0};
  std::string output{};
};

std::string text_of(const Excerpt& excerpt) {
  if (excerpt.left_out == 0) return excerpt.head + excerpt.tail;
  return excerpt.head + "\n… " + size_in_words(excerpt.left_out) + " left out …\n" + excerpt.tail;
}

std::string seconds_text(milliseconds time) {
  char text[32];
  const auto known = std::max(time, milliseconds(0));  // the schemas have no other word
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(known.count()) / 1000);
  return text;
}

/// A name on one line, as an xs:token has it: without blanks at its ends or two in a row.
std::string token(const std::string& text) {
  std::string name;
  for (const char c : one_line(text, kMostName))
    if (c != ' ' || (!name.empty() && name.back() != ' ')) name += c;
  while (name.ends_with(' ')) name.pop_back();
  return name.empty() ? "-" : name;
}

Case case_of(const StoryCommand& command) {
  Case one{.name = command.command,
           .group = command.setup ? "setup" : "verify",
           .time = command.duration};
  if (command.passed && command.done) return one;
  one.failure = command.done ? (command.ending.empty() ? "failed" : command.ending) : "cut off";
  if (!command.compared.empty()) one.failure += "; " + command.compared;
  one.type = "verification";
  one.text = text_of(command.output);
  return one;
}

/// The cases of a command: its tests, if its output has all of them, else itself.
void add_cases(const StoryCommand& command, Suite& suite) {
  const Case whole = case_of(command);
  const TestResults results = command.output.left_out == 0 && command.done
                                  ? read_test_results(command.output.head + command.output.tail)
                                  : TestResults();
  const bool known = results.kind == TestResults::Kind::complete &&
                     suite.cases.size() + results.tests.size() <= kMostCases;
  if (known)
    for (const auto& [name, passed] : results.tests)
      suite.cases.push_back({.name = name,
                             .group = command.command,
                             .failure = passed ? "" : "failed",
                             .type = passed ? "" : results.format});
  // A command may fail for more than its tests.
  if (!known || whole.failure.empty() != (results.failures() == 0)) suite.cases.push_back(whole);
  if (known) suite.output += whole.text.empty() ? text_of(command.output) : whole.text;
  suite.time = known_sum(suite.time, command.duration);
}

Suite suite_of_run(const RunStory& story) {
  Suite suite{.name = "run", .time = story.times.total()};
  Case run{.name = story.setting.task_name, .group = "sortie", .time = suite.time};
  const StoryVerdict& verdict = story.verdict;
  if (verdict.code != 0) {
    run.failure = verdict.status + ": " + verdict.cause;
    run.type = verdict.status;
    run.text = verdict.cause + (verdict.next.empty() ? "" : "\nnext: " + verdict.next) + "\n";
  }
  suite.cases.push_back(std::move(run));
  for (const StoryDenial& denial : story.denials)
    suite.output += std::to_string(denial.count) + " x denied: " + denial.tool + " " + denial.what +
                    ": " + denial.reason + "\n";
  return suite;
}

std::string attribute(const char* name, const std::string& value) {
  return " " + std::string(name) + "=\"" + xml_text(value) + "\"";
}

std::string case_text(const Case& one) {
  std::string text = "    <testcase" + attribute("name", token(one.name)) +
                     attribute("classname", token(one.group)) +
                     attribute("time", seconds_text(one.time));
  if (one.failure.empty()) return text + "/>\n";
  return text + ">\n      <failure" + attribute("message", one_line(one.failure, kMostName)) +
         attribute("type", one.type) + ">" + xml_text(one.text) + "</failure>\n    </testcase>\n";
}

/// In the order and with the members that both schemas want.
std::string suite_text(const Suite& suite, std::size_t id, const RunStory& story) {
  const auto failures = std::count_if(suite.cases.begin(), suite.cases.end(),
                                      [](const Case& one) { return !one.failure.empty(); });
  const std::string started = story.setting.started;
  const bool dated = started.size() >= 19;
  std::string text = "  <testsuite" + attribute("package", "sortie") +
                     attribute("id", std::to_string(id)) + attribute("name", suite.name) +
                     attribute("timestamp", dated ? started.substr(0, 19) : "1970-01-01T00:00:00") +
                     attribute("hostname", "localhost") +
                     attribute("tests", std::to_string(suite.cases.size())) +
                     attribute("failures", std::to_string(failures)) + attribute("errors", "0") +
                     attribute("time", seconds_text(suite.time)) + ">\n    <properties>\n";
  const std::pair<const char*, std::string> properties[] = {{"run_id", story.setting.run_id},
                                                            {"status", story.verdict.status},
                                                            {"policy", story.setting.policy_name},
                                                            {"model", story.setting.model_served}};
  for (const auto& [name, value] : properties)
    text += "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  text += "    </properties>\n";
  for (const Case& one : suite.cases) text += case_text(one);
  return text + "    <system-out>" + xml_text(suite.output) +
         "</system-out>\n    <system-err></system-err>\n  </testsuite>\n";
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  const std::string valid = repair_utf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const auto byte = static_cast<unsigned char>(c);
    const std::string_view rest = std::string_view(valid).substr(i);
    if (const auto entity = markup_entity(c); !entity.empty()) {
      out += entity;
    } else if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
      // Char of XML 1.0 has none of them.
      out += named_character(byte);
    } else if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) {
      out += rest[2] == '\xbe' ? "[U+FFFE]" : "[U+FFFF]";
      i += 2;
    } else if (c == '#' || (c == ':' && rest.starts_with("::"))) {
      // The document may be printed in a CI job: "::error" and "##vso[" are commands there.
      out += c == '#' ? "&#35;" : "&#58;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string junit_text(const RunStory& story) {
  std::vector<Suite> suites = {suite_of_run(story)};
  const auto last =
      std::find_if(story.rounds.rbegin(), story.rounds.rend(),
                   [](const StoryRound& round) { return round.phase == VerificationPhase::after; });
  if (last != story.rounds.rend()) {
    Suite suite{.name = "verification"};
    for (const StoryCommand& command : last->commands)
      if (suite.cases.size() < kMostCases) add_cases(command, suite);
    suites.push_back(std::move(suite));
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (std::size_t i = 0; i < suites.size(); ++i) text += suite_text(suites[i], i, story);
  return text + "</testsuites>\n";
}

}  // namespace sortie
