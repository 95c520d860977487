#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/files/files.h"

namespace sortie::test {

/// Whether generated parts of documents are to be written anew, not compared.
inline bool writes_documents() { return std::getenv("SORTIE_WRITE_DOCS") != nullptr; }

/// Compares a document's part between the line `<!-- NAME -->` and the next `<!-- end -->` with what
/// it has to be; with SORTIE_WRITE_DOCS=1 in the environment it is written anew.
/// @param document  relative to the repository
/// @param program   the test program to say in the message
inline void check_document_part(const std::string& document, const std::string& name,
                                const std::string& wanted, const std::string& program) {
  const std::filesystem::path file = std::filesystem::path(SORTIE_SOURCE_DIR) / document;
  std::string text = read_file(file);
  const std::string beginning = "<!-- " + name + " -->\n";
  const std::size_t begin = text.find(beginning);
  BOOST_TEST_REQUIRE(begin != std::string::npos, document << " has no line " << beginning);
  const std::size_t inside = begin + beginning.size();
  const std::size_t end = text.find("<!-- end -->", inside);
  BOOST_TEST_REQUIRE(end != std::string::npos, document << " has no end after " << beginning);
  if (writes_documents()) {
    text.replace(inside, end - inside, wanted);
    write_file(file, text);
    return;
  }
  BOOST_TEST(text.substr(inside, end - inside) == wanted,
             document << ", " << name << ": not what the program says; write it anew with "
                      << "SORTIE_WRITE_DOCS=1 " << program);
}

}  // namespace sortie::test
