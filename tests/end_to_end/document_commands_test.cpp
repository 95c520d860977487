// Every block of shell in the documents is run as it stands, or kNotRun says why it is not.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/support/cassette_writer.h"
#include "tests/support/document_blocks.h"
#include "tests/support/git_repository.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SORTIE_SOURCE_DIR;

/// Blocks that no test can run.
const struct {
  const char* page;
  const char* beginning;  ///< of the block
  const char* reason;
} kNotRun[] = {
    {"README.md", "./ci/demo", "installs packages, builds, and runs all tests"},
    {"README.md", "OPENAI_API_KEY=… ./ci/demo", "needs a key and a network"},
    {"CONTRIBUTING.md", "./ci/setup tests", "installs packages and builds"},
    {"CONTRIBUTING.md", "cmake --build build/dev --target patch_test", "builds"},
    {"CONTRIBUTING.md", "for test in ci/docs_test", "writes documents of this checkout"},
    {"CONTRIBUTING.md", "ci/docs ",
     "run by tests/ci/docs_site_test.cpp; serves until it is stopped"},
    {"docs/PERFORMANCE.md", "cmake --preset release", "builds, and measures for minutes"},
    {"docs/PERFORMANCE.md", "bench/run --only diffs", "measures for minutes"},
    {"docs/PERFORMANCE.md", "./ci/setup tests", "installs packages, and measures for minutes"},
    {"docs/ci-templates.md", "mkdir -p project/.github", "run by ci_new_user_test.cpp"},
    {"docs/ci-templates.md", "mkdir -p project/.gitlab", "run by ci_new_user_test.cpp"},
    {"docs/ci-templates.md", "mkdir -p project/.jenkins", "run by ci_new_user_test.cpp"},
    {"docs/ci-templates.md", "sudo useradd",
     "makes a user, and writes into folders of the machine"},
    {"docs/ci-templates.md", "cp ci/systemd/sortie.service", "needs systemd as root"},
    {"docs/ci-templates.md", "ci/release/build && ci/release/image", "needs a container engine"},
    {"docs/install.md", "./ci/setup release", "installs packages and builds"},
    {"docs/install.md", "tar -xzf sortie-", "its own check: ci/release/check_tarball.py"},
    {"docs/install.md", "sudo apt install ./sortie", "its own check: ci/release/check_deb.py"},
    {"docs/install.md", "npx @sortie-cli/sortie", "its own check: ci/release/check_npm.py"},
    {"docs/release.md", "./ci/setup release-arm64", "installs packages, and builds for an hour"},
    {"docs/release.md", "cd build/dist", "gives a release to others"},
    {"docs/evidence.md", "jq .predicate",
     "run by evidence_document_test.cpp: cosign asks a service"},
    {"docs/evidence.md", "cosign verify-blob",
     "run by evidence_document_test.cpp: cosign asks a service"},
    {"docs/install.md", "git clone https://github.com/OWNER",
     "needs a network, builds and installs"},
    {"docs/ci.md", "docker run", "needs a container engine"},
    {"samples/README.md", "OPENAI_API_KEY=…", "needs a key and a network"},
    {"docs/mcp.md", "npm install", "needs a network; tests/support/npm has the same package"},
    {"docs/init.md", "sortie init --provider", "each flag alone, by init_ci_test.cpp"},
    {"docs/resume.md", "rsync -a", "needs a second machine"},
    {"docs/rate-limits.md", "sudo install", "writes into folders of the machine"},
    {"docs/engines.md", "export SORTIE_KEY_FILE", "needs a Slurm; slurm_test.cpp has one"},
    {"docs/engines.md", "kubectl create secret", "needs a cluster"},
    {"docs/benchmarks.md", "jq -r .repo instances.jsonl", "clones from the network"},
};

/// A run whose answer has findings.
constexpr const char* kFindings =
    "sortie run samples/recipes/review/task.yaml --out sortie-out --fresh "
    "<samples/recipes/review/change.diff >answer.json";

