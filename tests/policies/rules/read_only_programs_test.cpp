#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "core/files/files.h"
#include "policies/rules/read_only_commands.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

// The real programs are the oracle: what the class allows is run, and nothing may come of it.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

using Argv = std::vector<std::string>;

/// Lines that are really run, of all that could be.
constexpr std::size_t kMostRun = 400;
/// Random programs of sed and awk that are judged.
constexpr std::size_t kProgramsTried = 60000;

std::string shown(const Argv& argv) {
  std::string text;
  for (const std::string& word : argv) text += word + ' ';
  return text;
}

/// A folder with files that are worth a change, and programs that leave a mark when run.
class Stage {
 public:
  Stage() {
    fs::create_directories(programs());
    write_file(programs() / "canary", "#!/bin/sh\n: > " + mark().string() + "\ncat\n", 0755);
    // What rg -z, file -z, sort and git would start by name.
    for (const char* name : {"gzip", "xz", "bzip2", "zstd", "lz4", "brotli", "uncompress", "less",
                             "pager", "gpg", "man"})
      fs::create_symlink("canary", programs() / name);
    set();
  }

  void set() const {
    fs::remove_all(work());
    fs::create_directories(work());
    fs::copy_file(programs() / "canary", work() / "canary");
    write_file(work() / "a", "x\nneedle\nneedle\n");
    write_file(work() / "b", "y\nneedle\n");
    write_file(work() / "m", "0\tstring\tneedle\tfound\n");
    write_file(work() / "a.zst", "\x28\xb5\x2f\xfd needle needle needle");
    write_file(work() / "a.gz",
               std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10) + "needle");
    make_repository(work());
    commit_all(work());
    write_file(work() / "a", "x\nneedle\nmore\n");
    git(work(), {"config", "gpg.program", (programs() / "canary").string()});
    git(work(), {"config", "core.pager", (programs() / "canary").string()});
    sign_head();
  }

  /// Runs it and says what came of it; "" for nothing.
  std::string effect_of(const Argv& argv) const {
    fs::remove(mark());
    const auto before = files();
    run_program(argv, work(), {{"PATH", programs().string() + ":/usr/bin:/bin"}});
    std::string effect = fs::exists(mark()) ? "a program was run" : "";
    if (files() != before) effect += " files were changed";
    if (!effect.empty()) set();
    return effect;
  }

  std::string output_of(const Argv& argv) const { return run_program(argv, work()).output; }
  fs::path work() const { return folder_.path() / "work"; }

 private:
  fs::path programs() const { return folder_.path() / "programs"; }
  fs::path mark() const { return folder_.path() / "mark"; }

  /// Content and time of all files but git's index and objects.
  std::map<fs::path, std::pair<std::string, fs::file_time_type>> files() const {
    std::map<fs::path, std::pair<std::string, fs::file_time_type>> all;
    for (auto at = fs::recursive_directory_iterator(work()); at != fs::end(at); ++at) {
      const std::string name = at->path().filename();
      if (name == "objects") at.disable_recursion_pending();
      if (name == "index" || !at->is_regular_file()) continue;
      all[at->path()] = {read_file(at->path()), at->last_write_time()};
    }
    return all;
  }

  void sign_head() const {
    std::string tree = git(work(), {"rev-parse", "HEAD^{tree}"});
    write_file(folder_.path() / "commit",
               "tree " + tree +
                   "author T <t@example.org> 1700000000 +0000\n"
                   "committer T <t@example.org> 1700000000 +0000\n"
                   "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abcd\n -----END PGP SIGNATURE-----\n"
                   "\nsigned\n");
    std::string id =
        git(work(), {"hash-object", "-t", "commit", "-w", (folder_.path() / "commit").string()});
    id.pop_back();
    git(work(), {"update-ref", "HEAD", id});
  }

  TemporaryFolder folder_;
};

bool is_allowed(const Argv& argv) {
  return !why_not_read_only(argv, "/home/user/project", "/home/user/project");
}

