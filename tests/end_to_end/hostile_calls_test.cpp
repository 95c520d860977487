// Calls with crafted arguments, in a tree whose links, pipes and holes were laid for them.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kMarker = "not-for-the-model";

void lay_traps(const RunFolder& folder) {
  folder.write("secret.txt", std::string(kMarker) + "\n");
  folder.write("work/.env", std::string("PLAIN=") + kMarker + "\n");
  folder.write("work/a.txt", "a\n");
  folder.write("work/sub/b.txt", "b\n");
  const fs::path work = folder.workspace();
  fs::create_symlink("../secret.txt", work / "up");
  fs::create_symlink(folder.path("secret.txt"), work / "absolute");
  fs::create_directory_symlink("..", work / "folder");
  fs::create_symlink("up", work / "chain");
  fs::create_symlink("loop", work / "loop");
  fs::create_symlink("/proc/self/environ", work / "environment");
  fs::create_symlink("/proc/self/root" + folder.path("secret.txt").string(), work / "magic");
  fs::create_symlink("/dev/zero", work / "zero");
  fs::create_symlink(".git", work / "repository");
  BOOST_REQUIRE(::mkfifo((work / "pipe").c_str(), 0666) == 0);
  folder.write("work/huge", "");
  fs::resize_file(work / "huge", 1ull << 40);
}

/// Paths that lead to no file of the workspace which may be read, or to none that ends.
std::vector<std::string> hostile_paths(const RunFolder& folder) {
  const std::string outside = folder.path("secret.txt").string();
  return {"../secret.txt",
          "sub/../../secret.txt",
          "././/sub/.././../secret.txt",
          "a.txt/../../secret.txt",
          outside,
          "/" + outside,
          "/proc/self/root" + outside,
          "/proc/self/cwd/../secret.txt",
          "up",
          "./up",
          "chain",
          "absolute",
          "magic",
          "loop",
          "folder/secret.txt",
          "folder/work/folder/secret.txt",
          "environment",
          "/proc/self/environ",
          "/proc/1/environ",
          "zero",
          "/dev/zero",
          "/dev/stdin",
          "pipe",
          "huge",
          ".env",
          "./.env",
          "sub/../.env",
          "/etc/shadow",
          "~/.ssh/id_rsa",
          std::string("a.txt\0.png", 10),
          "a.txt\n../secret.txt",
          "\x1b]0;x\x07",
          std::string(5000, 'a'),
          [] {
            std::string deep;
            for (int i = 0; i < 3000; ++i) deep += "d/";
            return deep + "x";
          }(),
          "..",
          "/",
          ""};
}

std::vector<std::string> hostile_patches(const RunFolder& folder) {
  const std::string outside = folder.path("secret.txt").string();
  const auto patch = [](const std::string& body) {
    return "*** Begin Patch\n" + body + "*** End Patch\n";
  };
  std::vector<std::string> patches;
  for (const std::string& path :
       {std::string("../secret.txt"), outside, std::string("up"), std::string("chain"),
        std::string("absolute"), std::string("magic"), std::string("folder/secret.txt")})
    patches.push_back(patch("*** Update File: " + path + "\n@@\n-" + kMarker + "\n+changed\n"));
  for (const std::string& path :
       {std::string("../new.txt"), folder.path("new.txt").string(), std::string("folder/new.txt"),
        std::string("up"),

        std::string("zero"), std::string("loop/x"), std::string("repository/hooks/pre-commit"),
        std::string(".git/hooks/pre-commit"), std::string("sub/.git/config"),
        std::string(".GIT/config"), std::string(".git"), std::string("sub/../.git/config"),
        std::string(".github/workflows/x.yml"), std::string("AGENTS.md"),
        std::string("sub/CODEOWNERS"), std::string("/etc/sortie-test"), std::string("a.txt/b"),
        std::string(5000, 'a'), std::string("nul\0x", 5)})
    patches.push_back(patch("*** Add File: " + path + "\n+x\n"));
  for (const std::string& path :
       {std::string("../a.txt"), folder.path("a.txt").string(), std::string("folder/a.txt"),
        std::string(".git/config"), std::string(".git/hooks/x"), std::string("AGENTS.md")})
    patches.push_back(patch("*** Update File: a.txt\n*** Move to: " + path + "\n@@\n-a\n+b\n"));
  for (const std::string& path : {std::string("../secret.txt"), outside, std::string(".git/config"),
                                  std::string("folder/secret.txt"), std::string("folder")})
    patches.push_back(patch("*** Delete File: " + path + "\n"));
  return patches;
}

std::vector<Json> hostile_workdirs(const RunFolder& folder) {
  std::vector<Json> calls;
  for (const std::string& place :
       {std::string(".."), std::string("/"), folder.path("").string(), std::string("folder"),
        std::string("folder/work/.."), std::string("sub/../.."), std::string("pipe"),
        std::string("/proc/self/root"), std::string("/proc/1/cwd"), std::string("sub\0x", 5),
        std::string("loop"), std::string(5000, 'a')})
    calls.push_back(
        Json::object({{"command", Json::array({"cat", "secret.txt"})}, {"workdir", place}}));
  return calls;
}

