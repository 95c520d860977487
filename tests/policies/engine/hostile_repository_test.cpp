#include <boost/test/unit_test.hpp>
#include <functional>

#include "core/files/files.h"
#include "core/git/git_programs.h"
#include "policies/environment/environment.h"
#include "policies/rules/read_only_commands.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// A repository whose configuration has git run a program that leaves a mark.
class HostileRepository {
 public:
  HostileRepository() {
    fs::create_directories(home());
    fs::create_directories(top());
    write_file(canary(),
               "#!/bin/sh\n: > " + mark().string() + "\nif [ -f \"$1\" ]; then cat \"$1\"; fi\n",
               0755);
    make_repository(top());
    write_file(top() / "a.txt", "one\nneedle\n");
    write_file(top() / "b.txt", "two\n");
    commit_all(top());
    write_file(top() / "a.txt", "one\nneedle\nmore\n");
    commit_all(top());
  }

  fs::path top() const { return fs::canonical(folder_.path()) / "repo"; }
  fs::path home() const { return fs::canonical(folder_.path()) / "home"; }
  fs::path canary() const { return fs::canonical(folder_.path()) / "canary"; }
  fs::path mark() const { return fs::canonical(folder_.path()) / "fired"; }

  void configure(const std::string& text, const fs::path& file) const {
    std::string whole = fs::exists(file) ? read_file(file, 1 << 20) : "";
    const std::string word = "CANARY";
    std::string named = text;
    for (auto at = named.find(word); at != std::string::npos; at = named.find(word, at))
      named.replace(at, word.size(), canary().string());
    write_file(file, whole + named);
  }
  void configure(const std::string& text) const { configure(text, top() / ".git" / "config"); }
  void attributes(const std::string& text) const { write_file(top() / ".gitattributes", text); }

  /// HEAD becomes a commit that says it is signed.
  void sign_head(const std::string& kind) const {
    const std::string tree = line(git(top(), {"rev-parse", "HEAD^{tree}"}));
    const std::string parent = line(git(top(), {"rev-parse", "HEAD"}));
    write_file(home() / "commit", "tree " + tree + "\nparent " + parent +
                                      "\nauthor T <t@example.org> 1700000000 +0000\n"
                                      "committer T <t@example.org> 1700000000 +0000\n"
                                      "gpgsig -----BEGIN " +
                                      kind +
                                      "-----\n \n abcd\n"
                                      " -----END " +
                                      kind + "-----\n\nsigned\n");
    const std::string id =
        line(git(top(), {"hash-object", "-t", "commit", "-w", (home() / "commit").string()}));
    git(top(), {"update-ref", "HEAD", id});
  }

  /// A folder `sub` that is a repository of its own, with a hostile configuration.
  void add_submodule() const {
    const fs::path sub = top() / "sub";
    fs::create_directories(sub);
    make_repository(sub);
    write_file(sub / "x", "x\n");
    commit_all(sub);
    git(top(), {"-c", "advice.addEmbeddedRepo=false", "add", "sub"});
    git(top(), {"commit", "-q", "-m", "sub"});
    configure("[core]\n\tfsmonitor = CANARY\n", sub / ".git" / "config");
  }

  /// An object is missing, and would be fetched from `url`.
  void lack_an_object(const std::string& url) const {
    const std::string id = line(git(top(), {"rev-parse", "HEAD:a.txt"}));
    fs::remove(top() / ".git" / "objects" / id.substr(0, 2) / id.substr(2));
    git(top(), {"config", "core.repositoryformatversion", "1"});
    configure(
        "[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\tpromisor = true\n"
        "\turl = " +
        url + "\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n");
  }

  /// A conflict, merged.
  void merge_a_conflict() const {
    git(top(), {"checkout", "-q", "-b", "side", "HEAD~1"});
    write_file(top() / "a.txt", "other\n");
    commit_all(top());
    git(top(), {"checkout", "-q", "main"});
    run_program({"git", "merge", "-q", "side"}, top());
    write_file(top() / "a.txt", "both\n");
    commit_all(top());
  }

  /// Makes git look at the content of files again, and write its index: of b.txt, which is the same
  /// but for its inode.
  void touch() const {
    write_file(top() / "a.txt", "one\nneedle\nchanged\n");
    write_file(top() / "b.txt", "two\n");
    fs::remove(mark());
  }

