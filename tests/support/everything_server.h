#pragma once

#include <string>
#include <vector>

#include "tests/support/npm_packages.h"
#include "tests/support/program.h"

namespace sortie::test {

/// MCP's reference server "everything" over streamable HTTP, on a port of loopback.
class EverythingServer {
 public:
  explicit EverythingServer(const NpmPackages& packages);
  const std::string& url() const noexcept { return url_; }
  /// Ends it, and gives what it wrote.
  ProgramEnd stop();

 private:
  std::string url_;
  Program program_;
};

}  // namespace sortie::test
