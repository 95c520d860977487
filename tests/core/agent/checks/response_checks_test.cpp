#include "core/agent/checks/response_checks.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "core/agent/checks/mentioned_paths.h"
#include "tests/fakes/memory_files.h"
#include "tests/fakes/scripted_model.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// Checks of a workspace at /work.
struct Checks {
  explicit Checks(const TaskChecks& wanted) : checks(wanted, [this] { return look_around(); }) {
    for (const char* name : {"README.md", "src/util/text.py", "src/main.py"})
      files.content[name] = {"x"};
    files.content["secret/key.py"] = {"x"};
  }
  ResponseChecks::MayExist look_around() {
    ++looks;
    const auto lookup = std::make_shared<PathLookup>(files, "/work", [](const fs::path& path) {
      return path.string().starts_with("/work/hidden");
    });
    return [lookup](const std::string& path) { return lookup->may_exist(path); };
  }
  std::vector<CheckHit> look_at(const std::string& text, std::vector<Item> calls = {}) const {
    std::vector<Item> items = {assistant(text)};
    for (auto& call : calls) items.push_back(std::move(call));
    return checks.check(response(std::move(items)));
  }
  std::string seen(const std::string& text, std::vector<Item> calls = {}) const {
    const auto hits = look_at(text, std::move(calls));
    return hits.empty() ? "" : hits.front().saw;
  }

  MemoryFiles files;
  int looks = 0;
  ResponseChecks checks;
};

const TaskChecks kPaths = {.missing_paths = TextCheck::correct, .dangerous_words = TextCheck::off};

}  // namespace

BOOST_AUTO_TEST_SUITE(response_checks)

BOOST_AUTO_TEST_CASE(a_path_is_missing_where_nothing_of_the_workspace_can_be_meant) {
  const struct {
    const char* text;
    const char* missing;
  } rows[] = {
      {"See src/main.py.", ""},
      {"See main.py and README.md.", ""},
      {"See util/text.py.", ""},
      {"See `src/util` and `src/util/`.", ""},
      {"See /work/src/main.py.", ""},
      {"See /usr/lib/python3/x.py.", ""},
      {"See hidden/key.py.", ""},
      {"It is on `feature/docs`.", ""},
      {"See src/other.py.", "src/other.py"},
      {"See other.py.", "other.py"},
      {"See til/text.py.", "til/text.py"},
      {"See `src/utils`.", "src/utils"},
      {"See /work/src/gone.py.", "/work/src/gone.py"},
      {"See src/main.py/more.py.", ""},
      {"See src/a.py, src/main.py and src/b.py.", "src/a.py, src/b.py"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) { BOOST_TEST(Checks(kPaths).seen(row.text) == row.missing); }
  }
}

BOOST_AUTO_TEST_CASE(what_a_call_of_the_same_response_names_is_not_missing) {
  const Checks checks(kPaths);
  const std::string text = "The check is in src/check.py.";

  BOOST_TEST(checks.seen(text) == "src/check.py");
  BOOST_TEST(checks.seen(text, {call("c1", "shell", R"({"command":["touch","src/check.py"]})")}) ==
             "");
  BOOST_TEST(checks.seen(text, {call("c1", "apply_patch", "*** Add File: src/check.py\n+x")}) ==
             "");
  BOOST_TEST(checks.seen(text, {call("c1", "shell", R"({"command":["ls"]})")}) == "src/check.py");
}

BOOST_AUTO_TEST_CASE(the_workspace_is_looked_at_as_it_is_now_and_only_when_needed) {
  Checks checks(kPaths);
  checks.look_at("All is well.");
  BOOST_TEST(checks.looks == 0);

  BOOST_TEST(checks.seen("See src/new_one.py.") == "src/new_one.py");
  checks.files.content["src/new_one.py"] = {"x"};
  BOOST_TEST(checks.seen("See src/new_one.py.") == "");

  BOOST_TEST(checks.looks == 2);
}

BOOST_AUTO_TEST_CASE(each_check_does_what_the_task_says) {
  const std::string text = "I'll skip the failing tests in src/gone.py.";
  const struct {
    TextCheck paths;
    TextCheck words;
    std::vector<std::string> hits;
  } rows[] = {
      {TextCheck::off, TextCheck::off, {}},
      {TextCheck::warn, TextCheck::off, {"missing_paths"}},
      {TextCheck::correct, TextCheck::off, {"missing_paths!"}},
      {TextCheck::off, TextCheck::warn, {"dangerous_words"}},
      {TextCheck::off, TextCheck::correct, {"dangerous_words!"}},
      {TextCheck::warn, TextCheck::correct, {"missing_paths", "dangerous_words!"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(name_of(row.paths) << " " << name_of(row.words)) {
      const Checks checks({.missing_paths = row.paths, .dangerous_words = row.words});
      std::vector<std::string> found;
      for (const auto& hit : checks.look_at(text))
        found.push_back(hit.check + (hit.correct ? "!" : ""));
      BOOST_TEST(found == row.hits, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_words_of_others_are_not_looked_at) {
  const Checks checks({.missing_paths = TextCheck::correct, .dangerous_words = TextCheck::correct});
  const std::string text = "I'll skip the failing tests in src/gone.py.";

  BOOST_TEST(checks.checks.check(response({user(text), {Reasoning{text}}})).empty());
}

BOOST_AUTO_TEST_CASE(of_a_long_text_the_beginning_and_the_end_are_looked_at) {
  const Checks checks({.missing_paths = TextCheck::off, .dangerous_words = TextCheck::correct});
  const std::string words = "I'll skip the failing tests. ";
  std::string much;
  while (much.size() < 5u << 20) much += "And so on, line after line.\n";

  BOOST_TEST(checks.look_at(words + much).size() == 1u);
  BOOST_TEST(checks.look_at(much + words).size() == 1u);
  BOOST_TEST(checks.look_at(much + words + much).empty());
}

BOOST_AUTO_TEST_CASE(a_tree_that_is_too_large_is_given_the_benefit_of_the_doubt) {
  Checks checks(kPaths);
  class Endless : public MemoryFiles {
    std::vector<FolderEntry> list(const fs::path&) const override {
      return {{"a", FileStatus::Kind::folder}, {"b", FileStatus::Kind::folder}};
    }
  };
  const Endless files;
  PathLookup lookup(files, "/work", [](const fs::path&) { return false; });

  BOOST_TEST(lookup.may_exist("src/gone.py"));
}

BOOST_AUTO_TEST_SUITE_END()
