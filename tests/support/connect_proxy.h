#pragma once

#include <memory>
#include <string>
#include <vector>

namespace sortie::test {

/// A real proxy on loopback, in a thread of its own, that speaks CONNECT alone. Whatever the name
/// asked for, it leads to 127.0.0.1 at the port asked for: a host that nothing else could reach.
class ConnectProxy {
 public:
  /// @param authorization  the Proxy-Authorization that it wants; "" for none
  explicit ConnectProxy(std::string authorization = {});
  ConnectProxy(const ConnectProxy&) = delete;
  ~ConnectProxy();

  int port() const;
  /// The heads of all requests, as they came.
  std::vector<std::string> requests() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::test