/// Whether the machine has it.
bool is_there(const std::string& program) {
  return run_program({program, "--version"}, "/").status != 127;
}

/// Lines with an effect, for each program: refused, and worth refusing.
const std::vector<Argv>& effective_lines() {
  static const std::vector<Argv> lines = {
      {"rg", "--pre", "./canary", "needle"},
      {"rg", "--pre=./canary", "needle"},
      {"rg", "-z", "needle", "a.gz"},
      {"rg", "-nz", "needle", "a.gz"},
      {"rg", "--search-zip", "needle", "a.gz"},
      {"find", ".", "-exec", "./canary", ";"},
      {"find", ".", "-execdir", "./canary", ";"},
      {"find", ".", "-name", "b", "-delete"},
      {"find", ".", "-fprint", "out"},
      {"find", ".", "-fprint0", "out"},
      {"find", ".", "-fprintf", "out", "%p"},
      {"find", ".", "-fls", "out"},
      {"sort", "-o", "out", "a"},
      {"sort", "-oout", "a"},
      {"sort", "-no", "out", "a"},
      {"sort", "a", "-o", "out"},
      {"sort", "--output=out", "a"},
      {"sort", "--out", "out", "a"},
      {"uniq", "a", "out"},
      {"uniq", "-c", "a", "out"},
      {"uniq", "-", "out"},
      {"uniq", "--", "a", "out"},
      {"file", "-C", "-m", "m"},
      {"file", "--compile", "-m", "m"},
      {"file", "-bz", "a.zst"},
      {"file", "-Z", "a.zst"},
      {"git", "diff", "--output=out"},
      {"git", "diff", "--output", "out"},
      {"git", "log", "-p", "--output=out"},
      {"git", "show", "--output=out"},
      {"git", "log", "--show-signature"},
      {"git", "log", "--format=%G?"},
      {"git", "show", "-s", "--format=%<(9)%GS"},
      {"git", "grep", "-O./canary", "needle"},
      {"git", "grep", "-lO./canary", "needle"},
      {"git", "grep", "--open-files-in-pager=./canary", "needle"},
      {"git", "grep", "--open=./canary", "needle"},
      {"sed", "-i", "1d", "a"},
      {"sed", "-n", "1w out", "a"},
      {"sed", "-n", "1e ./canary", "a"},
      {"sed", "s/x/y/w out", "a"},
      {"sed", "s/x/.\\/canary/e", "a"},
      {"sed", "-s", "-i", "1d", "a"},
      {"sed", "-ne", "1w out", "a"},
      {"awk", "BEGIN{system(\"./canary\")}"},
      {"awk", "{print > \"out\"}", "a"},
      {"awk", "{print | \"./canary\"}", "a"},
      {"awk", "BEGIN{\"./canary\" | getline}"},
      {"gawk", "-i", "inplace", "{print 1}", "a"},
      {"gawk", "-oout", "{print}", "a"},
      {"gawk", "-dout", "{print}", "a"},
      {"tree", "-o", "out"},
      {"tree", "-ao", "out"},
      {"xxd", "a", "out"},
      {"xxd", "-p", "a", "out"},
      {"xxd", "-r", "-p", "a", "out"},
      {"fdfind", "a", "-x", "./canary"},
      {"fdfind", "a", "--exec-batch", "./canary"},
      {"git", "branch", "new"},
      {"git", "tag", "new"},
      {"git", "config", "a.b", "c"},
      {"git", "config", "--add", "a.b", "c"},
      {"git", "symbolic-ref", "HEAD", "refs/heads/x"},
      {"git", "remote", "add", "x", "y"},
      {"git", "remote", "-v", "add", "x", "y"},
      {"git", "stash"},
      {"git", "stash", "push"},
      {"git", "reflog", "expire", "--expire=all", "--all"},
      {"git", "worktree", "add", "out"},
  };
  return lines;
}

