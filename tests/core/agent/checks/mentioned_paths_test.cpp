#include "core/agent/checks/mentioned_paths.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include "tests/core/agent/sentence_table.h"

using namespace sortie;

namespace {

std::string names(const std::string& message) {
  std::string found;
  for (const auto& [path, needs_first_folder] : mentioned_paths(message))
    found += (found.empty() ? "" : " ") + std::string(needs_first_folder ? "?" : "") + path;
  return found.empty() ? "-" : found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(paths_in_messages)

BOOST_AUTO_TEST_CASE(each_message_of_the_table_names_the_paths_it_should) {
  int with = 0;
  int without = 0;
  for (const auto& [expected, message] : test::read_sentences("mentioned_paths.txt")) {
    BOOST_TEST(names(message) == expected, message);

    ++(expected == "-" ? without : with);
  }
  BOOST_TEST(with >= 20);
  BOOST_TEST(without >= 40);
}

BOOST_AUTO_TEST_CASE(a_message_of_many_paths_is_bounded) {
  std::string message;
  for (int i = 0; i < 1'000; ++i) message += "See src/f" + std::to_string(i) + ".py now. ";

  BOOST_TEST(mentioned_paths(message).size() == 50u);
}

BOOST_AUTO_TEST_SUITE_END()