  /// The environment that a run gives to a git command that its rules allow.
  Environment run_environment() const {
    EnvironmentPlaces places;
    places.home = home();
    places.path = {"/usr/local/bin", "/usr/bin", "/bin"};
    Environment environment = command_environment(Policy(), {}, places);
    for (const auto& [name, value] : one_repository(top(), read_git_programs(top()).overrides))
      environment[name] = value;
    return environment;
  }

 private:
  static std::string line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  TemporaryFolder folder_;
};

using Argv = std::vector<std::string>;

const std::vector<Argv> kCommands = {
    {"git", "status"},
    {"git", "status", "--short", "--branch"},
    {"git", "status", "-v", "--ignored", "-uall"},
    {"git", "status", "--ignore-submodules=dirty"},
    {"git", "diff"},
    {"git", "diff", "HEAD"},
    {"git", "diff", "--cached"},
    {"git", "diff", "--stat", "HEAD~1"},
    {"git", "diff", "--word-diff", "--", "a.txt"},
    {"git", "diff", "--no-index", "a.txt", "b.txt"},
    {"git", "log"},
    {"git", "log", "-p"},
    {"git", "log", "--stat", "-m"},
    {"git", "log", "-m", "-p"},
    {"git", "log", "-p", "--cc", "-5"},
    {"git", "log", "-S", "needle", "-p"},
    {"git", "log", "-L", "1,2:a.txt"},
    {"git", "show"},
    {"git", "show", "HEAD:a.txt"},
    {"git", "show", "--format=%(describe) %(trailers)"},
    {"git", "blame", "a.txt"},
    {"git", "blame", "-w", "-C", "HEAD", "--", "a.txt"},
    {"git", "grep", "needle"},
    {"git", "grep", "needle", "HEAD"},
    {"git", "ls-files", "-m", "-d"},
    {"git", "ls-files", "-o", "--exclude-standard"},
    {"git", "ls-files", "--eol"},
    {"git", "rev-parse", "HEAD", "--show-toplevel"},
    {"git", "branch", "--show-current"},
    {"git", "branch", "-avv"},
    {"git", "tag"},
    {"git", "remote", "-v"},
    {"git", "stash", "list", "-p"},
    {"git", "describe", "--always"},
    {"git", "shortlog", "-sn", "HEAD"},
    {"git", "reflog", "show", "-p"},
    {"git", "config", "-l"},
    {"git", "cat-file", "-p", "HEAD:a.txt"},
    {"git", "for-each-ref", "--sort=-committerdate"},
    {"git", "diff-tree", "-p", "HEAD"},
    {"git", "cherry", "HEAD", "HEAD~1"},
};