/// The options that a program's own help names.
std::set<std::string> options_of(const Stage& stage, const Argv& line) {
  const Argv ask = line[0] == "git" ? Argv{"git", line[1], "--git-completion-helper-all"}
                                    : Argv{line[0], line[0] == "find" ? "-help" : "--help"};
  std::string help = stage.output_of(ask);
  // Debian's usual awk is mawk, which knows no --help.
  if (line[0] == "awk") help += stage.output_of({"awk", "-W", "help"});
  const std::regex option(R"((^|[ \t,\[|(])(--?[A-Za-z0-9][-A-Za-z0-9]*=?))");
  std::set<std::string> options;
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) {
    std::string word = (*at)[2];
    if (word.back() == '=') word.pop_back();
    options.insert(word);
  }
  if (line[0] == "git")
    for (const char letter : std::string("abcdefghiklmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ0"))
      options.insert(std::string("-") + letter);
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(read_only_programs)

BOOST_AUTO_TEST_CASE(what_is_refused_has_an_effect) {
  const Stage stage;
  for (const Argv& line : effective_lines()) {
    BOOST_TEST(!is_allowed(line), shown(line));
    if (!is_there(line[0])) {
      BOOST_TEST_MESSAGE("not installed: " << line[0]);
      continue;
    }
    BOOST_TEST(!stage.effect_of(line).empty(), shown(line));
  }
}

BOOST_AUTO_TEST_CASE(no_option_of_a_program_hides_a_refused_one) {
  const Stage stage;
  std::vector<Argv> allowed;
  for (const Argv& line : effective_lines()) {
    if (!is_there(line[0])) continue;
    const std::size_t first = line[0] == "git" ? 2 : 1;
    const auto options = options_of(stage, line);
    BOOST_TEST(options.size() > 3u, shown(line));  // mawk names four
    for (const std::string& option : options) {
      for (std::size_t at = first; at <= line.size(); ++at) {
        for (const char* value : {"", "--", "1", "-e"}) {
          Argv argv = line;
          auto place = argv.insert(argv.begin() + static_cast<std::ptrdiff_t>(at), option);
          if (*value != '\0') argv.insert(place + 1, value);
          if (is_allowed(argv)) allowed.push_back(argv);
        }
      }
    }
  }
  BOOST_TEST_MESSAGE(allowed.size() << " lines are allowed");
  BOOST_TEST(allowed.size() > kMostRun);
  // Where an option takes the refused one as its value, or what stands before "--" ends options.
  std::mt19937 random(20);  // NOLINT: the same lines each time
  std::shuffle(allowed.begin(), allowed.end(), random);
  allowed.resize(std::min(allowed.size(), kMostRun));
  for (const Argv& argv : allowed) BOOST_TEST(stage.effect_of(argv).empty(), shown(argv));
}

BOOST_AUTO_TEST_CASE(lines_of_random_words_that_are_allowed_have_no_effect) {
  const Stage stage;
  std::mt19937 random(20);  // NOLINT: the same lines each time
  const auto pick = [&](const Argv& words) { return words[random() % words.size()]; };
  std::map<std::string, std::set<std::string>> words;
  for (const Argv& line : effective_lines()) {
    if (!is_there(line[0])) continue;
    const std::string key = line[0] == "git" ? "git " + line[1] : line[0];
    if (words.count(key) == 0) words[key] = options_of(stage, line);
    words[key].insert(line.begin() + (line[0] == "git" ? 2 : 1), line.end());
    for (const char* each : {"a", "b", "--", "-", "1", "needle", "-e", "-n", "out"})
      words[key].insert(each);
  }
  for (const auto& [key, set] : words) {
    const Argv all(set.begin(), set.end());
    std::size_t of_program = 0;
    for (int i = 0; i < 2000 && of_program < kMostRun / 10; ++i) {
      Argv argv = {key};
      if (key.starts_with("git ")) argv = {"git", key.substr(4)};
      for (auto count = 1 + random() % 4; count > 0; --count) argv.push_back(pick(all));
      if (!is_allowed(argv)) continue;
      ++of_program;
      BOOST_TEST(stage.effect_of(argv).empty(), shown(argv));
    }
    // Of these, few lines are programs.
    const bool is_rare =
        key == "sed" || key.ends_with("awk") || key == "git stash" || key == "git worktree";
    BOOST_TEST((of_program > 5 || is_rare), key);
  }
}

