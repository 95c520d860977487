#include "core/net/tls.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cctype>

#include "core/base/error.h"
#include "core/text/text.h"

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

/// The oldest error of OpenSSL's queue, in its words.
std::string tls_error() {
  char text[256] = "unknown error";
  if (const unsigned long code = ::ERR_get_error()) ::ERR_error_string_n(code, text, sizeof text);
  return one_line(text);
}

/// The certificate of the handshake has to be this host's; a name is told to the server too (SNI,
/// RFC 6066 §3, which knows no addresses).
void expect_host(SSL& session, const std::string& host) {
  unsigned char address[sizeof(in6_addr)];
  const bool numeric = ::inet_pton(AF_INET, host.c_str(), address) == 1 ||
                       ::inet_pton(AF_INET6, host.c_str(), address) == 1;
  X509_VERIFY_PARAM* rules = ::SSL_get0_param(&session);
  ::X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool set = numeric ? ::X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1
                           : ::X509_VERIFY_PARAM_set1_host(rules, host.data(), host.size()) == 1 &&
                                 SSL_set_tlsext_host_name(&session, host.c_str()) == 1;
  if (!set) throw Error("TLS: cannot check certificates for host '" + host + "'");
}

}  // namespace

Tls::Tls(TrustedCertificates certificates) : certificates_(std::move(certificates)) {}
Tls::~Tls() = default;

Tls::State& Tls::state() {
  if (state_) return *state_;
  if (certificates_.file.empty() && certificates_.folder.empty())
    certificates_ = system_certificates();
  State made{decltype(State::context)(::SSL_CTX_new(::TLS_client_method()))};
  SSL_CTX* const context = made.context.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      ::SSL_CTX_set_cipher_list(context, "HIGH:!aNULL:!eNULL:!MD5:!RC4:!3DES") != 1)
    throw Error("TLS can't be set up: " + tls_error(), ExitCode::environment);
  // OpenSSL checks chain and name inside the handshake, before a byte of ours goes out.
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_verify_depth(context, 9);
  const auto name = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  if (::SSL_CTX_load_verify_locations(context, name(certificates_.file),
                                      name(certificates_.folder)) != 1)
    throw Error("cannot read trusted certificates from '" +
                    (certificates_.file.empty() ? certificates_.folder : certificates_.file) + "'",
                ExitCode::environment);
  state_ = std::make_unique<State>(std::move(made));
  return *state_;
}

TlsSession Tls::State::shake_hands(int descriptor, const std::string& host) const {
  TlsSession session(::SSL_new(context.get()));
  if (!session || ::SSL_set_fd(session.get(), descriptor) != 1)
    throw ConnectError("TLS with " + host + ": " + tls_error());
  expect_host(*session, host);
  ::ERR_clear_error();
  const int result = ::SSL_connect(session.get());
  if (result == 1) return session;
  // Why the chain was refused is not in the queue of errors, which names the step alone.
  const long refused = ::SSL_get_verify_result(session.get());
  std::string cause = "the server ended the handshake";
  if (refused != X509_V_OK)
    cause = std::string("certificate refused: ") + ::X509_verify_cert_error_string(refused);
  else if (::ERR_peek_error() != 0)
    cause = tls_error();
  throw ConnectError("TLS with " + host + ": " + cause);
}

}  // namespace sortie
