#include "policies/engine/engine.h"

#include <boost/test/unit_test.hpp>

#include "policies/file/policy_loader.h"
#include "tests/policies/policies.h"

using namespace sortie;
using tests::command_rule;

namespace {

const std::filesystem::path kWorkspace = "/home/user/project";

Decision decide(const Policy& policy, const Action& action) {
  return Engine(policy, policy.approval, kWorkspace, kWorkspace / "sortie-out",
                {"/usr/bin", "/bin"})
      .decide(action);
}

Decision run(const Policy& policy, std::vector<std::string> argv) {
  return decide(policy, RunCommand{std::move(argv), kWorkspace});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(engine)

BOOST_AUTO_TEST_CASE(deny_by_default_allows_what_a_rule_names_and_says_why_else) {
  const Policy policy = tests::strict_policy(
      {command_rule(Effect::allow, {{"cargo"}, {"build", "test"}}, {"--config*"}),
       command_rule(Effect::allow, {{"timeout"}, {"5"}, {"make"}}),
       command_rule(Effect::allow, {{"bash"}, {"check.sh"}}),
       command_rule(Effect::allow, {{"/opt/tool/bin/lint"}})});
  const struct {
    std::vector<std::string> argv;
    Effect effect;
    const char* reason;
  } rows[] = {
      {{"git", "status"}, Effect::allow, ""},
      {{"ls"}, Effect::allow, ""},
      {{"cargo", "test"}, Effect::allow, ""},
      {{"cargo", "test", "-q"}, Effect::allow, ""},
      {{"/usr/bin/cargo", "build"}, Effect::allow, ""},
      {{"timeout", "5", "make", "x"}, Effect::allow, ""},
      {{"bash", "check.sh"}, Effect::allow, ""},
      {{"/opt/tool/bin/lint", "x"}, Effect::allow, ""},
      {{"/opt/tool/bin/other", "x"}, Effect::deny, "is a path, not the bare name"},
      {{"rm", "x"}, Effect::deny, "no rule allows rm"},
      {{"cargo", "install", "x"}, Effect::deny, "no rule allows cargo"},
      {{"cargo"}, Effect::deny, "no rule allows cargo"},
      {{"cargo", "+nightly", "test"}, Effect::deny, "no rule allows cargo"},
      {{"cargo", "test", "--config=a"}, Effect::deny, "but_not of policy.yaml:7"},
      {{"env", "rm", "x"}, Effect::deny, "no rule allows rm"},
      {{"env", "cargo", "test"}, Effect::allow, ""},
      {{"env", "-i", "cargo", "test"}, Effect::deny, "env runs another command"},
      {{"env", "PATH=.", "cargo", "test"}, Effect::deny, "env runs another command"},
      {{"timeout", "5", "rm", "x"}, Effect::deny, "no rule allows rm"},
      {{"timeout", "5", "cargo", "test", "--config=a"}, Effect::deny, "but_not of policy.yaml:7"},
      {{"git", "-c", "core.pager=x", "log"}, Effect::deny, "not read-only: --no-pager is the only"},
      {{"bash", "-c", "ls; rm x"}, Effect::deny, "no rule allows rm (command 2 of the script)"},
      {{"bash", "check.sh2"}, Effect::deny, "it needs a rule"},
      {{"bash", "-c", "check.sh"}, Effect::deny, "no rule allows check.sh"},
      {{"bash", "-e", "-c", "ls"}, Effect::deny, "a nested shell can't be checked"},
      {{"./ls"}, Effect::deny, "./ls is a path, not the bare name"},
      {{"./cargo", "test"}, Effect::deny, "is a path, not the bare name"},
      {{"/tmp/cargo", "test"}, Effect::deny, "is a path, not the bare name"},
      {{}, Effect::deny, "the command is empty"},
      {{""}, Effect::deny, "the command has no name"},
      {{"ls", std::string("a\0b", 3)}, Effect::deny, "NUL"},
  };
  for (const auto& row : rows) {
    const Decision decision = run(policy, row.argv);
    BOOST_TEST_CONTEXT(decision.part << ": " << decision.reason) {
      BOOST_TEST((decision.effect == row.effect));
      BOOST_TEST(contains(decision.reason, row.reason));
      BOOST_TEST((row.effect == Effect::deny || decision.rule.line > 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_denied_command_hears_what_is_allowed_instead) {
  const Policy policy = tests::strict_policy({command_rule(Effect::allow, {{"cargo"}, {"test"}})});
  const Decision decision = run(policy, {"unknown", "x"});
  BOOST_TEST(contains(decision.instead, "read-only commands"));
  BOOST_TEST(contains(decision.instead, "cargo test"));
  BOOST_TEST(contains(decision.instead, "direct argv"));
  BOOST_TEST(decision.instead.size() <= 300u);
  BOOST_TEST(contains(run(policy, {"rm", "x"}).instead, "*** Delete File"));
  BOOST_TEST(contains(run(policy, {"sed", "-i", "s/a/b/", "x"}).instead, "apply_patch"));
  BOOST_TEST(contains(run(policy, {"bash", "-c", "ls > x"}).instead, "apply_patch"));
}

BOOST_AUTO_TEST_CASE(a_working_folder_outside_the_workspace_is_denied) {
  const Policy policy = tests::strict_policy();
  BOOST_TEST((decide(policy, RunCommand{{"ls"}, "/"}).effect == Effect::deny));
  BOOST_TEST((decide(policy, RunCommand{{"ls"}, kWorkspace / ".."}).effect == Effect::deny));
  BOOST_TEST((decide(policy, RunCommand{{"ls"}, kWorkspace / "src"}).effect == Effect::allow));
}

BOOST_AUTO_TEST_CASE(forbid_is_stronger_than_deny_and_deny_than_allow) {
  const Policy policy = tests::strict_policy({
      command_rule(Effect::allow, {{"git"}}),
      command_rule(Effect::deny, {{"git"}, {"push"}}),
      command_rule(Effect::forbid, {{"git"}, {"push"}, {"--force"}}),
  });
  BOOST_TEST((run(policy, {"git", "fetch"}).effect == Effect::allow));
  BOOST_TEST((run(policy, {"git", "push"}).effect == Effect::deny));
  BOOST_TEST((run(policy, {"git", "push", "--force"}).effect == Effect::forbid));
}

BOOST_AUTO_TEST_CASE(deny_rules_hold_in_full_auto_however_the_command_is_spelled) {
  const Policy policy =
      tests::auto_policy({command_rule(Effect::deny, {{"git"}, {"push"}}, {"--dry-run"}),
                          command_rule(Effect::forbid, {{"sudo"}})});
  const struct {
    std::vector<std::string> argv;
    Effect effect;
  } rows[] = {
      {{"rm", "-rf", "x"}, Effect::allow},
      {{"./build.sh"}, Effect::allow},
      {{"git", "status"}, Effect::allow},
      {{"git", "log", "push"}, Effect::allow},
      {{"git", "push", "--dry-run"}, Effect::allow},
      {{"grep", "sudo", "x"}, Effect::allow},
      {{"git", "push"}, Effect::deny},
      {{"git", "-C", ".", "push"}, Effect::deny},
      {{"git", "-c", "a=b", "--no-pager", "push"}, Effect::deny},
      {{"/usr/bin/git", "push"}, Effect::deny},
      {{"./git", "push"}, Effect::deny},
      {{"../../x/git", "push"}, Effect::deny},
      {{"env", "A=1", "-i", "git", "push"}, Effect::deny},
      {{"env", "-u", "HOME", "git", "push"}, Effect::deny},
      {{"/usr/bin/env", "git", "push"}, Effect::deny},
      {{"env", "-S", "git push"}, Effect::deny},
      {{"env", "-S git push"}, Effect::deny},
      {{"env", "--split=git push"}, Effect::deny},
      {{"timeout", "-k", "5", "10", "git", "push"}, Effect::deny},
      {{"nice", "-n", "5", "nohup", "git", "push"}, Effect::deny},
      {{"nice", "-5", "git", "push"}, Effect::deny},
      {{"xargs", "-n", "1", "git", "push"}, Effect::deny},
      {{"xargs", "--unknown", "x", "git", "push"}, Effect::deny},
      {{"stdbuf", "-oL", "setsid", "-w", "git", "push"}, Effect::deny},
      {{"busybox", "sudo"}, Effect::forbid},
      {{"find", ".", "-exec", "sudo", "{}", ";"}, Effect::forbid},
      {{"find", ".", "-name", "a", "-okdir", "git", "push", "+"}, Effect::deny},
      {{"timeout", "5", "grep", "sudo", "x"}, Effect::allow},
      {{"sudo", "ls"}, Effect::forbid},
      {{"bash", "-c", "ls && make"}, Effect::allow},
      {{"bash", "-c", "git status | head"}, Effect::allow},
      {{"bash", "-c", "for f in *.c; do echo $f; done"}, Effect::allow},
      {{"bash", "-c", "git commit -m \"$(date)\""}, Effect::allow},
      {{"bash", "-c", "git add *"}, Effect::allow},
      {{"bash", "-c", "git push"}, Effect::deny},
      {{"bash", "-c", "ls; git push --dry-run"}, Effect::allow},
      {{"bash", "-lc", "cd x && git -C . push"}, Effect::deny},
      {{"bash", "-euo", "pipefail", "-c", "git push"}, Effect::deny},
      {{"/bin/bash", "-c", "git push"}, Effect::deny},
      {{"sh", "-c", "'git' \"push\""}, Effect::deny},
      {{"sh", "-c", "g''it pu\\sh"}, Effect::deny},
      {{"sh", "-c", "git pu\\\nsh"}, Effect::deny},
      {{"sh", "-c", "git $x"}, Effect::deny},
      {{"sh", "-c", "g$(echo i)t push"}, Effect::deny},
      {{"sh", "-c", "g`echo i`t push"}, Effect::deny},
      {{"sh", "-c", "g${x:-i}t push"}, Effect::deny},
      {{"sh", "-c", "git -C x$(pwd) push"}, Effect::deny},
      {{"sh", "-c", "git -C 'a b' push"}, Effect::deny},
      {{"sh", "-c", "git -C a\\ b\\ c push"}, Effect::deny},
      {{"sh", "-c", "echo ${x:-$(git push)}"}, Effect::deny},
      {{"sh", "-c", "git commit -m 'a push b'"}, Effect::allow},
      {{"sh", "-c", "make -j$(nproc) && \"./$x/run\""}, Effect::allow},
      {{"sh", "-c", "$x push"}, Effect::deny},
      {{"sh", "-c", "$x"}, Effect::deny},
      {{"sh", "-c", "/usr/bin/g?t push"}, Effect::deny},
      {{"sh", "-c", "/us$x push"}, Effect::deny},
      {{"sh", "-c", "{git,push}"}, Effect::deny},
      {{"sh", "-c", "g[i]t push"}, Effect::deny},
      {{"sh", "-c", "$'\\x67it' push"}, Effect::deny},
      {{"sh", "-c", "eval \"git push\""}, Effect::deny},
      {{"sh", "-c", "eval $x"}, Effect::deny},
      {{"sh", "-c", "echo Z2l0IHB1c2g= | base64 -d | sh"}, Effect::deny},
      {{"sh", "-c", "bash -c 'git push'"}, Effect::deny},
      {{"sh", "-c", "A=1 git push"}, Effect::deny},
      {{"sh", "-c", "echo `git push`"}, Effect::deny},
      {{"sh", "-c", "echo $(git push)"}, Effect::deny},
      {{"sh", "-c", "echo \"$(git push)\""}, Effect::deny},
      {{"sh", "-c", "if true; then git push; fi"}, Effect::deny},
      {{"sh", "-c", "x=sudo; $x ls"}, Effect::deny},
      {{"sh", "-c", "sudo ls"}, Effect::forbid},
      {{"sh", "-c", "ls $x | 2>&1 sudo ls"}, Effect::forbid},
      {{"sh", "-c", "grep 'a$' $x; git push"}, Effect::deny},
      {{"sh", "-c", "ls\n/usr/bin/sudo ls"}, Effect::forbid},
      {{"sh", "-c", "echo 'sudo'"}, Effect::allow},
      {{"sh", "-c", "echo 'sudo' $x"}, Effect::deny},
      {{"env", "bash", "-c", "sudo ls"}, Effect::forbid},
      {{"su", "root", "-c", "sudo ls"}, Effect::deny},
      {{"sh", "-c", "`echo git` push"}, Effect::deny},
      {{"sh", "-c", "x=`date` `echo git` push"}, Effect::deny},
      {{"sh", "-c", "echo `date` `hostname`"}, Effect::allow},
      {{"sh", "-c", "echo `echo \\`git push\\``"}, Effect::deny},
      {{"sh", "-c", "git >x push"}, Effect::deny},
      {{"sh", "-c", "git 2>x push"}, Effect::deny},
      {{"sh", "-c", "git &>x push"}, Effect::deny},
      {{"sh", "-c", "git <<EOF push\nx\nEOF"}, Effect::deny},
      {{"sh", "-c", "git status >push"}, Effect::allow},
      {{"sh", "-c", "git `echo push`"}, Effect::deny},
      {{"sh", "-c", "git >`echo x` push"}, Effect::deny},
      {{"sh", "-c", "git > \"x y\" push"}, Effect::deny},
      {{"sh", "-c", "read x <f; bash -c \"$x\""}, Effect::deny},
      {{"bash", "-c", "bash -c \"$x\""}, Effect::deny},
      {{"git", "-c", "alias.p=push", "p"}, Effect::deny},
      {{"git", "-c", "core.pager=cat", "log"}, Effect::allow},
      {{"flock", "x", "-c", "git push"}, Effect::deny},
      {{"flock", "x", "git", "push"}, Effect::deny},
      {{"parallel", "git", ":::", "push"}, Effect::deny},
      {{"git", "bisect", "run", "git", "push"}, Effect::deny},
      {{"git", "submodule", "foreach", "git push"}, Effect::deny},
      {{"git", "rebase", "-ix", "git push", "main"}, Effect::deny},
      {{"git", "rebase", "--exec=git push", "main"}, Effect::deny},
      {{"git", "clean", "-fdx"}, Effect::allow},
      {{"fd", "x", "-x", "git", "push"}, Effect::deny},
      {{}, Effect::deny},
      {{"ls", std::string("\0", 1)}, Effect::deny},
  };
  for (const auto& row : rows) {
    const Decision decision = run(policy, row.argv);
    std::string shown;
    for (const std::string& word : row.argv) shown += word + ' ';
    BOOST_TEST((decision.effect == row.effect), shown << ": " << decision.reason);
  }
}

BOOST_AUTO_TEST_CASE(full_auto_without_rules_allows_scripts) {
  const Policy policy = tests::auto_policy();
  BOOST_TEST((run(policy, {"bash", "-c", "$x | sh"}).effect == Effect::allow));
  BOOST_TEST((run(policy, {"./x"}).effect == Effect::allow));
}

BOOST_AUTO_TEST_CASE(a_stricter_approval_wins_over_the_policys) {
  const Policy policy = tests::auto_policy();
  const Engine engine(policy, Approval::deny_by_default, kWorkspace, {}, {"/usr/bin"});
  const Decision decision = engine.decide(RunCommand{{"ls"}, kWorkspace});
  BOOST_TEST((decision.effect == Effect::deny));
  BOOST_TEST(decision.instead == "no command is allowed here");
}

BOOST_AUTO_TEST_CASE(audit_allows_and_keeps_what_strict_rules_would_have_said) {
  Policy policy = tests::strict_policy({command_rule(Effect::allow, {{"cargo"}, {"test"}}),
                                        command_rule(Effect::forbid, {{"sudo"}})});
  // The text of a rule is for people: what it begins with says nothing of the rule's effect.
  policy.commands.push_back(command_rule(Effect::deny, {{"mkfs"}}));
  policy.commands.back().place.text = "forbid {deny: mkfs}";
  policy.tools = {{.effect = Effect::deny, .names = {"apply_patch"}, .why = "no", .place = {}}};
  const Engine strict(policy, Approval::deny_by_default, kWorkspace, {}, {"/usr/bin"});
  const Engine audit(policy, Approval::audit, kWorkspace, {}, {"/usr/bin"});
  const struct {
    Action action;
    std::optional<Effect> audited;
    Effect effect;
  } rows[] = {
      {RunCommand{{"ls"}, kWorkspace}, {}, Effect::allow},
      {RunCommand{{"cargo", "test"}, kWorkspace}, {}, Effect::allow},
      {RunCommand{{"rm", "x"}, kWorkspace}, Effect::deny, Effect::allow},
      {RunCommand{{"sudo", "ls"}, kWorkspace}, Effect::forbid, Effect::allow},
      {RunCommand{{"mkfs"}, kWorkspace}, Effect::deny, Effect::allow},
      {RunCommand{{"timeout", "--odd", "sudo"}, kWorkspace}, Effect::deny, Effect::allow},
      {RunCommand{{"bash", "-c", "$x"}, kWorkspace}, Effect::deny, Effect::allow},
      {RunCommand{{"cargo", std::string("\0", 1)}, kWorkspace}, {}, Effect::deny},
      {RunCommand{{}, kWorkspace}, {}, Effect::deny},
      {CallTool{"shell"}, Effect::deny, Effect::allow},
      {CallTool{"apply_patch"}, Effect::deny, Effect::allow},
      {WritePath{".git/config"}, {}, Effect::deny},
      {ReadPath{".env"}, {}, Effect::deny},
  };
  for (const auto& row : rows) {
    const Decision decision = audit.decide(row.action);
    Decision expected = strict.decide(row.action);
    expected.effect = row.effect;
    expected.audited = row.audited;
    BOOST_TEST((decision == expected), decision.part << ": " << decision.reason);
  }
  BOOST_TEST(audit.shows_tool("apply_patch"));
  BOOST_TEST(!strict.shows_tool("apply_patch"));
}

BOOST_AUTO_TEST_CASE(hostile_argv_are_decided_in_linear_time) {
  const Policy policy = tests::strict_policy({command_rule(Effect::deny, {{"git"}, {"push"}})});
  std::vector<std::string> wrappers;
  for (int i = 0; i < 3000; ++i) wrappers.insert(wrappers.end(), {"env", "--unknown"});
  std::string script;
  for (int i = 0; i < 20000; ++i) script += "git -a ";

  BOOST_TEST((run(policy, wrappers).effect == Effect::deny));
  BOOST_TEST((run(policy, {"bash", "-c", script}).effect == Effect::deny));
  BOOST_TEST((run(policy, {"bash", "-c", std::string(200000, '$')}).effect == Effect::deny));
}

BOOST_AUTO_TEST_CASE(tools_are_shown_when_a_rule_allows_them) {
  Policy policy = tests::strict_policy();
  policy.tools = {
      {.effect = Effect::allow, .names = {"shell", "mcp__issues__*"}, .why = {}, .place = {}},
      {.effect = Effect::deny, .names = {"mcp__issues__delete_*"}, .why = "no", .place = {}}};
  const Engine strict(policy, Approval::deny_by_default, kWorkspace, {}, {});
  const Engine loose(policy, Approval::full_auto, kWorkspace, {}, {});

  BOOST_TEST(strict.shows_tool("shell"));
  BOOST_TEST(!strict.shows_tool("apply_patch"));
  BOOST_TEST(strict.shows_tool("run_tests"));
  BOOST_TEST(strict.shows_tool("mcp__issues__list"));
  BOOST_TEST(!strict.shows_tool("mcp__issues__delete_all"));
  BOOST_TEST(loose.shows_tool("apply_patch"));
  BOOST_TEST(!loose.shows_tool("mcp__issues__delete_all"));
  const Decision denied = strict.decide(CallTool{"apply_patch"});
  BOOST_TEST((denied.effect == Effect::deny));
  BOOST_TEST(denied.reason == "no rule allows the tool apply_patch");
}

BOOST_AUTO_TEST_CASE(the_presets_decide_as_they_promise) {
  const struct {
    const char* preset;
    Action action;
    Effect effect;
  } rows[] = {
      {"strict", RunCommand{{"git", "status"}, kWorkspace}, Effect::allow},
      {"strict", RunCommand{{"ls"}, kWorkspace}, Effect::allow},
      {"strict", RunCommand{{"rm", "x"}, kWorkspace}, Effect::deny},
      {"strict", RunCommand{{"env", "rm", "x"}, kWorkspace}, Effect::deny},
      {"strict", RunCommand{{"bash", "-c", "ls; rm x"}, kWorkspace}, Effect::deny},
      {"strict", RunCommand{{"./ls"}, kWorkspace}, Effect::deny},
      {"strict", CallTool{"apply_patch"}, Effect::allow},
      {"strict", WritePath{"src/a.c"}, Effect::allow},
      {"strict", WritePath{".git/config"}, Effect::deny},
      {"strict", WritePath{".github/workflows/x.yml"}, Effect::deny},
      {"strict", WritePath{"a/CODEOWNERS"}, Effect::deny},
      {"strict", ReadPath{".env"}, Effect::deny},
      {"strict", ReadPath{"/etc/shadow"}, Effect::deny},
      {"strict", ReadPath{"/root/.ssh/id_rsa"}, Effect::deny},
      {"review", RunCommand{{"git", "log"}, kWorkspace}, Effect::allow},
      {"review", CallTool{"apply_patch"}, Effect::deny},
      {"review", CallTool{"read_file"}, Effect::allow},
      {"review", WritePath{"src/a.c"}, Effect::deny},
      {"auto", RunCommand{{"rm", "x"}, kWorkspace}, Effect::allow},
      {"auto", RunCommand{{"bash", "-c", "ls; rm x"}, kWorkspace}, Effect::allow},
      {"auto", CallTool{"apply_patch"}, Effect::allow},
      {"auto", WritePath{".git/config"}, Effect::deny},
      {"auto", ReadPath{"/etc/shadow"}, Effect::deny},
      {"cpp", RunCommand{{"make", "$(shell ./evil)=x"}, kWorkspace}, Effect::deny},
      {"cpp", RunCommand{{"make", ".SHELLFLAGS=-c ./evil;"}, kWorkspace}, Effect::deny},
      {"cpp", RunCommand{{"gcc", "-fsyntax-only", "--prefix=./evil/", "a.c"}, kWorkspace},
       Effect::deny},
      {"cpp", RunCommand{{"ctest", "--output-on-failure"}, kWorkspace}, Effect::allow},
      {"node", RunCommand{{"npm", "test", "-script-shell=./evil"}, kWorkspace}, Effect::deny},
      {"node", RunCommand{{"npm", "test", "--", "--coverage"}, kWorkspace}, Effect::allow},
  };
  for (const auto& row : rows) {
    const Policy policy = load_policy(row.preset);
    const Decision decision = decide(policy, row.action);
    BOOST_TEST((decision.effect == row.effect),
               row.preset << ": " << decision.part << ": " << decision.reason);
  }
  const Policy review = load_policy("review");
  BOOST_TEST(!Engine(review, review.approval, kWorkspace, {}, {}).shows_tool("apply_patch"));
}

BOOST_AUTO_TEST_CASE(the_strictest_decision_is_the_first_of_equals) {
  const Decision allow{.effect = Effect::allow, .part = "a"};
  const Decision deny{.effect = Effect::deny, .part = "b"};
  const Decision other{.effect = Effect::deny, .part = "c"};
  BOOST_TEST((strictest({allow, deny, other}) == deny));
  BOOST_TEST((strictest({}).effect == Effect::deny));
  BOOST_TEST(write_json(to_json(deny)) == R"({"decision":"deny","part":"b"})");
}

BOOST_AUTO_TEST_CASE(a_stage_takes_away_and_never_gives) {
  Policy policy = tests::strict_policy({command_rule(Effect::allow, {{"make"}})});
  policy.write = {"src"};
  for (const Approval approval :
       {Approval::deny_by_default, Approval::full_auto, Approval::audit}) {
    BOOST_TEST_CONTEXT(name_of(approval)) {
      Engine engine(policy, approval, kWorkspace, {}, {"/usr/bin", "/bin"});
      const auto effect = [&](const Action& action) { return engine.decide(action).effect; };
      const bool patches = effect(CallTool{"apply_patch"}) == Effect::allow;
      const Effect reads = effect(CallTool{"read_file"});
      BOOST_REQUIRE((effect(WritePath{"src/a"}) == Effect::allow));

      engine.limit_to({.stage = "plan", .read_only = true, .tools = {"read_file", "shell"}});

      BOOST_TEST((effect(CallTool{"apply_patch"}) == Effect::deny));
      BOOST_TEST(!engine.shows_tool("apply_patch"));
      BOOST_TEST((effect(CallTool{"read_file"}) == reads));
      BOOST_TEST((effect(WritePath{"src/a"}) == Effect::deny));
      BOOST_TEST((effect(WritePath{"other"}) == Effect::deny));
      BOOST_TEST((effect(ReadPath{"src/a"}) == Effect::allow));
      // What a command writes is held by its sandbox.
      BOOST_TEST((effect(RunCommand{{"make"}, kWorkspace}) == Effect::allow));
      if (patches)
        BOOST_TEST(contains(engine.decide(CallTool{"apply_patch"}).reason,
                            "the stage 'plan' does not have this tool"));

      engine.limit_to({});

      BOOST_TEST((effect(WritePath{"src/a"}) == Effect::allow));
      BOOST_TEST((effect(CallTool{"apply_patch"}) == Effect::allow) == patches);
      engine.limit_to({.stage = "do", .tools = {"shell"}});
      BOOST_TEST((effect(WritePath{"other"}) == Effect::deny));
    }
  }
}

BOOST_AUTO_TEST_CASE(git_is_held_where_the_class_allows_it_and_nowhere_else) {
  const Policy policy = tests::strict_policy({command_rule(Effect::allow, {{"git"}, {"commit"}}),
                                              command_rule(Effect::allow, {{"make"}}),
                                              command_rule(Effect::allow, {{"env"}})});
  const struct {
    std::vector<std::string> argv;
    bool held;
  } rows[] = {
      {{"git", "status"}, true},
      {{"/usr/bin/git", "log"}, true},
      {{"bash", "-c", "ls && git diff | cat"}, true},
      {{"bash", "-c", "git commit -m x && git status"}, true},
      {{"git", "stash"}, true},  // by nothing, so that an approver was asked
      {{"bash", "-c", "git $(x)"}, true},
      {{"git", "commit", "-m", "x"}, false},
      {{"bash", "-c", "git commit -m x"}, false},
      {{"env", "git", "init"}, false},
      {{"make", "git"}, false},
      {{"ls", "git"}, false},
      {{"bash", "-c", "ls git; make"}, false},
      {{"bash"}, false},
      {{}, false},
  };
  for (const auto& row : rows) {
    std::string shown;
    for (const std::string& word : row.argv) shown += word + ' ';
    const RunCommand command{row.argv, kWorkspace};
    const auto held = [&](Approval approval) {
      return Engine(policy, approval, kWorkspace, {}, {"/usr/bin", "/bin"}).holds_git(command);
    };
    BOOST_TEST(held(Approval::deny_by_default) == row.held, shown);
    BOOST_TEST(held(Approval::audit) == row.held, shown);
    BOOST_TEST(!held(Approval::full_auto), shown);
  }
}

BOOST_AUTO_TEST_SUITE_END()
