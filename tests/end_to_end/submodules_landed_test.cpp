// What becomes of diffs of submodules after the run: applied, landed, checked, returned again.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "core/record/transcript_reader.h"
#include "tests/end_to_end/land_run.h"
#include "tests/end_to_end/submodules_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const std::string kTask = "policy: auto\noutput: {diff: {submodules: [sub, sub/inner]}}\n";

CassetteWriter changes() {
  return script_of("echo 2 > sub/file; rm sub/gone; echo 3 > sub/inner/new; echo top >> file");
}

bool has_changes(const fs::path& root) {
  return read_file(root / "sub/file") == "2\n" && !fs::exists(root / "sub/gone") &&
         fs::exists(root / "sub/inner/new") && read_file(root / "file") == "work\ntop\n";
}

ProgramEnd land(const RunFolder& folder, const fs::path& target,
                const std::vector<std::string>& flags = {}) {
  std::vector<std::string> argv = {sortie_binary(), "land", folder.out().string()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return run_program({.argv = argv, .folder = target});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(submodules_landed)

BOOST_AUTO_TEST_CASE(apply_writes_all_of_them_or_none) {
  const struct {
    const char* name;
    const char* meanwhile;  ///< what the agent's command does not see: made by the user
    int status;
  } rows[] = {{"as it was", "", 0}, {"a file of a submodule changed meanwhile", "sub/file", 13}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      make_modules(folder);
      folder.write_task(changes(), row.status == 0
                                       ? kTask
                                       : "policy: auto\noutput: {diff: {base: head, submodules: "
                                         "[sub, sub/inner]}}\n");
      if (row.status != 0) folder.write("work/" + std::string(row.meanwhile), "mine\n");
      const auto before = files_of(folder.workspace());

      const ProgramEnd end = folder.run({"--apply"});

      BOOST_TEST(end.status == row.status, end.errors);
      const Json result = folder.result();
      if (row.status == 0) {
        BOOST_TEST(has_changes(folder.workspace()));
        BOOST_TEST((result["applied_paths"].texts() ==
                    std::vector<std::string>{"file", "sub/file", "sub/gone", "sub/inner/new"}));
      } else {
        BOOST_TEST((files_of(folder.workspace()) == before));
        BOOST_TEST(holds(end.errors, "sub/file: has another content now"), end.errors);
        BOOST_TEST(fs::exists(folder.out() / "partial-submodules/sub.diff"));
        BOOST_TEST(!fs::exists(folder.out() / "submodules"));
        BOOST_TEST(result["submodules"].items().front().string_at("diff") ==
                   "partial-submodules/sub.diff");
      }
      BOOST_TEST(!fs::exists(folder.workspace() / ".sortie-apply"));
      BOOST_TEST(verify_run(folder.out()).problem == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_is_returned_again_applies_them_too) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(changes(), kTask);
  BOOST_REQUIRE(folder.run().status == 0);

  const ProgramEnd again = folder.run({"--apply"});

  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(has_changes(folder.workspace()));
}

BOOST_AUTO_TEST_CASE(a_write_that_was_killed_as_the_end_was_recorded_anew_is_removed) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(changes(), kTask);
  BOOST_REQUIRE(folder.run().status == 0);
  const fs::path left[] = {folder.out() / ".sortie-0123456789abcdef.tmp",
                           folder.out() / "submodules/.sortie-0123456789abcdef.tmp",
                           folder.out() / "submodules/sub/.sortie-0123456789abcdef.tmp"};
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--apply"}, {}}) {
    for (const fs::path& path : left) {
      fs::create_directories(path.parent_path());
      write_file(path, "hal");
    }

    const ProgramEnd end = folder.run(flags);

    BOOST_TEST(end.status == 0, end.errors);
    for (const fs::path& path : left) BOOST_TEST(!fs::exists(path), path);
    BOOST_TEST(verify_run(folder.out()).problem == "");
  }
}

BOOST_AUTO_TEST_CASE(the_picked_one_of_several_attempts_leaves_them_at_the_top) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(changes(), kTask);

  const ProgramEnd end = folder.run({"--best-of", "2", "--apply"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(has_changes(folder.workspace()));
  BOOST_TEST(folder.artifact("submodules/sub.diff") ==
             folder.artifact("attempt-1/submodules/sub.diff"));
  const ProgramEnd verified =
      run_program({.argv = {sortie_binary(), "verify", folder.out().string()}});
  BOOST_TEST(verified.status == 0, verified.errors);
}

BOOST_AUTO_TEST_CASE(whatever_is_changed_in_them_afterwards_is_named) {
  const struct {
    const char* name;
    std::function<void(const fs::path& out)> change;
    const char* says;
  } rows[] = {
      {"a byte", [](const fs::path& out) { write_file(out / "submodules/sub.diff", "x"); },
       "submodules/sub.diff was changed"},
      {"one less", [](const fs::path& out) { fs::remove(out / "submodules/sub/inner.diff"); },
       "submodules/sub/inner.diff is missing"},
      {"one more", [](const fs::path& out) { write_file(out / "submodules/x.diff", ""); },
       "submodules/x.diff was added"},
      {"one of a failure",
       [](const fs::path& out) {
         fs::create_directory(out / "partial-submodules");
         write_file(out / "partial-submodules/sub.diff", "");
       },
       "partial-submodules/sub.diff was added"},
      {"a link on the way",
       [](const fs::path& out) {
         fs::rename(out / "submodules/sub", out / "submodules/real");
         fs::create_symlink("real", out / "submodules/sub");
       },
       "submodules/sub"},
  };
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(changes(), kTask);
  BOOST_REQUIRE(folder.run().status == 0);
  const fs::path target = clone_modules(folder, "target");
  copy_tree(folder.out(), folder.path("kept"));
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(folder.out());
      copy_tree(folder.path("kept"), folder.out());
      row.change(folder.out());

      const ProgramEnd end =
          run_program({.argv = {sortie_binary(), "verify", folder.out().string()}});
      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(holds(end.printed(), row.says), end.printed());
      BOOST_TEST(land(folder, target).status == 8);
      BOOST_TEST(!has_changes(target));
    }
  }
}

