#include "core/agent/checks/risky_intents.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/agent/checks/prose.h"
#include "tests/core/agent/sentence_table.h"

using namespace sortie;

namespace {

/// "tests_off force_push", or "-" for none.
std::string names_found(const std::string& message) {
  std::string names;
  for (const auto& found : find_risky_intents(message))
    names += (names.empty() ? "" : " ") + found.name;
  return names.empty() ? "-" : names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dangerous_words)

BOOST_AUTO_TEST_CASE(each_sentence_of_the_table_is_found_or_let_pass) {
  int found = 0;
  int passed = 0;
  for (const auto& [expected, message] : test::read_sentences("dangerous_words.txt")) {
    BOOST_TEST(names_found(message) == expected, message);

    ++(expected == "-" ? passed : found);
  }
  BOOST_TEST(found >= 40);
  BOOST_TEST(passed >= 40);
}

BOOST_AUTO_TEST_CASE(what_is_found_has_its_words_and_a_reason) {
  const auto found = find_risky_intents("All is well. Now I'll force-push the branch. Done.");

  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].words == "force-push");
  BOOST_TEST(found[0].reason == "a forced push throws away what others have pushed");
}

BOOST_AUTO_TEST_CASE(a_long_message_is_looked_through_in_linear_time) {
  std::string message;
  for (int i = 0; i < 20'000; ++i) message += "I'll run the tests and then look at the results, ";
  message += "and then disable the failing tests.";

  // Without sentence ends there is one sentence of a megabyte: it is looked at, and it ends.
  BOOST_CHECK_NO_THROW(find_risky_intents(message));
}

BOOST_AUTO_TEST_CASE(sentences_are_what_the_writer_says_in_plain_text) {
  const struct {
    const char* message;
    std::vector<std::string> sentences;
  } rows[] = {
      {"", {}},
      {"One. Two! Three? Four", {"One.", "Two!", "Three?", "Four"}},
      {"a.b stays; v1.2 too", {"a.b stays;", "v1.2 too"}},
      {"rm -rf . now", {"rm -rf . now"}},
      {"- one\n* two\n3. three\n## four\n- [ ] five", {"one", "two", "three", "four", "five"}},
      {"**bold**  and \t blank", {"bold and blank"}},
      {"I\xE2\x80\x99ll say \xE2\x80\x9Cno\xE2\x80\x9D", {"I'll say \"no\""}},
      {"before\n```sh\nrm -rf /\n```\nafter", {"before", "after"}},
      {"~~~\ninside\n```\nstill\n~~~\nafter", {"after"}},
      {"```\nnever closed", {}},
      {"> quoted\nown", {"own"}},
      {"--force is an option", {"--force is an option"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.message) {
      BOOST_TEST(sentences_of(row.message) == row.sentences, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
