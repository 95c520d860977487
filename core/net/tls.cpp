#include <Poco/Net/Context.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cctype>

#include "core/base/error.h"
#include "core/net/tls_state.h"

namespace sortie {

namespace {

/// Whether the folder has links named by hash, "5ed36f99.0": then OpenSSL finds a certificate when
/// it needs one. Reading a whole bundle instead costs some 25 ms at each start.
bool has_hash_links(const char* folder) {
  DIR* listing = ::opendir(folder);
  if (!listing) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    found = name.size() >= 10 && name[8] == '.' &&
            name.substr(0, 8).find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (found) break;
  }
  ::closedir(listing);
  return found;
}

TrustedCertificates system_certificates() {
  if (has_hash_links("/etc/ssl/certs")) return {.folder = "/etc/ssl/certs"};
  for (const char* bundle :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (::access(bundle, R_OK) == 0) return {.file = bundle};
  throw Error(
      "no certificates of trusted authorities found; install ca-certificates or set "
      "SSL_CERT_FILE",
      ExitCode::environment);
}

}  // namespace

Tls::Tls(TrustedCertificates certificates) : certificates_(std::move(certificates)) {}
Tls::~Tls() = default;

Tls::State& Tls::state() {
  if (state_) return *state_;
  if (certificates_.file.empty() && certificates_.folder.empty())
    certificates_ = system_certificates();
  Poco::Net::Context::Params params;
  params.verificationMode = Poco::Net::Context::VERIFY_STRICT;
  params.verificationDepth = 9;
  params.loadDefaultCAs = false;
  params.cipherList = "HIGH:!aNULL:!eNULL:!MD5:!RC4:!3DES";
  Poco::Net::Context::Ptr context =
      new Poco::Net::Context(Poco::Net::Context::TLS_CLIENT_USE, params);
  context->requireMinimumProtocol(Poco::Net::Context::PROTO_TLSV1_2);
  // OpenSSL checks chain and name inside the handshake (expect_host), before a byte of ours goes
  // out. Poco's own check comes after it and would leave out localhost.
  context->enableExtendedCertificateVerification(false);
  SSL_CTX_set_verify(context->sslContext(), SSL_VERIFY_PEER, nullptr);
  const auto name = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  if (SSL_CTX_load_verify_locations(context->sslContext(), name(certificates_.file),
                                    name(certificates_.folder)) != 1)
    throw Error("cannot read trusted certificates from '" +
                    (certificates_.file.empty() ? certificates_.folder : certificates_.file) + "'",
                ExitCode::environment);
  state_ = std::make_unique<State>(State{context});
  return *state_;
}

void Tls::State::expect_host(const std::string& host) const {
  X509_VERIFY_PARAM* rules = SSL_CTX_get0_param(context->sslContext());
  unsigned char address[sizeof(in6_addr)];
  const bool numeric = ::inet_pton(AF_INET, host.c_str(), address) == 1 ||
                       ::inet_pton(AF_INET6, host.c_str(), address) == 1;
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // Each forgets what was expected before.
  const bool set = X509_VERIFY_PARAM_set1_host(rules, numeric ? nullptr : host.c_str(), 0) == 1 &&
                   (numeric ? X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str())
                            : X509_VERIFY_PARAM_set1_ip(rules, nullptr, 0)) == 1;
  if (!set) throw Error("TLS: cannot check certificates for host '" + host + "'");
}

}  // namespace sortie