void write_hostile_task(const RunFolder& folder, const CassetteWriter& cassette,
                        const std::string& preset) {
  folder.write("policy.yaml", "version: 1\nextends: [" + preset + "]\nmax_denials: 1000\n");
  folder.write_task(cassette, "policy: policy.yaml\nexpect: {changes: any}\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_calls)

BOOST_AUTO_TEST_CASE(no_crafted_argument_leads_out_of_the_workspace_or_never_ends) {
  for (const std::string preset : {"strict", "auto"}) {
    for (const auto& caller : all_callers()) {
      BOOST_TEST_CONTEXT(preset << ", " << caller.name) {
        const RunFolder folder;
        folder.write("work/a.txt", "a\n");
        folder.commit_workspace();
        lay_traps(folder);
        CassetteWriter cassette;
        std::vector<std::string> names;
        const auto call = [&](const std::string& tool, Json arguments) {
          names.push_back(tool + " " + write_json(arguments).substr(0, 200));
          cassette.call(tool, std::move(arguments)).next();
        };
        for (const std::string& path : hostile_paths(folder)) {
          call("read_file", Json::object({{"path", path}}));
        }
        for (const char* path : {"..", "/", "folder", "folder/work/..", "pipe", "zero", "loop",
                                 "/proc/self/fd", "/proc/self/root", "/dev", "~"})
          call("list_dir", Json::object({{"path", path}}));
        for (Json& arguments : hostile_workdirs(folder)) call("shell", std::move(arguments));
        for (const std::string& patch : hostile_patches(folder)) {
          names.push_back("apply_patch " + patch.substr(0, 200));
          cassette.patch(patch).next();
        }
        cassette.message("done");
        write_hostile_task(folder, cassette, preset);
        const auto before = read_tree(folder.path("work/.git"));

        const ProgramEnd end = folder.run_as(caller);

        BOOST_TEST(end.status == 0, end.errors);
        const auto outputs = folder.records("tool.output");
        BOOST_TEST_MESSAGE(preset << ", " << caller.name << ": " << outputs.size() << " calls");
        BOOST_REQUIRE(outputs.size() == names.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          // Said to be binary, and of which size, without being read.
          const bool is_told = names[i] == R"(read_file {"path":"huge"})";
          BOOST_TEST(outputs[i]["success"].boolean(true) == is_told,
                     names[i] << "\n"
                              << outputs[i].string_at("output"));
          BOOST_TEST(outputs[i].string_at("output").find(kMarker) == std::string::npos, names[i]);
        }
        BOOST_TEST(read_file(folder.path("secret.txt")) == std::string(kMarker) + "\n");
        BOOST_TEST(!fs::exists(folder.path("new.txt")));
        BOOST_TEST(!fs::exists(folder.path("a.txt")));
        BOOST_TEST((read_tree(folder.path("work/.git")) == before));
        BOOST_TEST(folder.artifact("changes.diff") == "");
      }
    }
  }
}

// What a command may leave in its own workspace, and sortie's diff then finds.
BOOST_AUTO_TEST_CASE(what_a_command_leaves_neither_hangs_the_diff_nor_gets_into_it) {
  const struct {
    const char* line;
    const char* never;  ///< in the diff
  } rows[] = {
      {"mkfifo pipe sub/pipe", "pipe"},
      {"rm a.txt && mkfifo a.txt", "new file mode 010"},
      {"rm -r sub && mkfifo sub", "new file mode 010"},
      {"rm a.txt && ln -s ../secret.txt a.txt", "not-for-the-model"},
      {"rm -r sub && ln -s .. sub", "not-for-the-model"},
      {"ln -s /dev/zero zero", "+++ b/zero/"},
      {"mkdir -p sub/.git/hooks && echo '[core] fsmonitor = x' > sub/.git/config", ".git"},
      {"mkdir -p .GIT/hooks && echo x > .GIT/config", "GIT"},
      {"mkdir -p sub/.Git && echo x > sub/.Git/config", "Git"},
      {"git init -q nested && echo x > nested/.git/hooks/pre-commit", ".git"},
      {"echo 'gitdir: /tmp/elsewhere' > sub/.git", ".git"},
      {"setfattr -n user.overlay.opaque -v y sub; setfattr -n user.overlay.redirect -v /etc sub; "
       "setfattr -n user.overlay.metacopy -v '' a.txt; setfattr -n trusted.overlay.opaque -v y "
       "sub; true",
       "deleted file"},
      {"i=0; p=.; while [ $i -lt 60 ]; do p=$p/d; i=$((i+1)); done; mkdir -p $p", "d/d"},
  };
  for (const auto& caller : all_callers()) {
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT(caller.name << ": " << row.line) {
        const RunFolder folder;
        folder.write("secret.txt", std::string(kMarker) + "\n");
        folder.write("work/a.txt", "a\n");
        folder.write("work/sub/b.txt", "b\n");
        folder.commit_workspace();
        folder.write_task(CassetteWriter().shell({"sh", "-c", row.line}).next().message("done"),
                          "policy: auto\nexpect: {changes: any}\n");
        const auto before = read_tree(folder.workspace());

        const ProgramEnd end = folder.run_as(caller);

        BOOST_TEST((end.status == 0 || end.status == 1 || end.status == 8), end.errors);
        if (end.status == 0) {
          const std::string diff = folder.artifact("changes.diff");
          BOOST_TEST(diff.find(row.never) == std::string::npos, diff);
        }
        BOOST_TEST((read_tree(folder.workspace()) == before));
        BOOST_TEST(!fs::exists(folder.out() / "state"));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
