#include "tests/support/everything_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <stdexcept>

#include "core/base/fd.h"

namespace sortie::test {
namespace {

/// A port that nobody listens at: the server can't be asked to find one and say it.
int free_port() {
  const Fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), plain, size) != 0 || ::getsockname(socket.get(), plain, &size) != 0)
    throw std::runtime_error("no port to be had");
  return ntohs(address.sin6_port);
}

ProgramStart start_of(const NpmPackages& packages, const std::string& url) {
  const std::size_t colon = url.rfind(':');
  auto argv = packages.command("@modelcontextprotocol/server-everything", "dist/index.js");
  argv.push_back("streamableHttp");
  return {.argv = argv,
          .environment = {{"PORT", url.substr(colon + 1, url.find('/', colon) - colon - 1)}}};
}

}  // namespace

EverythingServer::EverythingServer(const NpmPackages& packages)
    : url_("http://127.0.0.1:" + std::to_string(free_port()) + "/mcp"),
      program_(start_of(packages, url_)) {
  if (!program_.wait_for_error_text("listening on port"))
    throw std::runtime_error("the server has not started");
}

ProgramEnd EverythingServer::stop() {
  program_.signal(SIGTERM);
  return program_.finish();
}

}  // namespace sortie::test