namespace {

/// Programs of a language, harmless and harmful ones, and pieces that may hide one in the other.
struct Language {
  std::vector<Argv> interpreters;  ///< run if they are there
  Argv harmless;
  Argv harmful;
  Argv pieces;
};

const std::vector<Language>& languages() {
  static const std::vector<Language> all = {
      {{{"gawk"}, {"mawk"}, {"original-awk"}, {"busybox", "awk"}},
       {"{print $1}", "/x/{n++}END{print n}", "$1>0{print}", "{print ($1>2),\"a\"}",
        "{a=b/2;print a/c}", "{sub(/[a-z]/,\"\")}1", "NR==1||/n[^e]*/", "{if(/x/)print;else next}",
        "BEGIN{x=\"a/b\"}{print x}", "{printf \"%s\\n\",$1}"},
       {"system(\"./canary\")", ";system(\"./canary\");", "{system(\"./canary\")}", "print>\"out\"",
        ";print>\"out\";", "{print|\"./canary\"}", "}BEGIN{system(\"./canary\")}{",
        "\"./canary\"|getline"},
       {"/",     "\"",     "\\",     "[",    "]",    "(",   ")",    "{",    "}",
        ";",     "\n",     " ",      "/=",   "++",   "!",   "~",    ",",    "#",
        "x",     "1",      "$",      "/[/]", "[^/",  "\\/", "\\\"", "/\"/", "\"/\"",
        "if(1)", "print ", "length", "]/",   "[]/]", "//",  "&&",   "?",    ":"}},
      {{{"sed"}, {"busybox", "sed"}},
       {"5p", "s/a/b/", "/x/p", "1,2{p;d}", "s|x|[&]|g", "y/abc/xyz/", "$!d", "/[a-z]/s//y/",
        "s/[^x]*/y/;p", "s,x,y,;s/n/m/"},
       {"w out", ";w out", "\nw out\n", "{w out\n}", "e ./canary", "\ne ./canary\n", ";e ./canary;",
        "s/x/y/w out", "s/.*/.\\/canary/e"},
       {"/",   "\\",  "[",   "]", "{", "}", ";",  "\n",  " ",  "|",  ",",
        "s",   "y",   "p",   "d", "!", "$", "1",  "a",   "^",  "[^", "[]",
        "[/]", "\\/", "\\]", "#", "&", "g", "s/", "/x/", "y/", "[:", ":]"}},
  };
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(programs_that_are_allowed_have_no_effect_in_any_interpreter) {
  const Stage stage;
  std::mt19937 random(22);  // NOLINT: the same lines each time
  const auto pick = [&](const Argv& words) { return words[random() % words.size()]; };
  for (const Language& language : languages()) {
    std::vector<Argv> there;
    for (const Argv& interpreter : language.interpreters)
      if (is_there(interpreter[0])) there.push_back(interpreter);
    std::size_t allowed = 0;
    for (std::size_t i = 0; i < kProgramsTried && allowed < kMostRun / 4; ++i) {
      std::string program = pick(language.harmless);
      const auto insert = [&](const std::string& text) {
        program.insert(random() % (program.size() + 1), text);
      };
      for (auto count = random() % 5; count > 0; --count) insert(pick(language.pieces));
      insert(pick(language.pieces) + pick(language.harmful) + pick(language.pieces));
      const std::string name = language.interpreters[0].back();
      if (!is_allowed({name, program, "a"})) continue;
      ++allowed;
      for (Argv argv : there) {
        argv.insert(argv.begin(), {"timeout", "0.5"});
        argv.insert(argv.end(), {program, "a"});
        BOOST_TEST(stage.effect_of(argv).empty(), shown(argv));
      }
    }
    BOOST_TEST_MESSAGE(allowed << " programs are allowed");
    BOOST_TEST(allowed > 20u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
