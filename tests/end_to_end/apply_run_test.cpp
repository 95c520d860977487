#include <signal.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

// `sortie run --apply`: a success is written into the workspace, whole or not at all.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run that changes a tracked file, an untracked one and a binary one, moves, deletes, and makes a
/// program and a link.
CassetteWriter every_change() {
  CassetteWriter cassette;
  cassette
      .shell({"sh", "-c",
              "echo new >> a.txt; echo more >> untracked; printf '\\000\\001' > image; "
              "mkdir -p sub/new; mv moved.txt sub/new/; rm gone/only; rmdir gone; "
              "printf '#!/bin/sh\\n' > tool; chmod +x tool; ln -s a.txt link"})
      .next()
      .message("Changed everything.");
  return cassette;
}

void fill(const RunFolder& folder) {
  folder.write("work/a.txt", "a\n");
  folder.write("work/moved.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
  folder.write("work/gone/only", "x\n");
  folder.write("work/image", "text\n");
  folder.commit_workspace();
  folder.write("work/untracked", "mine\n");
}

std::map<std::string, std::string> tree_of(const RunFolder& folder) {
  std::map<std::string, std::string> tree = read_tree(folder.workspace());
  std::erase_if(tree, [](const auto& entry) { return entry.first.starts_with(".git/"); });
  return tree;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(apply_run)

BOOST_AUTO_TEST_CASE(a_success_is_written_into_the_workspace_exactly_as_the_diff_says) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      fill(folder);
      folder.write_task(every_change(), "policy: auto\n");
      copy_tree(folder.workspace(), folder.path("copy"));
      give_to(folder.path(""), caller.uid);
      const auto git_before = read_tree(folder.workspace() / ".git");

      const ProgramEnd end = folder.run_as(caller, folder.start({"--apply"}));

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      const Json result = folder.result();
      BOOST_TEST(result["applied"].boolean());
      BOOST_TEST((result["applied_paths"].texts() ==
                  std::vector<std::string>{"a.txt", "gone/only", "image", "link", "moved.txt",
                                           "sub/new/moved.txt", "tool", "untracked"}));
      git(folder.path("copy"), {"apply", (folder.out() / "changes.diff").string()});
      BOOST_TEST((tree_of(folder) == [&] {
        auto tree = read_tree(folder.path("copy"));
        std::erase_if(tree, [](const auto& one) { return one.first.starts_with(".git/"); });
        return tree;
      }()));
      BOOST_TEST(!fs::exists(folder.workspace() / "gone"));
      BOOST_TEST((read_tree(folder.workspace() / ".git") == git_before));
      BOOST_TEST(verify_run(folder.out()).ok);
      BOOST_TEST(holds(end.errors, "written into the workspace"), end.errors);
      BOOST_TEST(holds(result.string_at("next"), "look at the changes"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_fails_or_changes_nothing_writes_nothing) {
  const struct {
    const char* name;
    const char* more;
    int status;
  } rows[] = {
      {"a failed verification", "policy: auto\nverify: {commands: ['false'], rounds: 0}\n", 1},
      {"an expectation", "policy: auto\nexpect: {changes: forbidden}\n", 1}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      fill(folder);
      folder.write_task(every_change().message("again").message("again").message("again"),
                        row.more);
      const auto before = read_tree(folder.workspace());

      const ProgramEnd end = folder.run({"--apply"});

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(!folder.result()["applied"].boolean());
      BOOST_TEST((read_tree(folder.workspace()) == before));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_workspace_in_a_folder_of_its_repository_gets_its_own_paths) {
  const RunFolder folder;
  folder.write("work/sub/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "echo b >> a.txt && echo c > c.txt"})
                        .next()
                        .message("done"),
                    "policy: auto\n");

  const ProgramEnd end = folder.run({"--apply", "-C", (folder.workspace() / "sub").string()});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(folder.workspace() / "sub/a.txt") == "a\nb\n");
  BOOST_TEST(read_file(folder.workspace() / "sub/c.txt") == "c\n");
  BOOST_TEST(
      (folder.result()["applied_paths"].texts() == std::vector<std::string>{"a.txt", "c.txt"}));
}

BOOST_AUTO_TEST_CASE(against_head_with_uncommitted_changes_in_the_way_nothing_is_written) {
  const RunFolder folder;
  fill(folder);
  folder.write("work/a.txt", "a\nuncommitted\n");
  folder.write_task(every_change(), "policy: auto\noutput: {diff: {base: head}}\n");
  const auto before = read_tree(folder.workspace());

  const ProgramEnd end = folder.run({"--apply"});

  BOOST_TEST(end.status == 13, end.errors);
  BOOST_TEST(holds(end.errors, "a.txt: has another content now"), end.errors);
  BOOST_TEST((read_tree(folder.workspace()) == before));
  BOOST_TEST(!folder.artifact("partial.diff").empty());
  BOOST_TEST(!fs::exists(folder.out() / "changes.diff"));
  BOOST_TEST(!folder.result()["applied"].boolean(true));
}

BOOST_AUTO_TEST_CASE(what_stands_in_its_way_is_said_before_anything_starts) {
  const RunFolder folder;
  fill(folder);
  folder.write("work/.sortie-apply/journal", "{\"sortie_apply\":1}\n");
  folder.write_task(every_change(), "policy: auto\n");
  const auto before = read_tree(folder.workspace());

  const ProgramEnd end = folder.run({"--apply"});

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(holds(end.errors, ".sortie-apply that sortie has not made"), end.errors);
  BOOST_TEST(!fs::exists(folder.out() / "transcript.jsonl"));
  BOOST_TEST((read_tree(folder.workspace()) == before));
}

// An end that fails after the tree was written takes it back.
BOOST_AUTO_TEST_CASE(a_result_that_can_not_be_written_takes_the_changes_back) {
  const RunFolder folder;
  fill(folder);
  folder.write_task(every_change(), "policy: auto\n");
  const auto before = read_tree(folder.workspace());
  // result.json can't replace a folder.
  Program program(folder.start({"--apply"}));
  BOOST_REQUIRE(wait_until([&] { return fs::exists(folder.out() / "transcript.jsonl"); }));
  fs::remove(folder.out() / "result.json");
  fs::create_directories(folder.out() / "result.json/x");

  const ProgramEnd end = program.finish();

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST((read_tree(folder.workspace()) == before));
}

BOOST_AUTO_TEST_CASE(killed_at_any_instant_the_next_start_finds_the_tree_wholly_old_or_new) {
  const char* wanted = std::getenv("SORTIE_APPLY_KILLS");
  const int kills = wanted == nullptr ? 20 : std::atoi(wanted);
  const RunFolder folder;
  fill(folder);
  folder.write_task(every_change(), "policy: auto\n");
  const auto old_tree = tree_of(folder);
  copy_tree(folder.workspace(), folder.path("start"));
  const auto begin = std::chrono::steady_clock::now();
  BOOST_REQUIRE(folder.run({"--apply"}).status == 0);
  const auto took = std::chrono::steady_clock::now() - begin;
  const auto new_tree = tree_of(folder);
  std::mt19937 random(17);
  int cut_off = 0;
  int complete = 0;
  for (int i = 0; i < kills; ++i) {
    fs::remove_all(folder.workspace());
    copy_tree(folder.path("start"), folder.workspace());
    fs::remove_all(folder.out());
    {
      // The end of a run is where the tree is written.
      Program program(folder.start({"--apply"}));
      wait_until([&] {
        return fs::exists(folder.out() / "changes.diff") ||
               std::chrono::steady_clock::now() - begin > std::chrono::minutes(30);
      });
      const timespec instant{
          0, static_cast<long>(random() % static_cast<unsigned long>(
                                              std::chrono::nanoseconds(took).count() / 8 + 1))};
      ::nanosleep(&instant, nullptr);
      program.signal(SIGKILL);
    }
    // The next start on this tree: another task, which only reads.
    fs::remove_all(folder.path("other"));
    cut_off += fs::exists(folder.workspace() / ".sortie-apply");
    const Json said = [&] {
      try {
        return parse_json(read_file(folder.out() / "result.json"));
      } catch (const std::exception&) {
        return Json();
      }
    }();
    CassetteWriter().message("nothing").save(folder.path("nothing.jsonl"));
    folder.write("other.yaml",
                 "version: 1\nprompt: look\nexpect: {changes: any}\nmodel: {provider: "
                 "replay, cassette: nothing.jsonl}\n");
    ProgramStart next = folder.plain_start();
    next.argv = {sortie_binary(),
                 "run",
                 folder.path("other.yaml").string(),
                 "-C",
                 folder.workspace().string(),
                 "--out",
                 folder.path("other").string()};
    const ProgramEnd end = run_program(next);
    BOOST_TEST_CONTEXT("kill " << i) {
      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      const auto tree = tree_of(folder);
      BOOST_REQUIRE((tree == old_tree || tree == new_tree));
      BOOST_TEST((tree == new_tree) == said["applied"].boolean());
      complete += tree == new_tree;
    }
  }
  BOOST_TEST_MESSAGE(cut_off << " of " << kills << " were cut off, " << complete << " complete");
}

BOOST_AUTO_TEST_SUITE_END()
