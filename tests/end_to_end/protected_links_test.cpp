// Protected names behind links, in deep folders and in the user's own tree: told to the model at
// the call, and the last word at the end.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kPolicy =
    "version: 1\nextends: [auto]\npaths: {protect: [AGENTS.md, Jenkinsfile, .circleci/config.yml, "
    "'ops/*.yml', '**/CODEOWNERS', '**/flows/*.yml', 'all/**']}\n";

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void prepare(const RunFolder& folder, const std::string& script) {
  folder.write("work/a.txt", "a\n");
  folder.write("policy.yaml", kPolicy);
  BOOST_REQUIRE(run_program({.argv = {"sh", "-c", script}, .folder = folder.workspace()}).status ==
                0);
}

ProgramEnd sandbox(const RunFolder& folder, const Caller& caller, const std::string& script) {
  ProgramStart start = folder.start();
  start.argv = {
      sortie_binary(), "sandbox", "--policy", folder.path("policy.yaml").string(), "--", "sh", "-c",
      script};
  start.folder = folder.workspace();
  return folder.run_as(caller, start);
}

struct InPlaceRow {
  const char* given;    ///< made in the folder before
  const char* script;   ///< the command
  const char* changed;  ///< the protected path that is named, with code 8; "" where all is well
  const char* refused = "";  ///< what namespaces keep from being written: it stays "start\n"
};

