#include "policies/review/rule_line.h"

#include <boost/test/unit_test.hpp>

#include "core/json/flow_yaml.h"
#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"
#include "tests/policies/policies.h"

using namespace sortie;

namespace {

constexpr const char* kWorkspace = "/w";
const std::vector<std::filesystem::path> kFolders = {"/usr/bin", "/bin"};

struct Strict {
  Policy policy = load_policy("strict");
  Engine engine{policy, Approval::deny_by_default, kWorkspace, "/out", kFolders};
};

RunCommand command(std::vector<std::string> argv) { return {std::move(argv), kWorkspace}; }
RunCommand script(const std::string& text) { return command({"bash", "-c", text}); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rule_line, Strict)

BOOST_AUTO_TEST_CASE(the_line_allows_what_it_was_made_for_and_the_loader_takes_it) {
  const struct {
    Action action;
    const char* yaml;
  } rows[] = {
      {command({"cargo", "test", "-q"}), "commands: [{allow: [cargo, test]}]"},
      {command({"pytest", "-q"}), "commands: [{allow: [pytest]}]"},
      {command({"make"}), "commands: [{allow: [make]}]"},
      {command({"make", "check", "V=1"}), "commands: [{allow: [make, check, \"V=1\"]}]"},
      {command({"rm", "src/x.c"}), "commands: [{allow: [rm, src/x.c]}]"},
      {command({"npm", "run", "build", "--", "-x"}), "commands: [{allow: [npm, run, build]}]"},
      {command({"npm", "install", "x"}), "commands: [{allow: [npm, install, x]}]"},
      {command({"cargo", "+nightly", "test"}), "commands: [{allow: [cargo, \"+nightly\", test]}]"},
      {command({"tool", "null", "1", "a: b", "#x", "é \"q\"", "~", "yes"}),
       "commands: [{allow: [tool, \"null\", \"1\", \"a: b\", \"#x\", \"é \\\"q\\\"\", \"~\", "
       "\"yes\"]}]"},
      {command({"python3", "setup.py", "test"}), "commands: [{allow: [python3, setup.py, test]}]"},
      {command({"/usr/bin/cargo", "test"}), "commands: [{allow: [/usr/bin/cargo, test]}]"},
      {script("ls src && cargo test -q | tail -n 3; cargo fmt --check"),
       "commands: [{allow: [cargo, test]}, {allow: [cargo, fmt]}]"},
      {script("cd src && cargo test"), "commands: [{allow: [cargo, test]}]"},
      // Known programs in a form that is not read-only.
      {command({"git", "add", "."}), "commands: [{allow: [git, add]}]"},
      {command({"git", "commit", "-m", "x"}), "commands: [{allow: [git, commit]}]"},
      {script("git status && git add src/a.c"), "commands: [{allow: [git, add]}]"},
      {command({"sed", "-i", "s/a/b/", "x"}), "commands: [{allow: [sed, -i, s/a/b/, x]}]"},
      {command({"sort", "-o", "x", "a"}), "commands: [{allow: [sort, -o, x, a]}]"},
      {command({"find", "src", "-delete"}), "commands: [{allow: [find, src, -delete]}]"},
      // What a wrapper runs.
      {command({"timeout", "60", "cargo", "test"}), "commands: [{allow: [cargo, test]}]"},
      {script("CI=1 timeout 60 cargo test; echo $?"), "commands: [{allow: [cargo, test]}]"},
      {script("for t in a b; do cargo test $t; done"), "commands: [{allow: [cargo, test]}]"},
      {CallTool{"mcp:issues/create"}, "tools: [{allow: [\"mcp:issues/create\"]}]"},
      {WritePath{"/data/x"}, "paths: {write: [\".\", /data/x]}"},
      {WritePath{"../x"}, "paths: {write: [\".\", /x]}"},
      {ReadPath{"/data/x y"}, "paths: {read: [\"/data/x y\"]}"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.yaml) {
      const Decision before = engine.decide(row.action);
      BOOST_TEST((before.effect == Effect::deny));
      BOOST_TEST(before.unmatched);
      const std::string yaml = flow_yaml_lines(lines_that_allow({row.action}, engine));
      BOOST_TEST(yaml == row.yaml);
      const Policy extended =
          parse_policy("version: 1\nextends: strict\n" + yaml + "\n", "policy.yaml", "/");
      const Engine allowing(extended, Approval::deny_by_default, kWorkspace, "/out", kFolders);
      const Decision after = allowing.decide(row.action);
      BOOST_TEST((after.effect == Effect::allow), after.reason);
      // No more than before where the workspace is concerned.
      BOOST_TEST((allowing.decide(WritePath{"src/a"}).effect == Effect::allow));
    }
  }
}

BOOST_AUTO_TEST_CASE(there_is_no_line_where_none_should_be) {
  const std::vector<Action> rows = {
      command({"sudo", "ls"}),
      command({"env", "-i", "ls"}),
      command({"bash", "run.sh"}),
      command({"python3", "-c", "print(1)"}),
      command({"python3", "-Bc", "print(1)"}),
      command({"python3.11", "-c", "print(1)"}),
      command({"python3"}),
      command({"python3", "-"}),
      command({"node", "--eval=1"}),
      command({"node", "-p", "1"}),
      command({"perl", "-ne", "print"}),
      command({"awk", "BEGIN{system(\"id\")}"}),
      command({"ruby", "-e", "1"}),
      command({"./x"}),
      command({"../bin/x"}),
      command({}),
      command({""}),
      command({"tool", "a\nb"}),
      command({"tool", "\xff"}),
      script("cargo test $x"),
      script("cargo test && python3 -c 1"),
      script("cargo test && env -i ls"),
      CallTool{"mcp:*"},
      WritePath{"/data/*"},
  };
  for (const Action& action : rows) {
    const Json lines = lines_that_allow({action}, engine);
    BOOST_TEST(lines.is_null(), write_json(lines));
  }
  BOOST_TEST(flow_yaml_lines({}) == "");
}

BOOST_AUTO_TEST_CASE(several_actions_make_one_set_of_lines) {
  const Json lines =
      lines_that_allow({CallTool{"x"}, command({"cargo", "test"}), command({"cargo", "test", "-q"}),
                        WritePath{"/data/a"}, WritePath{"/data/b"}},
                       engine);

  BOOST_TEST(flow_yaml_lines(lines) ==
             "commands: [{allow: [cargo, test]}]\ntools: [{allow: [x]}]\n"
             "paths: {write: [\".\", /data/a, /data/b]}");
  BOOST_TEST(lines_that_allow({CallTool{"x"}, command({"sudo"})}, engine).is_null());
}

BOOST_AUTO_TEST_CASE(an_always_covers_the_same_command_and_nothing_else) {
  const struct {
    RunCommand said;  ///< always was said to it
    RunCommand later;
    bool covered;
  } rows[] = {
      {command({"cargo", "test"}), command({"cargo", "test", "-q"}), true},
      {command({"cargo", "test", "-q"}), command({"cargo", "test"}), true},
      {command({"cargo", "test"}), command({"cargo", "install", "x"}), false},
      {command({"cargo", "test"}), command({"cargo", "publish"}), false},
      {command({"cargo"}), command({"cargo", "test"}), false},
      {command({"cargo", "+nightly", "test"}), command({"cargo", "+nightly", "install"}), false},
      {command({"git", "-C", "a", "fetch"}), command({"git", "-C", "a", "push"}), false},
      {command({"git", "stash", "list"}), command({"git", "stash", "drop"}), false},
      {command({"npm", "run", "build"}), command({"npm", "run", "deploy"}), false},
      {command({"npm", "run"}), command({"npm", "run", "deploy"}), false},
      {command({"npm", "run", "build"}), command({"npm", "run", "build", "x"}), true},
      {command({"npm", "install", "x"}), command({"npm", "install", "y"}), false},
      {command({"rm", "x"}), command({"rm", "x"}), true},
      {command({"rm", "x"}), command({"rm", "x", "-rf", "/"}), false},
      {command({"rm", "x"}), {{"rm", "x"}, "/w/other"}, false},
      {command({"make"}), command({"make", "install"}), false},
      {command({"make", "test"}), command({"make", "test", "install"}), false},
      {command({"python3", "a.py"}), command({"python3", "-c", "1"}), false},
      {command({"python3", "-c", "1"}), command({"python3", "-c", "2"}), false},
      {command({"poetry", "run", "x"}), command({"poetry", "run", "y"}), false},
      {command({"pytest", "a"}), command({"pytest", "-q", "b"}), true},
      {command({"tool", "a"}), command({"tool", "b"}), false},
      {command({"tool"}), command({"/tmp/tool"}), false},
      {script("cargo test && npm run build"), command({"cargo", "test", "-q"}), true},
      {script("cargo test && npm run build"), script("npm run build; cargo test -q"), true},
      {script("cargo test && npm run build"), script("cargo test; npm run deploy"), false},
      {command({"cargo", "test"}), script("ls && cargo test | tail -n 1"), true},
      {command({"cargo", "test"}), script("cargo test && rm x"), false},
      {script("cd src && cargo test"), script("cd src && cargo test"), true},
      {script("cd src && cargo test"), script("cd other && cargo test"), false},
      {script("tool a"), script("tool a < /etc/x"), false},
      {script("tool src/*"), script("tool src/*"), true},
      {script("tool src/*"), script("tool src/* x"), false},
      {script("tool $x"), script("tool $x"), true},
      {script("tool $x"), script("tool $y"), false},
  };
  for (const auto& row : rows) {
    std::vector<std::string> said;
    for (const Json& key : approval_keys(row.said, engine)) said.push_back(write_json(key));
    bool covered = true;
    std::string keys;
    for (const Json& key : approval_keys(row.later, engine)) {
      keys += write_json(key);
      covered = covered && std::find(said.begin(), said.end(), write_json(key)) != said.end();
    }
    BOOST_TEST(!keys.empty());
    BOOST_TEST(covered == row.covered, said.at(0) << " … " << keys);
  }
}

BOOST_AUTO_TEST_SUITE_END()
