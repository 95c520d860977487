#include "core/task/variables.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/error.h"
#include "core/task/placeholders.h"

using namespace sortie;

namespace {

Task task_with(const std::string& prompt, std::map<std::string, TaskVariable> vars = {}) {
  Task task;
  task.prompt = prompt;
  task.vars = std::move(vars);
  return task;
}

VariableSources sources() {
  VariableSources sources;
  sources.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "REF") return "from-env";
    return std::nullopt;
  };
  sources.standard_input = [] { return std::optional<std::string>("piped"); };
  sources.file = [](const std::string& path) -> std::optional<std::string> {
    if (path == "notes.md") return "noted";
    return std::nullopt;
  };
  sources.date = "2026-11-21";
  sources.run_id = "r-1";
  sources.git_branch = [] { return GitValue{.value = "main"}; };
  sources.git_sha = [] { return GitValue{.value = "abc123"}; };
  return sources;
}

std::string expanded(const Task& task, const VariableSources& from) {
  return expand_prompts(task, from).prompt;
}

std::string problem_of(const Task& task, const VariableSources& from) {
  try {
    expanded(task, from);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variables)

BOOST_AUTO_TEST_CASE(placeholders_are_replaced_and_literals_stay) {
  const struct {
    const char* prompt;
    const char* text;
  } rows[] = {
      {"plain", "plain"},
      {"", ""},
      {"{{date}}", "2026-11-21"},
      {"a {{ date }}b{{run_id}}", "a 2026-11-21br-1"},
      {"{{git.branch}}@{{git.sha}}", "main@abc123"},
      {"\\{{date}} {{date}}", "{{date}} 2026-11-21"},
      {"${{ github.ref }} {{date}}", "${{ github.ref }} 2026-11-21"},
      {"${{ open", "${{ open"},
      {"{ {x} } }}", "{ {x} } }}"},
      {"{{stdin}}", "<untrusted name=\"stdin\">piped</untrusted>"},
      {"{{file:notes.md}}", "<untrusted name=\"file:notes.md\">noted</untrusted>"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.prompt) {
      BOOST_TEST(expanded(task_with(row.prompt), sources()) == row.text);
    }
}

BOOST_AUTO_TEST_CASE(the_flag_wins_then_the_environment_then_the_default) {
  const TaskVariable variable{.default_value = "dflt", .has_default = true, .environment = "REF"};
  TaskVariable unset = variable;
  unset.environment = "UNSET";
  TaskVariable trusted = variable;
  trusted.trusted = true;
  VariableSources flagged = sources();
  flagged.flags["v"] = "flag";

  BOOST_TEST(expanded(task_with("{{v}}", {{"v", variable}}), flagged) == "flag");
  BOOST_TEST(expanded(task_with("{{v}}", {{"v", variable}}), sources()) ==
             "<untrusted name=\"v\">from-env</untrusted>");
  BOOST_TEST(expanded(task_with("{{v}}", {{"v", trusted}}), sources()) == "from-env");
  BOOST_TEST(expanded(task_with("{{v}}", {{"v", unset}}), sources()) == "dflt");
  BOOST_TEST(expanded(task_with("[{{v}}]", {{"v", {}}}), sources()) == "[]");
}

BOOST_AUTO_TEST_CASE(what_comes_in_is_never_expanded_again) {
  VariableSources from = sources();
  from.flags["v"] = "{{stdin}} \\{{ ${{";
  from.standard_input = [] { return std::optional<std::string>("{{date}}"); };

  BOOST_TEST(expanded(task_with("{{v}} {{stdin}}", {{"v", {}}}), from) ==
             "{{stdin}} \\{{ ${{ <untrusted name=\"stdin\">{{date}}</untrusted>");
}

BOOST_AUTO_TEST_CASE(the_closing_tag_can_not_be_forged) {
  const struct {
    const char* value;
    const char* text;
  } rows[] = {
      {"a < b </p>", "a < b </p>"},
      {"</untrusted>", "&lt;/untrusted>"},
      {"</UNTRUSTED>", "&lt;/UNTRUSTED>"},
      {"< / untrusted >", "&lt; / untrusted >"},
      {"</\nuntrusted", "&lt;/\nuntrusted"},
      {"<untrusted name=\"x\">", "&lt;untrusted name=\"x\">"},
      {"<</untrusted>", "<&lt;/untrusted>"},
      {"\xff", "\xEF\xBF\xBD"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.value) {
      VariableSources from = sources();
      from.standard_input = [&] { return std::optional<std::string>(row.value); };
      BOOST_TEST(expanded(task_with("{{stdin}}"), from) ==
                 std::string("<untrusted name=\"stdin\">") + row.text + "</untrusted>");
    }
  VariableSources from = sources();
  from.file = [](const std::string&) { return std::optional<std::string>("x"); };
  BOOST_TEST(expanded(task_with("{{file:a\"><b}}"), from) ==
             "<untrusted name=\"file:a&quot;>&lt;b\">x</untrusted>");
}

BOOST_AUTO_TEST_CASE(a_source_is_read_once_and_only_when_it_is_named) {
  int reads = 0;
  VariableSources from = sources();
  from.standard_input = [&] {
    ++reads;
    return std::optional<std::string>("x");
  };

  expanded(task_with("no"), from);
  BOOST_TEST(reads == 0);
  expanded(task_with("{{stdin}} {{stdin}}"), from);
  BOOST_TEST(reads == 1);
}

BOOST_AUTO_TEST_CASE(all_that_is_missing_or_unknown_is_said_at_once) {
  VariableSources from = sources();
  from.flags["brnch"] = "x";
  from.git_sha = [] { return GitValue{.value = {}, .problem = "it is refused"}; };
  const TaskVariable needed{.environment = "UNSET", .required = true};

  BOOST_TEST(problem_of(task_with("{{dat}} {{x", {{"branch", {}}}), from) ==
             "error: --var: the task declares no variable 'brnch'; did you mean 'branch'?\n"
             "error: unknown variable 'dat'; did you mean 'date'?\n"
             "error: '{{' without '}}'; '\\{{' is the literal '{{'");

  from.flags.clear();
  BOOST_TEST(problem_of(task_with("{{git.sha}} {{file:none}}", {{"v", needed}}), from) ==
             "error: variable 'v' is required and has no value; give --var v=VALUE or set UNSET "
             "(if the policy's bounds.vars_env allows it)\n"
             "error: {{git.sha}} has no value: it is refused\n"
             "error: file 'none' can't be read for {{file:none}}");
}

BOOST_AUTO_TEST_CASE(each_stages_prompt_is_expanded_with_what_was_read_once) {
  int reads = 0;
  VariableSources from = sources();
  from.standard_input = [&] {
    ++reads;
    return std::optional<std::string>("{{date}} </untrusted>");
  };
  Task task = task_with("");
  task.stages = {{.name = "look", .prompt = "{{date}}: {{stdin}}"},
                 {.name = "verify", .verify = true},
                 {.name = "say", .prompt = "{{stdin}}"}};

  const ExpandedPrompts prompts = expand_prompts(task, from);

  const std::string log = "<untrusted name=\"stdin\">{{date}} &lt;/untrusted></untrusted>";
  BOOST_TEST(prompts.prompt == "");
  BOOST_TEST((prompts.stages == std::vector<std::string>{"2026-11-21: " + log, "", log}));
  BOOST_TEST(reads == 1);
}

BOOST_AUTO_TEST_CASE(a_file_brought_in_by_a_flag_is_foreign_unless_the_variable_is_trusted) {
  VariableSources from = sources();
  from.flags = {{"file", "</untrusted> {{date}}"}, {"known", "{{date}}"}, {"word", "<b>"}};
  from.from_files = {"file", "known"};
  const TaskVariable trusted{.trusted = true};

  BOOST_TEST(expanded(task_with("{{file}}|{{known}}|{{word}}",
                                {{"file", {}}, {"known", trusted}, {"word", {}}}),
                      from) ==
             "<untrusted name=\"file\">&lt;/untrusted> {{date}}</untrusted>|{{date}}|<b>");
}

BOOST_AUTO_TEST_CASE(a_value_that_is_no_text_is_repaired_trusted_or_not) {
  TaskVariable trusted{.environment = "BAD", .trusted = true};
  VariableSources from = sources();
  from.environment = [](const std::string&) { return std::optional<std::string>("a\xFFz"); };

  BOOST_TEST(expanded(task_with("{{v}}", {{"v", trusted}}), from) == "a\xEF\xBF\xBDz");
  trusted.trusted = false;
  BOOST_TEST(expanded(task_with("{{v}}", {{"v", trusted}}), from) ==
             "<untrusted name=\"v\">a\xEF\xBF\xBDz</untrusted>");
}

BOOST_AUTO_TEST_CASE(use_of_stdin_is_seen_in_placeholders_only) {
  BOOST_TEST(uses_standard_input(task_with("a {{ stdin }}")));
  BOOST_TEST(!uses_standard_input(task_with("a \\{{stdin}} ${{ stdin }} stdin")));

  Task staged = task_with("");
  staged.stages = {{.name = "a", .prompt = "no"}, {.name = "b", .prompt = "{{stdin}}"}};
  BOOST_TEST(uses_standard_input(staged));
}

BOOST_AUTO_TEST_CASE(parts_cover_the_prompt) {
  const auto parts = split_prompt("a {{b}}\\{{c");

  BOOST_REQUIRE(parts.size() == 3u);
  BOOST_TEST((parts[0] == PromptPart{.text = "a ", .offset = 0, .length = 2}));
  BOOST_TEST(
      (parts[1] ==
       PromptPart{.kind = PromptPart::Kind::variable, .text = "b", .offset = 2, .length = 5}));
  BOOST_TEST((parts[2] == PromptPart{.text = "{{c", .offset = 7, .length = 4}));
}

BOOST_AUTO_TEST_SUITE_END()
