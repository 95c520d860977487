#include "core/task/functions.h"

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "core/base/error.h"
#include "core/json/json_schema.h"
#include "core/task/task.h"
#include "core/task/task_loader.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using Words = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(functions)

namespace {

const char* const kTodo = R"([
  {"name": "todos", "description": "Finds them.",
   "parameters": {"type": "object",
                  "properties": {"path": {"type": "string"},
                                 "words": {"type": "array", "items": {"type": "string"}}},
                  "required": ["path"]},
   "run": ["./tools/todo.py", "--path", "{{path}}", "--", "{{words...}}"],
   "stdin": "json", "timeout": "30s", "output": "json", "read_only": true}
])";

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

/// A task file beside a manifest.
struct Folder {
  explicit Folder(const std::string& manifest, const std::string& more = {}) {
    write_file(folder / "functions.json", manifest);
    write_file(folder / "task.yaml",
               "version: 1\nprompt: x\ntools:\n  functions: functions.json\n" + more);
  }
  Task load() const { return load_task((folder / "task.yaml").string()); }
  std::string problems() const {
    try {
      load();
    } catch (const InputError& error) {
      std::string text = error.what();
      // As the task names it, or by its path.
      const std::string path = folder.path().string() + "/";
      for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
        text.erase(at, path.size());
      return text;
    }
    return "";
  }
  test::TemporaryFolder folder;
};

std::string manifest_with(const std::string& members) {
  return R"([{"name": "f", "description": "d", )" + members + "}]";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_manifest_is_read_with_all_that_it_says) {
  const Folder folder(kTodo);
  const Task task = folder.load();
  BOOST_TEST(task.functions_file == folder.folder / "functions.json");
  BOOST_REQUIRE(task.functions.size() == 1u);
  const TaskFunction& todos = task.functions[0];
  BOOST_TEST(todos.name == "todos");
  BOOST_TEST(todos.description == "Finds them.");
  BOOST_TEST((todos.run == Words{"./tools/todo.py", "--path", "{{path}}", "--", "{{words...}}"}));
  BOOST_TEST((todos.input == TaskFunction::Input::json));
  BOOST_TEST((todos.output == TaskFunction::Output::json));
  BOOST_TEST(todos.timeout.count() == 30000);
  BOOST_TEST(todos.read_only);
  BOOST_TEST(todos.place == "functions.json:2:3");
  BOOST_TEST(write_json(todos.parameters["required"]) == R"(["path"])");
}

