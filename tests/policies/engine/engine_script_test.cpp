#include <boost/test/unit_test.hpp>

#include "policies/engine/engine.h"
#include "tests/policies/engine/scripts.h"
#include "tests/policies/policies.h"

using namespace sortie;
using namespace sortie::engine_scripts;
using tests::command_rule;

BOOST_AUTO_TEST_SUITE(engine_script)

BOOST_AUTO_TEST_CASE(each_command_of_a_script_is_decided_on_its_own) {
  const Policy policy = tests::strict_policy({
      command_rule(Effect::allow, {{"cargo"}, {"build", "test"}}, {"--config*"}),
      command_rule(Effect::allow, {{"make"}}),
      command_rule(Effect::allow, {{"timeout"}, {"5"}, {"make"}}),
      command_rule(Effect::allow, {{"bash"}}),
      command_rule(Effect::deny, {{"make"}, {"publish"}}),
      command_rule(Effect::forbid, {{"sudo"}}),
  });
  const Row rows[] = {
      {"ls", Effect::allow, "a rule allows it"},
      {"ls -la | head -n 5", Effect::allow, "each of its 2 commands is allowed"},
      {"git log --oneline | grep fix | wc -l", Effect::allow, ""},
      {"rg -n TODO src | sort | uniq -c | sort -rn | head", Effect::allow, ""},
      {"cat a.c && cat b.c || echo none; pwd", Effect::allow, ""},
      {"ls\ncat x\n", Effect::allow, ""},
      {"cargo build && cargo test", Effect::allow, ""},
      {"cargo test 2>&1 | tail -n 20", Effect::allow, ""},
      {"/usr/bin/cargo test", Effect::allow, ""},
      {"make -j4 >/dev/null", Effect::allow, ""},
      {"timeout 5 make", Effect::allow, ""},
      {"[ -f Makefile ] && make", Effect::allow, ""},
      {"command -v cargo", Effect::allow, ""},
      {"ls; rm x", Effect::deny, "rm x: no rule allows rm (command 2 of the script)"},
      {"rm x", Effect::deny, "rm x: no rule allows rm"},
      {"ls | xargs rm", Effect::deny, "xargs: xargs runs rm {}: no rule allows rm"},
      {"ls && cargo install x && ls", Effect::deny, "no rule allows cargo (command 2"},
      {"cargo test --config=x", Effect::deny, "excepts this word"},
      {"find . -name x -delete", Effect::deny, "not read-only: find -delete"},
      {"ls | env FOO=1 cat", Effect::deny, "env runs another command"},
      {"timeout 9 rm x", Effect::deny, "rm x: no rule allows rm"},
      {"timeout -s9x$ 9 make", Effect::deny, ""},
      {"timeout 9 make", Effect::allow, ""},
      {"/tmp/ls", Effect::deny, "/tmp/ls is a path"},
      {"make publish", Effect::deny, "make publish: a rule denies it"},
      {"ls && make publish", Effect::deny, "make publish: a rule denies it"},
      {"ls; sudo ls", Effect::forbid, "sudo ls: a rule denies it"},
      {"timeout 5 make; env sudo x", Effect::forbid, "sudo x"},
      {"rm x; sudo ls", Effect::forbid, ""},
      {"bash -c ls", Effect::deny, "a nested shell can't be checked"},
      {"bash -c 'bash -c ls'", Effect::deny, "a nested shell can't be checked"},
      {"sh -c 'rm x'", Effect::deny, "a nested shell can't be checked"},
      {"bash -lc ls; ls", Effect::deny, "a nested shell can't be checked"},
      {"sudo", Effect::forbid, ""},
  };
  check(policy, rows);
}

