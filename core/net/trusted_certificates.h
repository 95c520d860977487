#pragma once

#include <string>

namespace sortie {

/// Where the certificates of trusted authorities are; both "": the system's.
struct TrustedCertificates {
  std::string file{};    ///< SSL_CERT_FILE
  std::string folder{};  ///< SSL_CERT_DIR, with hash links (openssl-rehash(1))
};

}  // namespace sortie
