#include "core/agent/named_paths.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/files.h"
#include "core/base/text.h"

using namespace sortie;

namespace {

std::string with_newlines(std::string text) {
  for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n"))
    text.replace(at, 2, "\n");
  return text;
}

std::string names(const std::string& message) {
  std::string found;
  for (const auto& [path, needs_first_folder] : named_paths(message))
    found += (found.empty() ? "" : " ") + std::string(needs_first_folder ? "?" : "") + path;
  return found.empty() ? "-" : found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(paths_in_messages)

BOOST_AUTO_TEST_CASE(each_message_of_the_table_names_the_paths_it_should) {
  const std::string table = read_file(SORTIE_SOURCE_DIR "/tests/data/checks/named_paths.txt");
  int with = 0;
  int without = 0;
  for (const auto line : split_lines(table)) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    BOOST_REQUIRE(colon != std::string_view::npos);
    const std::string expected(line.substr(0, colon));
    const std::string message = with_newlines(std::string(line.substr(colon + 2)));

    BOOST_TEST(names(message) == expected, message);

    ++(expected == "-" ? without : with);
  }
  BOOST_TEST(with >= 20);
  BOOST_TEST(without >= 40);
}

BOOST_AUTO_TEST_CASE(a_message_of_many_paths_is_bounded) {
  std::string message;
  for (int i = 0; i < 1'000; ++i) message += "See src/f" + std::to_string(i) + ".py now. ";

  BOOST_TEST(named_paths(message).size() == 50u);
}

BOOST_AUTO_TEST_SUITE_END()