BOOST_AUTO_TEST_CASE(what_is_not_read_is_denied_with_its_place_whatever_a_rule_allows) {
  const Policy policy = tests::strict_policy(
      {command_rule(Effect::allow, {{"bash"}}), command_rule(Effect::allow, {{"bash"}, {"-c"}})});
  const Row rows[] = {
      {"ls $HOME", Effect::deny, "$HOME: the script can't be checked at column 4: variables"},
      {"ls &&\n cat `x`", Effect::deny, "`x`: the script can't be checked at line 2, column 6"},
      {"ls > out", Effect::deny, "column 4: output can only"},
      {"", Effect::deny, "the script has no command"},
      {"ls &&", Effect::deny, "a command is missing"},
      {"./x.sh", Effect::deny, "is a path, not the bare name"},
  };
  check(policy, rows);
  BOOST_TEST(script(policy, "ls $HOME").instead.find("the value itself") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(cd_is_followed_into_each_folder_that_may_be_current) {
  const Policy policy = tests::strict_policy({command_rule(Effect::allow, {{"make"}}),
                                              command_rule(Effect::allow, {{"git"}, {"fetch"}}),
                                              command_rule(Effect::allow, {{"timeout"}})});
  const Row rows[] = {
      {"cd src", Effect::allow, ""},
      {"cd src && ls", Effect::allow, ""},
      {"cd src/a/b && cat ../../x", Effect::allow, ""},
      {"cd src && ls && cd .. && ls", Effect::allow, ""},
      {"cd src && cd ../lib && ls", Effect::allow, ""},
      {"cd /home/user/project/src && make", Effect::allow, ""},
      {"cd 'src dir' && ls", Effect::allow, ""},
      {"cd src || echo none; ls", Effect::allow, ""},
      {"cd src | ls", Effect::allow, ""},
      {"cd src | cd .. ; ls", Effect::deny, "cd leads out of the workspace"},
      {"cd ..", Effect::deny, "cd leads out of the workspace"},
      {"cd /", Effect::deny, "cd leads out of the workspace"},
      {"cd /home/user/project-2 && ls", Effect::deny, "cd leads out of the workspace"},
      {"cd src/../.. && ls", Effect::deny, "cd leads out of the workspace"},
      // Where the first cd fails the second one leads out.
      {"cd src; cd ..", Effect::deny, "cd leads out of the workspace"},
      {"cd src || cd .. && ls", Effect::deny, "cd leads out of the workspace"},
      {"cd src && cd a; cd ../..", Effect::deny, "cd leads out of the workspace"},
      {"cd", Effect::deny, "one literal folder"},
      {"cd -", Effect::deny, "one literal folder"},
      {"cd -P src", Effect::deny, "one literal folder"},
      {"cd -- src", Effect::deny, "one literal folder"},
      {"cd ''", Effect::deny, "one literal folder"},
      {"cd s*", Effect::deny, "one literal folder"},
      {"cd src x", Effect::deny, "one literal folder"},
      {"cd link/../proc", Effect::deny, "/proc, /sys or /dev"},
      {"cd proc", Effect::allow, ""},
      {"/usr/bin/cd src && ls", Effect::deny, "one literal folder"},
      // In the environment of one repository, wherever it is called.
      {"cd src && git status", Effect::allow, ""},
      {"cd src && ls; /usr/bin/git log", Effect::allow, ""},
      {"cd src | git status", Effect::allow, ""},
      {"cd src && git fetch", Effect::deny, "only git commands that read are allowed after cd"},
      {"cd src && timeout 5 git status", Effect::deny, "only git commands that read"},
      {"git fetch && cd src", Effect::allow, ""},
      {"git status && cd src && ls", Effect::allow, ""},
      {"pushd src && ls", Effect::deny, "pushd changes the shell"},
  };
  check(policy, rows);
  // The folder that `cd` is relative to is the call's own.
  BOOST_TEST(
      (decide(policy, {"bash", "-c", "cd .. && ls"}, kWorkspace / "src").effect == Effect::allow));
  BOOST_TEST((decide(policy, {"bash", "-c", "cd ../.. && ls"}, kWorkspace / "src").effect ==
              Effect::deny));
  BOOST_TEST((decide(policy, {"cd", "src"}).effect == Effect::allow));
  BOOST_TEST((decide(policy, {"cd", ".."}).effect == Effect::deny));
  // Too many folders to follow.
  std::string many;
  for (int i = 0; i < 40; ++i) many += "cd a" + std::to_string(i) + "; ";
  BOOST_TEST((script(policy, many).effect == Effect::deny));
}

BOOST_AUTO_TEST_CASE(what_one_command_leaves_for_the_next_is_denied_even_with_a_rule) {
  std::vector<CommandRule> rules;
  const char* names[] = {"alias",   "hash",    "export",  "set",    "shopt", "eval",
                         "source",  "exec",    "read",    "enable", "trap",  "printf",
                         "test",    "command", "declare", "unset",  "umask", "ulimit",
                         "typeset", "mapfile", "kill",    "[",      "bash",  "timeout"};
  for (const char* name : names) rules.push_back(command_rule(Effect::allow, {{name}}));
  const Policy policy = tests::strict_policy(rules);
  const Row rows[] = {
      {"alias ls=rm; ls", Effect::deny, "alias changes the shell"},
      {"hash -p ./evil ls && ls", Effect::deny, "hash changes the shell"},
      {"export PATH=. && ls", Effect::deny, "export changes the shell"},
      {"set -f; ls", Effect::deny, "set changes the shell"},
      {"shopt -s dotglob; ls", Effect::deny, "shopt changes the shell"},
      {"eval ls", Effect::deny, "eval changes the shell"},
      {"source x", Effect::deny, "source changes the shell"},
      {"exec ls", Effect::deny, "exec changes the shell"},
      {"read PATH <x; ls", Effect::deny, "read changes the shell"},
      {"enable -f ./x.so ls; ls", Effect::deny, "enable changes the shell"},
      {"trap 'rm x' EXIT", Effect::deny, "trap changes the shell"},
      {"printf -v PATH .; ls", Effect::deny, "printf with an option"},
      {"printf '-vPATH' .; ls", Effect::deny, "printf with an option"},
      {"test -v 'a[$(rm x)]'", Effect::deny, "test -v evaluates"},
      {"[ -v 'a[$(rm x)]' ]", Effect::deny, "[ -v evaluates"},
      {"command eval ls", Effect::deny, "eval changes the shell"},
      {"command cd src", Effect::deny, "only `command -v NAME`"},
      {"command command eval ls", Effect::deny, "only `command -v NAME`"},
      {"set -e -o posix; ls", Effect::deny, "set changes the shell"},
      {"set -euo pipefail -f; ls", Effect::deny, "set changes the shell"},
      {"set -- a b; ls", Effect::deny, "set changes the shell"},
      {"export CI=1 PATH=.; ls", Effect::deny, "export changes the shell"},
      {"export PYTHONPATH=src; ls", Effect::deny, "export changes the shell"},
      {"export 'CI=1'; ls", Effect::deny, "export changes the shell"},
      {"export -n CI=1; ls", Effect::deny, "export changes the shell"},
      {"set -euo pipefail; export CI=1; ls || exit 1", Effect::allow, ""},
      {"command -p ls", Effect::deny, "only `command -v NAME`"},
      {"declare -x PATH=.; ls", Effect::deny, "declare changes the shell"},
      {"unset 'a[$(rm x)]'", Effect::deny, "unset changes the shell"},
      {"umask 0; ls", Effect::deny, "umask changes the shell"},
      {"typeset a; ls", Effect::deny, "typeset changes the shell"},
      {"mapfile -C rm a <x", Effect::deny, "mapfile changes the shell"},
      {"test ?v 'a[$(rm x)]'", Effect::deny, "test counts them"},
      {"test -n [-]v x", Effect::deny, "test counts them"},
      {"test *", Effect::deny, "test counts them"},
      {"printf ?v PATH", Effect::deny, "printf counts them"},
      {"printf -* PATH", Effect::deny, "printf with an option"},
      {"printf %n PATH; ls", Effect::deny, "printf %n sets a variable"},
      {"printf -- '%s %-5.2ln' x PATH; ls", Effect::deny, "printf %n sets a variable"},
      {"printf %d 'a[$(rm x)]'", Effect::deny, "printf evaluates"},
      {"printf '%*s' 'a[$(rm x)]' x", Effect::deny, "printf evaluates"},
      {"printf '%*n' 1 PATH; ls", Effect::deny, "printf %n sets a variable"},
      {"printf '%1$n' PATH; ls", Effect::deny, "printf %n sets a variable"},
      {"bash ?c 'rm x'", Effect::deny, "may expand to an option of bash"},
      {"bash -O extglob *c 'rm x'", Effect::deny, "may expand to an option of bash"},
      {"bash +?c 'rm x'", Effect::deny, "may expand to an option of bash"},
      {"bash +c 'rm x'", Effect::deny, "a nested shell can't be checked"},
      {"/bin/sh [-]c 'rm x'", Effect::deny, "may expand to an option of /bin/sh"},
      {"bash scripts/a.sh *", Effect::allow, ""},
      {"bash ./*.sh", Effect::allow, ""},
      {"cd src && timeout 5 [g]it status", Effect::deny, "only git commands that read"},
      {"command ?v ls", Effect::deny, "only `command -v NAME`"},
      {"printf '%s\\n' a; printf x", Effect::allow, ""},
      {"printf '100%%n %d' 7; printf '%s' 'a[1]'", Effect::allow, ""},
      {"command -v ls", Effect::allow, ""},
      {"test -f x && kill 1", Effect::allow, ""},
  };
  check(policy, rows);
}

BOOST_AUTO_TEST_CASE(a_redirection_from_a_file_needs_a_path_that_may_be_read) {
  Policy policy = tests::strict_policy();
  policy.read = {"/data/open"};
  const Row rows[] = {
      {"cat <src/a.c", Effect::allow, ""},
      {"cat <../project/a", Effect::allow, ""},
      {"cat </etc/hostname", Effect::allow, ""},
      {"cat </data/open/x", Effect::allow, ""},
      {"cat </dev/null", Effect::allow, ""},
      {"cat <.env", Effect::deny, "<.env: paths.hide"},
      {"cat <sub/.env", Effect::deny, "paths.hide"},
      {"cd sub && cat <.env", Effect::deny, "paths.hide"},
      {"cd sub && cat <../../../../etc/shadow", Effect::deny, "paths.hide"},
      {"cat </etc/shadow", Effect::deny, "paths.hide"},
      {"cat </home/other/x", Effect::deny, "no entry of paths.read"},
      {"cat <../other/x", Effect::deny, "no entry of paths.read"},
      {"cat </proc/self/environ", Effect::deny, "/proc, /sys or /dev"},
      {"cat <../../../proc/self/environ", Effect::deny, "/proc, /sys or /dev"},
      {"cat <x/../../proc/1/environ", Effect::deny, "/proc, /sys or /dev"},
      {"cat </dev/tcp/127.0.0.1/80", Effect::deny, "/proc, /sys or /dev"},
      {"cat </dev/stdin", Effect::deny, "/proc, /sys or /dev"},
      {"ls; cat </sys/x", Effect::deny, "(command 2 of the script)"},
  };
  check(policy, rows);
  BOOST_TEST(!script(policy, "cat </home/other/x").unmatched);
}

BOOST_AUTO_TEST_CASE(a_glob_is_let_through_where_it_can_become_no_refused_word) {
  const Policy policy = tests::strict_policy(
      {command_rule(Effect::allow, {{"make"}}), command_rule(Effect::allow, {{"git"}, {"add"}}),
       command_rule(Effect::allow, {{"cargo"}, {"test"}}, {"--config*"}),
       command_rule(Effect::allow, {{"odd"}}, {"*secret*"}),
       command_rule(Effect::allow, {{"copy"}}, {"-*", "/*", "..", "../*", "*/..", "*/../*"}),
       command_rule(Effect::allow, {{"named"}}, {"secret*", "html:/*"}),
       command_rule(Effect::deny, {{"git"}, {"push"}}),
       command_rule(Effect::deny, {{"make"}, {"x"}})});
  const Row rows[] = {
      {"ls *.c", Effect::allow, ""},
      {"cat *", Effect::allow, ""},
      {"grep -n foo *.c src/*.h", Effect::allow, ""},
      {"wc -l ./*.md", Effect::allow, ""},
      {"rg foo src/*.c", Effect::allow, ""},
      {"rg foo ./*", Effect::allow, ""},
      {"git diff src/*.c", Effect::allow, ""},
      {"find src* -name x", Effect::allow, ""},
      {"sort a*", Effect::allow, ""},
      {"git add src/*", Effect::allow, ""},
      {"git add *", Effect::allow, ""},
      {"cargo test a*", Effect::allow, ""},
      {"rg foo *", Effect::deny, "may expand to an option of rg"},
      {"rg foo -*", Effect::deny, "a glob"},
      {"rg foo \"-\"*", Effect::deny, "a glob"},
      {"rg foo [a-]*", Effect::deny, "may expand to an option of rg"},
      {"find *", Effect::deny, "may expand to an option of find"},
      {"find . -name *.c", Effect::deny, "may expand to an option of find"},
      {"sort *", Effect::deny, "may expand to an option of sort"},
      {"file ?", Effect::deny, "may expand to an option of file"},
      {"git diff *", Effect::deny, "may expand to an option of git"},
      {"git s*", Effect::deny, "git"},
      {"git *", Effect::deny, ""},
      {"sed -n 1,2p *", Effect::deny, "may expand to an option of sed"},
      {"uniq a*", Effect::deny, "uniq"},
      {"test -f a*", Effect::deny, "test counts them"},
      {"[ -f a* ]", Effect::deny, "[ counts them"},
      {"cargo test *", Effect::deny, "but_not excepts"},
      {"cargo test -*", Effect::deny, "but_not excepts"},
      {"cargo t*", Effect::deny, "no rule allows cargo"},
      {"odd a*", Effect::deny, "but_not excepts"},
      {"copy src/*.c a?b", Effect::allow, ""},
      {"copy ./* ./a/?", Effect::allow, ""},
      {"copy *", Effect::deny, "write ./ before it"},
      {"copy .*", Effect::deny, "but_not excepts"},
      {"copy ./.*", Effect::deny, "but_not excepts"},
      {"copy a/.?/b", Effect::deny, "but_not excepts"},
      {"copy a/../b*", Effect::deny, "but_not"},
      {"copy /a*", Effect::deny, "but_not"},
      {"named tests/*", Effect::allow, ""},
      {"named s*", Effect::deny, "but_not excepts"},
      {"named secre?", Effect::deny, "but_not excepts"},
      {"awk '{print}' *", Effect::allow, ""},
      {"awk -F : '{print}' a* b*", Effect::allow, ""},
      {"awk a* b", Effect::deny, "another awk program"},
      {"jq . a*", Effect::allow, ""},
      {"jq . *", Effect::deny, "may expand to an option of jq"},
      {"sed -n 1,2p a*", Effect::allow, ""},
      {"sed -n -e 1,2p a*", Effect::deny, "another sed program"},
      {"git branch --list v*", Effect::deny, "counts them: quote it"},
      {"git pu*", Effect::deny, "may match a deny rule"},
      {"git p[u]sh", Effect::deny, "may match a deny rule"},
      {"make *", Effect::deny, "may match a deny rule"},
      {"make y*", Effect::allow, ""},
      {"cat /*/self/environ", Effect::deny, "/proc, /sys or /dev"},
      {"cat /p*/self/environ", Effect::deny, "/proc, /sys or /dev"},
      {"cat ../../../p*/self/environ", Effect::deny, "/proc, /sys or /dev"},
  };
  check(policy, rows);
}

BOOST_AUTO_TEST_CASE(a_refusal_of_the_class_says_what_to_write_instead) {
  const Policy policy = tests::strict_policy();
  const Row rows[] = {
      {"sed -i s/a/b/ x", Effect::deny, "change files with apply_patch"},
      {"sed 'w out' x", Effect::deny, "sed w writes a file"},
      {"awk '{print > \"out\"}' x", Effect::deny, "put a comparison into parentheses"},
      {"awk '{print | \"sh\"}' x", Effect::deny, "pipe in the shell"},
      {"jq env", Effect::deny, "write .env for a field of that name"},
      {"git branch x", Effect::deny, "list them with --list PATTERN"},
      {"git stash", Effect::deny, "write `git stash list` or `git stash show`"},
      {"git config user.name x", Effect::deny, "write `git config --get NAME`"},
      {"date -s 1", Effect::deny, "write `date +FORMAT`"},
      {"tree -o x", Effect::deny, "leave out -o and -R, which write files"},
      {"xxd a b", Effect::deny, "a second one is written"},
      {"test a -a b", Effect::deny, "join several with &&"},
  };
  check(policy, rows);
  // One form of these is in the class; the others are for rules and people to allow.
  for (const char* line : {"make all", "python3 x.py", "node x.js"})
    BOOST_TEST(script(policy, line).unmatched, line);
}

BOOST_AUTO_TEST_CASE(only_the_three_words_of_a_known_shell_are_a_script) {
  const Policy policy = tests::strict_policy();
  const struct {
    std::vector<std::string> argv;
    Effect effect;
  } rows[] = {
      {{"bash", "-c", "ls"}, Effect::allow},
      {{"sh", "-c", "ls"}, Effect::allow},
      {{"dash", "-c", "ls"}, Effect::allow},
      {{"zsh", "-c", "ls"}, Effect::allow},
      {{"bash", "-lc", "ls"}, Effect::allow},
      {{"zsh", "-lc", "ls"}, Effect::allow},
      {{"/bin/bash", "-c", "ls"}, Effect::allow},
      {{"/usr/bin/sh", "-lc", "ls"}, Effect::allow},
      {{"/tmp/bash", "-c", "ls"}, Effect::deny},
      {{"./bash", "-c", "ls"}, Effect::deny},
      {{"ksh", "-c", "ls"}, Effect::deny},
      {{"fish", "-c", "ls"}, Effect::deny},
      {{"bash", "-cl", "ls"}, Effect::deny},
      {{"bash", "-ec", "ls"}, Effect::deny},
      {{"bash", "-c", "ls", "x"}, Effect::deny},
      {{"bash", "-c", "--", "ls"}, Effect::deny},
      {{"bash", "-e", "-c", "ls"}, Effect::deny},
      {{"bash", "--norc", "-c", "ls"}, Effect::deny},
      {{"bash", "-c"}, Effect::deny},
      {{"bash", "ls"}, Effect::deny},
      {{"bash"}, Effect::deny},
      {{"env", "bash", "-c", "ls"}, Effect::deny},
      {{"bash", "-c", std::string("ls\0", 3)}, Effect::deny},
  };
  for (const auto& row : rows) {
    const Decision decision = decide(policy, row.argv);
    std::string shown;
    for (const std::string& word : row.argv) shown += word + ' ';
    BOOST_TEST((decision.effect == row.effect), shown << ": " << decision.reason);
  }
  BOOST_TEST((decide(policy, {"bash", "-c", "ls"}, "/tmp").effect == Effect::deny));
}

BOOST_AUTO_TEST_SUITE_END()