constexpr InPlaceRow kInPlaceRows[] = {
    {"true", "mkdir evil; echo x > evil/config.yml; ln -s evil .circleci", ".circleci/config.yml"},
    {"true", "mkdir evil; echo x > evil/config.yml; ln -s evil .CircleCI", ".circleci/config.yml"},
    {"true", "mkdir a; ln -s ../b a/c; mkdir b; echo x > b/config.yml; ln -s a/c .circleci",
     ".circleci/config.yml"},
    {"ln -s nowhere.md Jenkinsfile", "echo x > nowhere.md", "Jenkinsfile"},
    {"mkdir d; ln -s ../later d/CODEOWNERS", "echo x > later", "d/CODEOWNERS"},
    {"mkdir real; echo start > real/config.yml; ln -s real .circleci",
     "mkdir e; echo x > e/config.yml; ln -sfn e .circleci", ".circleci/config.yml"},
    {"true", "mkdir e; echo x > e/a.yml; ln -s e ops", "ops/a.yml"},
    {"mkdir real; echo start > real/a.yml; ln -s real ops", "echo x > real/b.yml", "ops/b.yml"},
    {"mkdir -p real a/b/c/d; echo start > real/who; ln -s ../../../../real/who a/b/c/d/CODEOWNERS",
     "echo x > real/who", "a/b/c/d/CODEOWNERS", "real/who"},
    {"mkdir -p a/b/c/d/e; echo start > a/b/c/d/e/CODEOWNERS", "echo x > a/b/c/d/e/CODEOWNERS",
     "a/b/c/d/e/CODEOWNERS", "a/b/c/d/e/CODEOWNERS"},
    {"true", "mkdir -p a/b/c/d/e; echo x > a/b/c/d/e/codeowners", "a/b/c/d/e/codeowners"},
    {"true", "mkdir -p a/b/c/d/e; ln -s /etc/passwd a/b/c/d/e/CODEOWNERS", "a/b/c/d/e/CODEOWNERS"},
    {"mkdir sub", "mkdir e; echo x > e/a.yml; ln -s ../e sub/flows", "sub/flows/a.yml"},
    {"ln -s real all; mkdir real", "mkdir -p real/a/b; echo x > real/a/b/c", "all/a"},
    {"mkdir real; echo start > real/a.yml; ln -s real ops; ln -s . loop; ln -s /usr out",
     "echo x > other; ln -s other link; mkdir more; ln -s ../more more/loop", ""},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(protected_links)

BOOST_AUTO_TEST_CASE(sandbox_ends_with_8_where_a_protected_name_leads_elsewhere_or_lies_deep) {
  for (const Caller& caller : all_callers()) {
    for (const InPlaceRow& row : kInPlaceRows) {
      BOOST_TEST_CONTEXT(caller.name << ": " << row.given << ": " << row.script) {
        const RunFolder folder;
        prepare(folder, row.given);
        const ProgramEnd end = sandbox(folder, caller, row.script);

        const bool refused = *row.refused != '\0' && caller.namespaces;
        if (*row.changed == '\0') {
          BOOST_TEST(end.status == 0, end.errors);
        } else if (refused) {
          BOOST_TEST(end.status != 0, end.errors);
          BOOST_TEST(read_file(folder.workspace() / row.refused) == "start\n");
        } else {
          BOOST_TEST(end.status == 8, end.errors);
          BOOST_TEST(says(end.errors, std::string("protected path ") + row.changed), end.errors);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_model_is_told_at_the_call_that_lays_a_link_and_can_take_it_back) {
  for (const Caller& caller : all_callers()) {
    for (const bool taken_back : {true, false}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << taken_back) {
        const RunFolder folder;
        prepare(folder, "true");
        folder.commit_workspace();
        folder.write_task(
            CassetteWriter()
                .shell({"sh", "-c", "mkdir e; echo x > e/config.yml; ln -s e .circleci"})
                .next()
                .shell({"sh", "-c", taken_back ? "rm .circleci; echo b > b.txt" : "echo b > b.txt"})
                .next()
                .message("done"),
            "policy: policy.yaml\n");

        const ProgramEnd end = folder.run_as(caller);

        // Without namespaces any change of a protected path ends the run at once.
        BOOST_TEST(end.status == (taken_back && caller.namespaces ? 0 : 8), end.errors);
        const auto outputs = folder.records("tool.output");
        BOOST_REQUIRE(outputs.size() == (caller.namespaces ? 2u : 1u));
        BOOST_TEST(outputs[0].string_at("verdict") ==
                   (caller.namespaces ? "protected_path_led_elsewhere" : "protected_path_changed"));
        BOOST_TEST(says(outputs[0].string_at("shown"), ".circleci/config.yml"),
                   outputs[0].string_at("shown"));
        if (!caller.namespaces) continue;
        BOOST_TEST(!outputs[0]["success"].boolean(true));
        BOOST_TEST(outputs[1]["success"].boolean());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_name_of_a_glob_that_is_made_deep_down_is_noticed_at_the_call) {
  for (const Caller& caller : all_callers()) {
    for (const char* isolation : {"overlay", "copy"}) {
      if (!caller.namespaces && isolation == std::string("overlay")) continue;
      BOOST_TEST_CONTEXT(caller.name << ", " << isolation) {
        const RunFolder folder;
        prepare(folder, "true");
        folder.commit_workspace();
        folder.write_task(
            CassetteWriter()
                .shell({"sh", "-c", "mkdir -p a/b/c/d/e; echo x > a/b/c/d/e/CODEOWNERS"})
                .next()
                .shell({"sh", "-c", "ls a/b/c/d/e; echo b > b.txt"})
                .next()
                .message("done"),
            "policy: policy.yaml\n");

        const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", isolation}));

        BOOST_TEST(end.status == (caller.namespaces ? 0 : 8), end.errors);
        const auto outputs = folder.records("tool.output");
        BOOST_REQUIRE(outputs.size() == (caller.namespaces ? 2u : 1u));
        BOOST_TEST(outputs[0].string_at("verdict") ==
                   (caller.namespaces ? "protected_path_made" : "protected_path_changed"));
        BOOST_TEST(folder.artifact("kept/a/b/c/d/e/CODEOWNERS.taken") == "x\n");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(without_namespaces_too_what_stood_under_protected_names_is_kept) {
  for (const Caller& caller : all_callers()) {
    if (caller.namespaces) continue;
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      prepare(folder, "mkdir src docs; echo 'int a;' > src/a.c; echo start > docs/CODEOWNERS");
      folder.write("work/CONTRIBUTING.md", "how to\n");
      folder.commit_workspace();
      folder.write_task(CassetteWriter()
                            .shell({"sh", "-c",
                                    "mv CONTRIBUTING.md AGENTS.md; mkdir .circleci;"
                                    "mv src/a.c .circleci/config.yml; echo mine > docs/CODEOWNERS"})
                            .next()
                            .message("done"),
                        "policy: policy.yaml\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(folder.artifact("kept/AGENTS.md.taken") == "how to\n");
      BOOST_TEST(folder.artifact("kept/.circleci/config.yml.taken") == "int a;\n");
      BOOST_TEST(folder.artifact("kept/docs/CODEOWNERS.taken") == "mine\n");
      BOOST_TEST(folder.result()["kept"].members().size() == 3u);
      const ProgramEnd verified =
          run_program({.argv = {sortie_binary(), "verify", folder.out().string()}});
      BOOST_TEST(verified.status == 0, verified.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_empty_file_moved_under_a_protected_name_is_no_success) {
  for (const Caller& caller : all_callers()) {
    for (const char* isolation : {"overlay", "copy"}) {
      for (const bool moved : {true, false}) {
        if (!caller.namespaces) continue;  // ends the run at the call
        BOOST_TEST_CONTEXT(caller.name << ", " << isolation << ", " << moved) {
          const RunFolder folder;
          prepare(folder, "mkdir pkg; touch -d 2020-02-02 pkg/__init__.py");
          folder.commit_workspace();
          folder.write_task(
              CassetteWriter()
                  .shell({"sh", "-c",
                          moved ? "mv pkg/__init__.py AGENTS.md; echo b > b.txt"
                                : "rm pkg/__init__.py; touch AGENTS.md; echo b > b.txt"})
                  .next()
                  .message("done"),
              "policy: policy.yaml\nexpect: {tool_success: false}\n");

          const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", isolation}));

          BOOST_TEST(end.status == (moved ? 8 : 0), end.errors);
          if (moved) BOOST_TEST(says(end.errors, "pkg/__init__.py"), end.errors);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_says_aloud_which_hard_links_it_does_not_guard) {
  for (const Caller& caller : all_callers()) {
    for (const bool many_links : {true, false}) {
      if (!many_links && (caller.uid || !caller.namespaces)) continue;  // they take their time
      BOOST_TEST_CONTEXT(caller.name << ", " << many_links) {
        const RunFolder folder;
        prepare(folder, "true");
        write_file(folder.path("outside.txt"), "as it was\n");
        for (int i = 0; many_links && i < 257; ++i)
          fs::create_hard_link(folder.path("outside.txt"),
                               folder.path("work/linked" + std::to_string(i)));
        for (int i = 0; !many_links && i < 20'001; ++i)
          fs::create_symlink("x", folder.path("work/" + std::to_string(i)));

        const ProgramEnd end = sandbox(folder, caller, "true");

        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(says(end.errors, many_links ? "WARNING: 257 files have another name outside"
                                               : "WARNING: the folder has more than 20,000"),
                   end.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_says_once_on_stderr_what_it_does_not_guard) {
  const RunFolder folder;
  prepare(folder,
          "mkdir many; cd many; i=0; while [ $i -le 20000 ]; do echo $i; i=$((i + 1)); done"
          " | xargs touch; cd ..; ln -s many all");
  write_file(folder.path("outside.txt"), "as it was\n");
  for (int i = 0; i < 257; ++i)
    fs::create_hard_link(folder.path("outside.txt"),
                         folder.path("work/linked" + std::to_string(i)));
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
                    "policy: policy.yaml\n");

  const ProgramEnd end = run_program(folder.start({"--isolation", "none"}));

  BOOST_TEST(end.status == 0, end.errors);
  const Json result = folder.result();
  for (const std::string text :
       {"257 files have another name outside of the workspace", "is checked only up to all"}) {
    int recorded = 0;
    for (const Json& one : result["warnings"].items()) recorded += says(one.text(), text) ? 1 : 0;
    BOOST_TEST(recorded == 1, text);
    const std::size_t first = end.errors.find(text);
    BOOST_TEST(first != std::string::npos, end.errors);
    BOOST_TEST(end.errors.find(text, first + 1) == std::string::npos, end.errors);
  }
}

BOOST_AUTO_TEST_SUITE_END()