struct Row {
  const char* name;
  Argv control;  ///< fires with plain git
  std::function<void(const HostileRepository&)> prepare;
  fs::path workdir{};  ///< below the repository
  int exit = 0;        ///< of `git status`, in a run
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"core.fsmonitor",
       {"git", "status"},
       [](auto& at) { at.configure("[core]\n\tfsmonitor = CANARY\n"); }},
      {"filter.clean",
       {"git", "diff"},
       [](auto& at) {
         at.configure("[filter \"x\"]\n\tclean = CANARY\n\trequired\n");
         at.attributes("*.txt filter=x\n");
       }},
      {"filter.process",
       {"git", "diff"},
       [](auto& at) {
         at.configure("[filter \"x\"]\n\tprocess = CANARY\n");
         at.attributes("*.txt filter=x\n");
       }},
      {"diff.textconv",
       {"git", "log", "-p"},
       [](auto& at) {
         at.configure(
             "[diff \"X y\"]\n\ttextconv = CANARY\n[diff \"x\"]\n\ttextconv = CANARY\n"
             "\tcachetextconv = true\n");
         at.attributes("*.txt diff=x\n");
       }},
      {"diff.textconv, blame",
       {"git", "blame", "a.txt"},
       [](auto& at) {
         at.configure("[diff \"x\"]\n\ttextconv = CANARY\n");
         at.attributes("*.txt diff=x\n");
       }},
      {"diff.command",
       {"git", "diff"},
       [](auto& at) {
         at.configure("[diff \"x\"]\n\tcommand = CANARY\n");
         at.attributes("*.txt diff=x\n");
       }},
      {"diff.external",
       {"git", "diff"},
       [](auto& at) { at.configure("[diff]\n\texternal = CANARY\n"); }},
      {"gpg.program",
       {"git", "log"},
       [](auto& at) {
         at.sign_head("PGP SIGNATURE");
         at.configure("[gpg]\n\tprogram = CANARY\n[log]\n\tshowSignature = true\n");
       }},
      {"gpg.openpgp.program and a format",
       {"git", "log", "--pretty=evil"},
       [](auto& at) {
         at.sign_head("PGP SIGNATURE");
         at.configure("[gpg \"openpgp\"]\n\tprogram = CANARY\n[pretty]\n\tevil = %G? %GS\n");
       }},
      {"gpg.ssh.program and the default format",
       {"git", "log"},
       [](auto& at) {
         at.sign_head("SSH SIGNATURE");
         at.configure(
             "[gpg \"ssh\"]\n\tprogram = CANARY\n\tallowedSignersFile = /dev/null\n"
             "[format]\n\tpretty = %G?\n");
       }},
      {"gpg.x509.program",
       {"git", "log", "--pretty=evil"},
       [](auto& at) {
         at.sign_head("SIGNED MESSAGE");
         at.configure("[gpg \"x509\"]\n\tprogram = CANARY\n[pretty]\n\tevil = %GF\n");
       }},
      {"a submodule", {"git", "status"}, [](auto& at) { at.add_submodule(); }},
      {"a submodule that .gitmodules names",
       {"git", "diff"},
       [](auto& at) {
         at.add_submodule();
         write_file(at.top() / ".gitmodules",
                    "[submodule \"s\"]\n\tpath = sub\n\turl = x\n\tignore = none\n");
         at.configure(
             "[diff]\n\tsubmodule = diff\n\tignoreSubmodules = none\n"
             "[status]\n\tsubmoduleSummary = true\n[submodule]\n\trecurse = true\n");
       }},
      {"a submodule that the index alone names",
       {"git", "status"},
       [](auto& at) {
         at.add_submodule();
         write_file(at.top() / ".gitmodules",
                    "[submodule \"s\"]\n\tpath = sub\n\turl = x\n\tignore = none\n");
         git(at.top(), {"add", ".gitmodules"});
         fs::remove(at.top() / ".gitmodules");
       }},
      {"a submodule that the configuration names",
       {"git", "status"},
       [](auto& at) {
         at.add_submodule();
         at.configure("[submodule \"s\"]\n\tignore = none\n\tactive = true\n");
         write_file(at.top() / ".gitmodules", "[submodule \"s\"]\n\tpath = sub\n\turl = x\n");
       }},
      {"a fetch by ext::",
       {"git", "show", "HEAD:a.txt"},
       [](auto& at) {
         at.lack_an_object("ext::CANARY");
         at.configure("[protocol \"ext\"]\n\tallow = always\n");
       }},
      {"a fetch by ext:: that protocol.allow lets",
       {"git", "show", "HEAD:a.txt"},
       [](auto& at) {
         at.lack_an_object("ext::CANARY");
         at.configure("[protocol]\n\tallow = always\n");
       }},
      {"a fetch by url.insteadOf",
       {"git", "show", "HEAD:a.txt"},
       [](auto& at) {
         at.lack_an_object("x:y");
         at.configure("[url \"ext::CANARY \"]\n\tinsteadOf = x:\n[protocol]\n\tallow = always\n");
       }},
      {"a fetch by uploadpack",
       {"git", "show", "HEAD:a.txt"},
       [](auto& at) {
         at.lack_an_object(at.top().string());
         at.configure("[remote \"origin\"]\n\tuploadpack = CANARY\n");
       }},
      {"a fetch by ssh",
       {"git", "show", "HEAD:a.txt"},
       [](auto& at) {
         at.lack_an_object("ssh://none.invalid/x");
         at.configure("[core]\n\tsshCommand = CANARY\n");
       }},
      {"include.path",
       {"git", "diff"},
       [](auto& at) {
         at.configure("[include]\n\tpath = ../more.cfg\n");
         at.configure("[filter \"x\"]\n\tclean = CANARY\n", at.top() / "more.cfg");
         at.attributes("*.txt filter=x\n");
       }},
      {"includeIf.onbranch",
       {"git", "diff"},
       [](auto& at) {
         at.configure("[includeIf \"onbranch:main\"]\n\tpath = ../more.cfg\n");
         at.configure("[filter \"x\"]\n\tclean = CANARY\n", at.top() / "more.cfg");
         at.attributes("*.txt filter=x\n");
       }},
      {"an include of HOME",
       {"git", "diff"},
       [](auto& at) {
         at.configure("[include]\n\tpath = ~/more.cfg\n");
         at.configure("[filter \"x\"]\n\tclean = CANARY\n", at.home() / "more.cfg");
         at.attributes("*.txt filter=x\n");
       }},
      {"config.worktree",
       {"git", "diff"},
       [](auto& at) {
         git(at.top(), {"config", "core.repositoryformatversion", "1"});
         at.configure("[extensions]\n\tworktreeConfig = true\n");
         at.configure("[filter \"x\"]\n\tclean = CANARY\n", at.top() / ".git" / "config.worktree");
         at.attributes("*.txt filter=x\n");
       }},
      {"a key behind a comment that ends in a backslash",
       {"git", "diff"},
       [](auto& at) {
         at.configure("[core]\n\tx = y # z \\\n[filter \"x\"]\n\tclean = CANARY\n");
         at.attributes("*.txt filter=x\n");
       }},
      {"a hook",
       {"git", "status"},
       [](auto& at) {
         fs::create_directories(at.top() / ".git" / "hooks");
         fs::copy_file(at.canary(), at.top() / ".git" / "hooks" / "post-index-change");
       }},
      {"core.hooksPath",
       {"git", "status"},
       [](auto& at) {
         fs::create_directories(at.top() / "hooks");
         fs::copy_file(at.canary(), at.top() / "hooks" / "post-index-change");
         at.configure("[core]\n\thooksPath = hooks\n");
       }},
      {"merge.driver",
       {"git", "log", "-m", "-p"},
       [](auto& at) {
         at.merge_a_conflict();
         at.configure("[merge \"x\"]\n\tdriver = CANARY %A\n[log]\n\tdiffMerges = remerge\n");
         write_file(at.top() / ".git" / "info" / "attributes", "*.txt merge=x\n");
       }},
      {"a repository below the workspace's",
       {"git", "status"},
       [](auto& at) {
         fs::create_directories(at.top() / "inner");
         make_repository(at.top() / "inner");
         at.configure("[core]\n\tfsmonitor = CANARY\n", at.top() / "inner" / ".git" / "config");
       },
       "inner"},
  };
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_repository)

