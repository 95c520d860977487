// Where the certificates of trusted authorities are found, in made-up file systems.
#include "core/net/trusted_certificates.h"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

using namespace sortie;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(trusted_certificates_suite)

BOOST_AUTO_TEST_CASE(each_distribution_s_place_is_found_before_the_bundle_beside_the_program) {
  const struct {
    const char* name;
    std::vector<std::string> files;
    std::string file;
    std::string folder;
  } rows[] = {
      {"Debian, with links",
       {"etc/ssl/certs/5ed36f99.0", "etc/ssl/certs/ca-certificates.crt"},
       "",
       "etc/ssl/certs"},
      {"Debian's bundle alone",
       {"etc/ssl/certs/ca-certificates.crt", "opt/sortie/ca-certificates.crt"},
       "etc/ssl/certs/ca-certificates.crt",
       ""},
      {"Fedora", {"etc/pki/tls/certs/ca-bundle.crt"}, "etc/pki/tls/certs/ca-bundle.crt", ""},
      {"Fedora's links",
       {"etc/pki/ca-trust/extracted/pem/directory-hash/0a775a30.0"},
       "",
       "etc/pki/ca-trust/extracted/pem/directory-hash"},
      {"SUSE", {"etc/ssl/ca-bundle.pem"}, "etc/ssl/ca-bundle.pem", ""},
      {"Alpine", {"etc/ssl/cert.pem"}, "etc/ssl/cert.pem", ""},
      {"an empty root, and a bundle beside the program",
       {"opt/sortie/ca-certificates.crt"},
       "opt/sortie/ca-certificates.crt",
       ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryFolder root;
      for (const std::string& file : row.files) {
        fs::create_directories((root / file).parent_path());
        std::ofstream(root / file) << "certificates\n";
      }
      const auto found = trusted_certificates(root.path(), root / "opt/sortie/sortie");
      BOOST_REQUIRE(found.has_value());
      BOOST_TEST(found->file == (row.file.empty() ? "" : (root / row.file).string()));
      BOOST_TEST(found->folder == (row.folder.empty() ? "" : (root / row.folder).string()));
    }
  }
}

BOOST_AUTO_TEST_CASE(where_there_are_none_nothing_is_found) {
  const test::TemporaryFolder root;
  fs::create_directories(root / "etc/ssl/certs");
  std::ofstream(root / "etc/ssl/certs/README") << "no certificate\n";
  BOOST_TEST(!trusted_certificates(root.path(), root / "opt/sortie/sortie").has_value());
  BOOST_TEST(!trusted_certificates(root.path(), "").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