BOOST_AUTO_TEST_CASE(what_is_left_out_has_its_default) {
  const Folder folder(manifest_with(R"("run": ["true"])"));
  const TaskFunction function = folder.load().functions.at(0);
  BOOST_TEST((function.input == TaskFunction::Input::none));
  BOOST_TEST((function.output == TaskFunction::Output::text));
  BOOST_TEST(function.timeout.count() == 0);
  BOOST_TEST(!function.read_only);
  BOOST_TEST(write_json(function.parameters) == R"({"type":"object","properties":{}})");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_manifest_is_said_at_its_place) {
  const std::string one = R"({"type": "object", "properties": {"path": {"type": "string"},)"
                          R"( "list": {"type": "array"}}})";
  const auto run = [&](const std::string& argv) {
    return manifest_with("\n\"parameters\": " + one + ",\n\"run\": " + argv);
  };
  const struct {
    std::string manifest;
    const char* said;
  } rows[] = {
      {"{}", "functions.json:1:1: error: "},
      {"[", "functions.json:1:2: error: "},
      {"[]", "functions.json:1:1: error: the list of functions is empty"},
      {"[5]", "functions.json:1:2: error: "},
      {R"([{"name": "f", "description": "d"}])", "key 'run' is missing in function"},
      {R"([{"name": "f", "run": ["x"]}])", "key 'description' is missing in function"},
      {manifest_with(R"("run": [])"), "'run' has no program"},
      {manifest_with(R"("run": [""])"), "the program has no name"},
      {manifest_with("\"run\": [\"x\"],\n\"timout\": \"3s\""),
       "functions.json:2:1: error: unknown key 'timout' in function; did you mean 'timeout'?"},
      {manifest_with(R"("run": ["x"], "timeout": "soon")"), "timeout"},
      {manifest_with(R"("run": ["x"], "stdin": "jsn")"), "did you mean 'json'?"},
      {manifest_with(R"("run": ["x"], "output": "xml")"), "output"},
      {manifest_with(R"("run": ["x"], "read_only": "yes")"), "read_only"},
      {manifest_with(R"("run": ["x\u0000"])"), "a NUL character in a text"},
      {R"([{"name": "a b", "description": "d", "run": ["x"]}])",
       "functions.json:1:11: error: 'name': expected 1 to 64 letters, digits, '_' and '-'"},
      {R"([{"name": "shell", "description": "d", "run": ["x"]}])",
       "functions.json:1:11: error: 'shell' is a tool of sortie's own"},
      {R"([{"name": "exec_command", "description": "d", "run": ["x"]}])", "is a tool of sortie's"},
      {R"([{"name": "mcp__a__b", "description": "d", "run": ["x"]}])", "those of MCP servers"},
      {R"([{"name": "f", "description": "d", "run": ["x"]},
           {"name": "f", "description": "d", "run": ["x"]}])",
       "functions.json:2:21: error: two functions are called 'f'"},
      {manifest_with(R"("run": ["x"], "parameters": [])"), "expected a JSON Schema, got a list"},
      {manifest_with(R"("run": ["x"], "parameters": {"type": "array"})"), "\"type\": \"object\""},
      {manifest_with(
           "\"run\": [\"x\"],\n\"parameters\": {\"type\": \"object\", \"propertis\": {}}"),
       "functions.json:2:15: error: 'parameters': "},
      {run(R"(["x", "{{pth}}"])"),
       "functions.json:3:14: error: unknown parameter 'pth'; did you mean 'path'?"},
      {run(R"(["{{path}}"])"), "functions.json:3:9: error: the program can't be chosen"},
      {run(R"(["x", "a{{list...}}"])"), "'{{list...}}' must be an element of its own"},
      {run(R"(["x", "{{path...}}"])"), "'path' is not an array"},
      {run(R"(["x", "{{list}}"])"), "'list' is an array: '{{list...}}'"},
      {run(R"(["x", "{{path"])"), "'{{' without '}}'"},
      {run(R"(["sh", "-c", "ls {{path}}"])"), "a shell would run what the model sends"},
      {run(R"(["/bin/bash", "-eu", "-c", "{{path}}"])"), "a shell would run what the model sends"},
      {run(R"(["env", "A=b", "dash", "{{path}}"])"), "a shell would run what the model sends"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.manifest) {
      const std::string said = Folder(row.manifest).problems();
      BOOST_TEST(said.find(row.said) != std::string::npos, said);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_shell_may_run_a_script_of_the_manifest_with_the_models_arguments) {
  const std::string schema = R"({"type": "object", "properties": {"path": {"type": "string"}}})";
  const char* const rows[] = {
      R"(["sh", "-c", "wc -l \"$1\"", "sh", "{{path}}"])",
      R"(["./tools/x", "--shell", "bash", "{{path}}"])",
      R"(["bash", "-eu", "./tools/x.sh", "{{path}}"])",
      R"(["x", "--path={{path}}", "\\{{literal}}"])",
  };
  for (const char* run : rows)
    BOOST_TEST(
        Folder(manifest_with("\"parameters\": " + schema + ", \"run\": " + run)).problems() == "");
}

BOOST_AUTO_TEST_CASE(a_manifest_that_cant_be_read_is_said_where_the_task_names_it) {
  const test::TemporaryFolder folder;
  write_file(folder / "task.yaml", "version: 1\nprompt: x\ntools:\n  functions: nothing.json\n");
  try {
    load_task((folder / "task.yaml").string());
    BOOST_FAIL("was loaded");
  } catch (const InputError& error) {
    const std::string said = error.what();
    BOOST_TEST(said.find("task.yaml:4:14: error: manifest '") != std::string::npos, said);
    BOOST_TEST(said.find("nothing.json': no such file") != std::string::npos, said);
  }
}