BOOST_AUTO_TEST_CASE(no_command_of_the_class_runs_what_a_repository_names) {
  for (const Row& row : rows()) {
    BOOST_TEST_CONTEXT(row.name) {
      const HostileRepository repository;
      row.prepare(repository);
      const fs::path workdir = repository.top() / row.workdir;

      // Plain git runs the program: the row would show nothing else.
      repository.touch();
      const Said plain = run_program(row.control, workdir, {{"HOME", repository.home().string()}});
      BOOST_TEST(fs::exists(repository.mark()), plain.output);

      const Environment environment = repository.run_environment();
      for (const Argv& command : kCommands) {
        repository.touch();
        const auto refused = why_not_read_only(command, repository.top(), workdir);
        BOOST_TEST(!refused, (refused ? refused->reason : ""));
        const Said said = run_program(command, workdir, environment);
        std::string shown;
        for (const std::string& word : command) shown += word + ' ';
        BOOST_TEST(!fs::exists(repository.mark()), shown << ": " << said.output);
        if (command == kCommands[0]) BOOST_TEST(said.status == row.exit, said.output);
      }
      // The class refuses the repository's own format; the environment alone would keep it harmless.
      const Argv own_format = {"git", "log", "--pretty=evil"};
      BOOST_TEST(why_not_read_only(own_format, repository.top(), workdir).has_value());
      const Said said = run_program(own_format, workdir, environment);
      BOOST_TEST(!fs::exists(repository.mark()), said.output);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