BOOST_AUTO_TEST_CASE(land_writes_them_into_the_work_tree) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(changes(), kTask);
  BOOST_REQUIRE(folder.run().status == 0);
  const fs::path target = clone_modules(folder, "target");

  const ProgramEnd end = land(folder, target);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(has_changes(target));
  BOOST_TEST(holds(end.errors, "the submodule sub/inner has changes in the work tree alone"),
             end.errors);
  const Json request = parse_json(folder.artifact("pr.json"));
  BOOST_TEST(request["files"].items().size() == 4);
  // The mail is for the repository itself.
  BOOST_TEST(!holds(folder.artifact("change.mbox"), "sub"));
  BOOST_TEST(land(folder, target).status == 0);  // it is there already
}

BOOST_AUTO_TEST_CASE(land_merges_what_has_changed_in_a_submodule_meanwhile_or_changes_nothing) {
  const RunFolder folder;
  make_modules(folder);
  const auto lines = [](const std::string& first, const std::string& last) {
    std::string text = first + "\n";
    for (int i = 0; i < 9; ++i) text += "line " + std::to_string(i) + "\n";
    return text + last + "\n";
  };
  folder.write("work/sub/inner/long", lines("first", "last"));
  const auto commit = [](const fs::path& place) {
    git(place, {"add", "--all"});
    git(place,
        {"-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", "more"});
  };
  for (const char* place : {"work/sub/inner", "work/sub", "work"}) commit(folder.path(place));
  folder.write_task(script_of("sed -i s/last/agents/ sub/inner/long; echo top >> file"), kTask);
  BOOST_REQUIRE(folder.run().status == 0);
  const struct {
    const char* name;
    std::string meanwhile;
    std::vector<std::string> flags;
    int status;
    std::string merged;
  } rows[] = {
      {"another line", lines("mine", "last"), {"--three-way"}, 0, lines("mine", "agents")},
      {"the same line", lines("first", "mine"), {"--three-way"}, 13, lines("first", "mine")},
      {"without the flag", lines("mine", "last"), {}, 13, lines("mine", "last")},
  };
  const fs::path target = folder.path("target");
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      copy_tree(folder.workspace(), target);
      write_file(target / "sub/inner/long", row.meanwhile);
      commit(target / "sub/inner");

      const ProgramEnd end = land(folder, target, row.flags);

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(read_file(target / "sub/inner/long") == row.merged);
      BOOST_TEST(read_file(target / "file") == (row.status == 0 ? "work\ntop\n" : "work\n"));
      if (row.status != 0) BOOST_TEST(holds(end.errors, "sub/inner/long"), end.errors);
      fs::remove_all(target);
    }
  }
}

BOOST_AUTO_TEST_CASE(land_refuses_what_it_can_not_land_whole) {
  const struct {
    const char* name;
    std::vector<std::string> flags;
    std::function<void(const fs::path& target)> before;
    int status;
    const char* says;
  } rows[] = {
      {"a commit", {"--onto", "HEAD"}, {}, 2, "a commit of this repository can't hold"},
      {"a submodule that is not checked out",
       {},
       [](const fs::path& target) {
         git(target, {"submodule", "-q", "deinit", "-f", "sub"});
       },
       13,
       "the submodule sub, which is not checked out here"},
      {"a submodule that is none here",
       {},
       [](const fs::path& target) {
         git(target, {"rm", "-q", "-f", "sub"});
         git(target, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"});
         fs::create_directories(target / "sub");
         write_file(target / "sub/file", "module\n");
       },
       13,
       "the submodule sub, which this repository does not have"},
      {"a link in its place",
       {},
       [](const fs::path& target) {
         fs::rename(target / "sub", target / "real");
         fs::create_symlink("real", target / "sub");
       },
       13,
       "the submodule sub, which is not checked out here"},
      {"a file that has changed",
       {},
       [](const fs::path& target) { write_file(target / "sub/file", "mine\n"); },
       13,
       "sub/file: has another content now"},
      {"a policy that does not let it be written",
       {"--policy", "readonly.yaml"},
       [](const fs::path& target) {
         write_file(target / "readonly.yaml",
                    "version: 1\nextends: strict\npaths: {protect: [sub/inner]}\n");
       },
       8,
       "sub/inner/new"},
  };
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(changes(), kTask);
  BOOST_REQUIRE(folder.run().status == 0);
  int number = 0;
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const fs::path target = clone_modules(folder, "target" + std::to_string(++number));
      if (row.before) row.before(target);
      const auto before = files_of(target);

      const ProgramEnd end = land(folder, target, row.flags);

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(holds(end.errors, row.says), end.errors);
      BOOST_TEST((files_of(target) == before));
    }
  }
}