/// What a block takes for granted, and words of it that only its reader can know.
const struct {
  const char* page;
  const char* beginning;  ///< of the block
  const char* before;     ///< is given first
  const char* word = "";
  const char* instead = "";
} kPrepared[] = {
    // What is forbidden is said with a status of 3.
    {"CONTRIBUTING.md", "sortie run task.yaml --out out", "", "git push --force ",
     "git push --force || [ $? = 3 ] #"},
    {"docs/evidence.md", "sortie verify sortie-out",
     "sortie run task.yaml --out sortie-out --fresh --anchor /var/log/anchors/project.jsonl"},
    {"docs/evidence.md", "sortie report sortie-out --format sarif", kFindings},
    {"docs/evidence.md", "git diff origin/main",
     "sortie run samples/recipes/review/task.yaml --out sortie-out --fresh "
     "<samples/recipes/review/change.diff >answer.json\n"
     "git update-ref refs/remotes/origin/main HEAD"},
    {"docs/exec.md", "sortie exec resume",
     "thread=$(sortie exec --json Hello | jq -r 'select(.thread_id).thread_id')",
     "0199a213-81c0-7800-8aa1-bbab2a035a53", "$thread"},
    {"docs/install.md", "sortie doctor ",
     "echo right >answer.txt\nexport OPENAI_API_KEY=sk-of-a-test-1234"},
    {"README.md", "export OPENAI_API_KEY", "", "sk-…", "sk-1"},
    {"docs/rate-limits.md", "sortie run task.yaml", "cp rate-limits.yaml /etc/sortie/"},
    {"docs/report.md", "sortie report sortie-out --api-key-file",
     "echo sk-of-a-file-1234 >key.txt"},
    {"docs/stages.md", "sortie run plan.yaml",
     "printf 'version: 1\nprompt: Make a plan.\n' >plan.yaml\n"
     "printf 'version: 1\nprompt: Review {{diff}}\nvars: {diff: {required: true}}\n"
     "policy: policy.yaml\n' >review.yaml"},
    {"docs/untrusted-branches.md", "git -C base worktree",
     "git clone -q . base\nmkdir base/.sortie\ncp task.yaml base/.sortie\n"
     "cp policy.yaml base/.sortie/pull-requests.yaml\nPR_SHA=$(git rev-parse HEAD)"},
};

/// Places of a machine that the documents name, and what stands for them below the test's folder.
const struct {
  const char* place;
  const char* below;
} kPlaces[] = {
    {"/var/log/anchors", "anchors"},
    {"/run/anchors.fifo", "anchors.fifo"},
    {"/etc/bash_completion.d", "completions"},
    {"/usr/local/share/zsh/site-functions", "completions"},
    {"/path/to/project", "other"},
    {"/etc/sortie", "limits"},
};

std::vector<std::string> pages() {
  std::vector<std::string> pages = {"README.md", "CONTRIBUTING.md", "samples/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md")
      pages.push_back(fs::relative(entry.path(), kRoot).string());
  return pages;
}

/// Where the documents' commands are given: a project in a repository with a task, a policy and one
/// finished run. `sortie` is the real one; a cassette answers for the model.
class Desk {
 public:
  explicit Desk(const std::vector<DocumentBlock>& blocks) {
    copy_tree(kRoot / "samples", project() / "samples");
    for (const char* part : {"ci/github", "ci/benchmarks"})
      copy_tree(kRoot / part, project() / part);
    for (const char* folder : {"anchors", "completions", "other/.github",
                               "home/.config/fish/completions", "home/src", "bin", "limits"})
      fs::create_directories(folder_ / folder);
    write("Makefile", "test:\n\t@grep -q right answer.txt\n");
    write("answer.txt", "wrong\n");
    write(
        ".gitignore",
        "/sortie-out*/\n/sortie-batch/\n/swe-out/\n/out/\n/again/\n/cassette.jsonl\n/changes.diff\n");
    write("policy.yaml", "version: 1\nextends: [strict, cpp]\n");
    write("prompt.txt", "Make the failing test pass.\n");
    write("change.diff", "a change\n");
    write("answer.schema.json", R"({"type": "object"})");
    write_files(blocks, project());
    write("task.yaml", "version: 1\nprompt: Make the failing test pass.\nverify: [make test]\n");
    CassetteWriter answers;
    answers.patch(
        "*** Begin Patch\n*** Update File: answer.txt\n@@\n-wrong\n+right\n*** End Patch\n");
    answers.next().message("Corrected.").message("Corrected.").message("Corrected.");
    answers.save(project() / "cassette.jsonl");
    CassetteWriter().message("{}").save(folder_ / "words.jsonl");
    program("sortie",
            "if [[ $1 = run && $* != *--replay* && $* != *samples/* && $* != *demo/* ]]; then\n"
            "  set -- \"$@\" --replay '" +
                (project() / "cassette.jsonl").string() +
                "'\nelif [ \"$1\" = exec ]; then\n  set -- \"$@\" --replay '" +
                (folder_ / "words.jsonl").string() + "'\nfi\nexec '" + sortie_binary() +
                "' \"$@\"");
    // What the pages take for granted.
    program("pytest", "echo '1 failed'; exit 1");
    program("logger", "cat");
    program("sudo", "exec \"$@\"");
    make_repository(project());
    commit_all(project());
    const ProgramEnd run = run_program({.argv = {sortie_binary(), "run", "task.yaml", "--out",
                                                 "sortie-out", "--replay", "cassette.jsonl"},
                                        .folder = project()});
    BOOST_REQUIRE_MESSAGE(run.status == 0, run.printed());
    git(project(), {"clone", "-q", ".", "../clone"});
    git(project(), {"clone", "-q", ".", "../home/src/project"});
  }

