#pragma once

#include <filesystem>
#include <string>

#include "tests/support/model_server.h"

namespace sortie::test {

/// A certificate authority of our own, made with openssl(1) in a folder.
class TestAuthority {
 public:
  explicit TestAuthority(std::filesystem::path folder);
  /// The authority's own certificate, as a bundle file.
  std::string bundle() const { return (folder_ / "ca.pem").string(); }
  /// A folder with the certificate under its hash link.
  std::string hashed_folder() const;
  /// @param names  "DNS:localhost,IP:127.0.0.1"
  ServerCertificate issue(const std::string& name, const std::string& names, int days = 30) const;

 private:
  void run(const std::string& arguments) const;
  std::filesystem::path folder_;
};

}  // namespace sortie::test
