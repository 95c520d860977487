#pragma once

#include <stdexcept>

namespace sortie {

/// A connection that could not be made; `what()` is for people.
class ConnectError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The proxy asks for credentials, or does not take those it was given.
class ProxyCredentialsError : public ConnectError {
  using ConnectError::ConnectError;
};

}  // namespace sortie
