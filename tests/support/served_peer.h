#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/fd.h"
#include "tests/support/model_server.h"

namespace sortie::test {

/// What a server needs to speak TLS.
struct TlsContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, TlsContextFree>;
/// Nothing where there is no certificate.
TlsContext make_tls_context(const std::optional<ServerCertificate>& certificate);

/// For a server's thread: OpenSSL writes without MSG_NOSIGNAL.
void block_broken_pipes();

/// A connection that a server has accepted, plain or TLS.
class ServedPeer {
 public:
  /// @param context  null for a plain one
  /// @param quit     becomes readable when the server is to end
  ServedPeer(Fd socket, SSL_CTX* context, int quit);
  ServedPeer(const ServedPeer&) = delete;
  ~ServedPeer();

  /// Adds what comes. False at the connection's end and when the server quits; true, with nothing
  /// added, at the time given.
  bool read(std::string& buffer, int timeout_ms = -1);
  void write(std::string_view bytes);
  bool alive() const { return alive_; }

 private:
  Fd socket_;
  int quit_;
  SSL* tls_ = nullptr;
  bool alive_ = true;
};

/// Reads one request; nothing where the connection ends before it is whole.
/// @param buffer  what came behind the request before
std::optional<ReceivedRequest> read_request(ServedPeer& peer, std::string& buffer);

}  // namespace sortie::test