/// The folder of a run is a stranger's: all its digests may fit.
BOOST_AUTO_TEST_CASE(a_forged_run_lands_nothing_where_no_diff_of_its_kind_belongs) {
  const std::string added =
      "new file mode 100644\nindex 0000000000000000000000000000000000000000.."
      "587be6b4c3f93f93c489c0111bba5596147a26cb\n--- /dev/null\n";
  const auto diff_of = [&](const std::string& path) {
    return "diff --git a/" + path + " b/" + path + "\n" + added + "+++ b/" + path +
           "\n@@ -0,0 +1 @@\n+x\n";
  };
  const struct {
    const char* name;
    std::string diff;       ///< in --out
    std::string submodule;  ///< that it says to be of
    std::string path;       ///< of the file that it makes
    int status;
    const char* says;
  } rows[] = {
      {"a file of a submodule in the diff around it", "changes.diff", "", "sub/evil", 8,
       "sub/evil is in the submodule sub, which has a diff of its own"},
      {"a file of a submodule in that of the one around it", "submodules/sub.diff", "sub",
       "inner/evil", 8, "sub/inner/evil is in the submodule sub/inner"},
      {"a folder that is no submodule", "submodules/other.diff", "other", "evil", 13,
       "the submodule other, which this repository does not have"},
      {"the repository itself", "submodules/.git.diff", ".git", "hooks/evil", 8, ".git"},
      {"a folder outside", "submodules/../x.diff", "../x", "evil", 8, "is not a file name"},
      {"a path into a repository", "submodules/sub.diff", "sub", ".git/evil", 8, ".git"},
  };
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(changes(), kTask);
  BOOST_REQUIRE(folder.run().status == 0);
  copy_tree(folder.out(), folder.path("kept"));
  const fs::path target = clone_modules(folder, folder.path("target").string());
  const auto before = read_tree(target);
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(folder.out());
      copy_tree(folder.path("kept"), folder.out());
      const std::string diff = diff_of(row.path);
      const std::string digest = sha256_hex(diff);
      const Json files = Pipeline::files_of(diff, Json::array());
      bool is_new = true;
      std::int64_t count = 0;
      forge_records_in(folder, [&](const std::string& type, Json& data) {
        if (type == "diff.written") {
          const bool same = data.string_at("name") == row.diff;
          // One of the records becomes that of another submodule.
          const bool taken = is_new && (same || (row.submodule != "sub" && !row.submodule.empty() &&
                                                 data.string_at("submodule") == "sub/inner"));
          if (taken) {
            is_new = false;
            data.set("name", row.diff);
            if (!row.submodule.empty()) data.set("submodule", row.submodule);
            data.set("sha256", digest);
            data.set("files", files);
          }
          count += static_cast<std::int64_t>(data["files"].items().size());
        }
        if (type != "run.completed") return;
        for (Json* artifacts : {data.find("artifacts"), data.find("result")->find("artifacts")}) {
          if (row.diff.find("sub.diff") == std::string::npos && row.diff != "changes.diff")
            std::erase_if(artifacts->members(),
                          [](const auto& one) { return one.first == "submodules/sub/inner.diff"; });
          artifacts->set(row.diff, "sha256:" + digest);
        }
        Json& result = *data.find("result");
        result.set("changed_files", count);
        for (Json& one : result.find("submodules")->items()) {
          if (one.string_at("diff") == row.diff) one.set("changed_files", 1);
          if (row.diff.find("sub.diff") != std::string::npos || row.diff == "changes.diff" ||
              one.string_at("path") != "sub/inner")
            continue;
          one.set("path", row.submodule);
          one.set("diff", row.diff);
        }
      });
      if (row.diff.find("sub.diff") == std::string::npos && row.diff != "changes.diff")
        fs::remove(folder.out() / "submodules/sub/inner.diff");
      write_anew(folder.out() / row.diff, diff);
      write_attestation_in(folder.out());

      const ProgramEnd end = land(folder, target);

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(holds(end.errors, row.says), end.errors);
      BOOST_TEST((read_tree(target) == before));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
