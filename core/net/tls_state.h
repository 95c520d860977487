#pragma once

#include <Poco/Net/Context.h>

#include <string>

#include "core/net/connection.h"

namespace sortie {

struct Tls::State {
  Poco::Net::Context::Ptr context;
  /// The certificate of the next handshake has to be this host's (name or address).
  void expect_host(const std::string& host) const;
};

}  // namespace sortie