BOOST_AUTO_TEST_CASE(a_list_of_tools_names_functions_too) {
  BOOST_TEST(Folder(kTodo, "  enable: [shell, todos]\n").problems() == "");
  const std::string said = Folder(kTodo, "  enable: [shell, todo]\n").problems();
  BOOST_TEST(said.find("there is no tool 'todo'; did you mean 'todos'?") != std::string::npos,
             said);
  const std::string stages =
      "stages:\n  - {name: a, prompt: x, tools: [todos]}\n  - {name: b, prompt: x, tools: "
      "[todos]}\n";
  const Folder left_out(kTodo, "  enable: [shell]\n");
  write_file(left_out.folder / "task.yaml",
             "version: 1\ntools:\n  functions: functions.json\n  enable: [shell]\n" + stages);
  BOOST_TEST(left_out.problems().find("tools.enable leaves it out") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_digest_of_a_task_covers_what_its_manifest_says) {
  const Folder folder(manifest_with(R"("run": ["x"])"));
  const std::string before = task_digest(folder.load());
  write_file(folder.folder / "functions.json", "\n" + manifest_with(R"("run":   ["x"])"));
  BOOST_TEST(task_digest(folder.load()) == before);  // the same, laid out in another way
  write_file(folder.folder / "functions.json", manifest_with(R"("run": ["y"])"));
  BOOST_TEST(task_digest(folder.load()) != before);
}

BOOST_AUTO_TEST_CASE(the_schema_of_manifests_takes_what_the_loader_takes) {
  const JsonSchema schema(functions_schema());
  BOOST_TEST(describe(schema.check(parse_json(kTodo))) == "");
  for (const char* wrong : {"[]", "{}", R"([{"name": "f"}])", R"([{"name": "a b"}])"})
    BOOST_TEST(!schema.check(parse_json(wrong)).empty());
}

BOOST_AUTO_TEST_CASE(arguments_fill_the_argv) {
  const Json parameters = parse_json(R"({"type": "object", "properties": {
      "path": {"type": "string"}, "other": {"type": "string"},
      "n": {"type": "number", "default": 3}, "all": {"type": "boolean"},
      "words": {"type": "array"}, "more": {"type": "object"}}})");
  const struct {
    Words run;
    const char* arguments;
    Words argv;
  } rows[] = {
      {{"x", "{{path}}"}, R"({"path": "a b;$(c) '*'"})", {"x", "a b;$(c) '*'"}},
      {{"x", "{{path}}"}, R"({"path": ""})", {"x", ""}},
      {{"x", "{{path}}", "y"}, "{}", {"x", "y"}},
      {{"x", "{{path}}", "y"}, R"({"path": null})", {"x", "y"}},
      {{"x", "--n={{n}}"}, "{}", {"x", "--n=3"}},
      {{"x", "{{n}}"}, R"({"n": -1.50})", {"x", "-1.50"}},
      {{"x", "{{all}}"}, R"({"all": true})", {"x", "true"}},
      {{"x", "--path={{path}}"}, R"({"path": "-rf"})", {"x", "--path=-rf"}},
      {{"x", "--path={{path}}:{{all}}", "y"}, R"({"path": "a"})", {"x", "y"}},
      {{"x", "--", "{{path}}"}, R"({"path": "-rf"})", {"x", "--", "-rf"}},
      {{"x", "{{path}}"}, R"({"path": "-"})", {"x", "-"}},
      {{"x", "{{words...}}", "y"},
       R"({"words": ["a", "b c", 5, {"d": 1}]})",
       {"x", "a", "b c", "5", R"({"d":1})", "y"}},
      {{"x", "{{words...}}", "y"}, R"({"words": []})", {"x", "y"}},
      {{"x", "{{words...}}", "y"}, "{}", {"x", "y"}},
      {{"x", "--", "{{words...}}"}, R"({"words": ["-a"]})", {"x", "--", "-a"}},
      {{"x", "{{more}}"}, R"({"more": {"a": [1, 2]}})", {"x", R"({"a":[1,2]})"}},
      {{"x", "\\{{path}}", "${{path}}"}, R"({"path": "p"})", {"x", "{{path}}", "${{path}}"}},
      // What an argument brings in is never looked at again.
      {{"x", "{{path}}", "{{all}}"},
       R"({"path": "{{all}}", "all": false})",
       {"x", "{{all}}", "false"}},
      {{"x", "{{path}}", "{{words...}}"}, R"({"path": "--x"})", {}},
      {{"x", "{{path}}y"}, R"({"path": "-e"})", {}},
      {{"x", "{{words...}}"}, R"({"words": ["a", "-b"]})", {}},
      // Nor can several arguments, or one with the manifest's own text behind it, make an option.
      {{"x", "{{path}}{{other}}"}, R"({"path": "-", "other": "-exec=x"})", {}},
      {{"x", "{{path}}{{other}}"}, R"({"path": "", "other": "-x"})", {}},
      {{"x", "{{path}}-{{other}}"}, R"({"path": "", "other": "x"})", {}},
      {{"x", "{{path}}y"}, R"({"path": "-"})", {}},
      {{"x", "{{n}}{{path}}"}, R"({"n": -1, "path": "x"})", {}},
      {{"x", "{{n}},{{n}}"}, R"({"n": -1})", {"x", "-1,-1"}},
      {{"x", "{{path}}{{other}}"}, R"({"path": "a", "other": "-x"})", {"x", "a-x"}},
      {{"x", "--", "{{path}}{{other}}"}, R"({"path": "-", "other": "x"})", {"x", "--", "-x"}},
      {{"x", "+{{path}}"}, R"({"path": "-x"})", {"x", "+-x"}},
      // It is the manifest that ends the options, not the model.
      {{"x", "{{path}}", "{{all}}", "{{words...}}"}, R"({"path": "a", "words": ["--", "-b"]})", {}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.arguments) {
      const Json arguments = parse_json(row.arguments);
      if (row.argv.empty())
        BOOST_CHECK_THROW(fill_argv(row.run, parameters, arguments), ToolError);
      else
        BOOST_TEST(fill_argv(row.run, parameters, arguments) == row.argv,
                   boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
