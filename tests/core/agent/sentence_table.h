#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/text/text.h"

namespace sortie::test {

/// What should be found in a message; "-" for nothing.
struct Sentence {
  std::string expected;
  std::string message;
};

/// The rows `EXPECTED: MESSAGE` of tests/data/checks/NAME, where \n in a message is a new line;
/// empty lines and those that begin with # are for people.
inline std::vector<Sentence> read_sentences(const std::string& name) {
  const std::string table = read_file(SORTIE_SOURCE_DIR "/tests/data/checks/" + name);
  std::vector<Sentence> rows;
  for (const auto line : split_lines(table)) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    BOOST_REQUIRE(colon != std::string_view::npos);
    Sentence row{std::string(line.substr(0, colon)), std::string(line.substr(colon + 2))};
    std::string& text = row.message;
    for (auto at = text.find("\\n"); at != std::string::npos; at = text.find("\\n"))
      text.replace(at, 2, "\n");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sortie::test