  fs::path project() const { return folder_ / "project"; }

  /// As a careful script: the first failure ends it.
  ProgramEnd give(std::string commands) const {
    for (const auto& row : kPlaces)
      for (std::size_t at = 0; (at = commands.find(row.place, at)) != std::string::npos;)
        commands.replace(at, std::string(row.place).size(), (folder_ / row.below).string());
    return run_program(
        {.argv = {"bash", "-ec", commands},
         .folder = project(),
         .environment = {{"PATH", (folder_ / "bin").string() + ":" + std::getenv("PATH")},
                         {"HOME", (folder_ / "home").string()},
                         {"GITHUB_STEP_SUMMARY", (folder_ / "step.md").string()},
                         {"GITHUB_ACTIONS", ""},
                         {"OPENAI_API_KEY", ""}}});
  }

 private:
  void write(const fs::path& name, const std::string& content) const {
    fs::create_directories((project() / name).parent_path());
    write_file(project() / name, content);
  }
  void program(const std::string& name, const std::string& script) const {
    write_file(folder_ / "bin" / name, "#!/bin/bash\n" + script + "\n");
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }

  TemporaryFolder folder_;
};

/// The block as it can be given here.
std::string prepared(const std::string& page, std::string block) {
  for (const auto& row : kPrepared) {
    if (page != row.page || !block.starts_with(row.beginning)) continue;
    const std::string word = row.word;
    if (!word.empty()) {
      BOOST_TEST_REQUIRE(block.find(word) != std::string::npos, word);
      block.replace(block.find(word), word.size(), row.instead);
    }
    return std::string(row.before) + "\n" + block;
  }
  return block;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(document_commands)

BOOST_AUTO_TEST_CASE(each_block_of_shell_runs_as_it_stands_or_a_table_says_why_not) {
  std::vector<int> found(std::size(kNotRun));
  int runs = 0;
  for (const std::string& page : pages()) {
    const auto blocks = blocks_of(page);
    for (const DocumentBlock& block : blocks) {
      // Blocks with a marker are run by recipes_test.cpp.
      if (block.language != "sh" || block.marker.starts_with("run")) continue;
      if (page == "docs/recipes.md") continue;  // in the next case
      bool left_out = false;
      for (std::size_t i = 0; i < std::size(kNotRun); ++i) {
        if (page != kNotRun[i].page || !block.text.starts_with(kNotRun[i].beginning)) continue;
        ++found[i];
        left_out = true;
      }
      if (left_out) continue;
      BOOST_TEST_CONTEXT(block.place) {
        const Desk desk(blocks);
        const ProgramEnd end = desk.give(prepared(page, block.text));
        BOOST_TEST(end.status == 0, block.text << "\n" << end.printed());
        ++runs;
      }
    }
  }
  BOOST_TEST(runs > 20);
  for (std::size_t i = 0; i < std::size(kNotRun); ++i)
    BOOST_TEST(found[i] == 1, kNotRun[i].page << ": " << kNotRun[i].beginning << ": " << found[i]);
}

// The block of text after it has what it prints, line by line.
BOOST_AUTO_TEST_CASE(each_of_the_twelve_recipes_prints_what_the_page_says) {
  const auto blocks = blocks_of("docs/recipes.md");
  int recipes = 0;
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    if (blocks[i].language != "sh") continue;
    BOOST_TEST_CONTEXT(blocks[i].place) {
      ++recipes;
      BOOST_TEST_REQUIRE(blocks[i + 1].language == "text");
      const ProgramEnd end = Desk({}).give(blocks[i].text);
      BOOST_TEST(end.status == 0, end.printed());
      for (const auto line : split_lines(blocks[i + 1].text))
        BOOST_TEST(end.output.find(line) != std::string::npos, line << " is not in:\n"
                                                                    << end.output);
    }
  }
  BOOST_TEST(recipes == 12);
}

// What shells can't tell from prose could not be run: a block says what it is.
BOOST_AUTO_TEST_CASE(each_block_says_its_language_and_none_is_indented) {
  for (const std::string& page : pages()) {
    const std::string text = read_file(kRoot / page);
    std::string before = "-";
    bool fenced = false;
    int number = 0;
    for (const auto line : split_lines(text)) {
      ++number;
      if (line.starts_with("```")) {
        BOOST_TEST((fenced || line.size() > 3),
                   page << ":" << number << ": ``` without a language");
        BOOST_TEST((line != "```bash" && line != "```shell" && line != "```console"),
                   page << ":" << number << ": write ```sh");
        fenced = !fenced;
      }
      BOOST_TEST((fenced || !before.empty() || !line.starts_with("    ")),
                 page << ":" << number << ": a block between ```sh (or text, yaml, …) and ```");
      before = line;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
