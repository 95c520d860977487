#include "tests/core/names/name_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

namespace sortie::test {
namespace {

constexpr std::size_t kHeader = 12;
constexpr char kIpv4 = 1;   // A
constexpr char kIpv6 = 28;  // AAAA

/// Where the labels of the question end: behind their zero byte.
std::size_t end_of_name(const std::string& message) {
  std::size_t at = kHeader;
  while (at < message.size() && message[at] != 0) at += 1 + static_cast<unsigned char>(message[at]);
  return at + 1;
}

std::string name_in(const std::string& message) {
  std::string name;
  for (std::size_t at = kHeader; at + 1 < end_of_name(message);) {
    const auto length = static_cast<unsigned char>(message[at]);
    name += (name.empty() ? "" : ".") + message.substr(at + 1, length);
    at += 1U + length;
  }
  return name;
}

}  // namespace

NameServer::NameServer(std::map<std::string, std::vector<std::string>> names)
    : names_(std::move(names)), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_.get(), any, size) != 0 || ::getsockname(socket_.get(), any, &size) != 0)
    throw std::runtime_error("no name server on loopback");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

NameServer::~NameServer() {
  ::shutdown(socket_.get(), SHUT_RDWR);  // recvfrom returns
  thread_.join();
}

std::vector<std::string> NameServer::questions() const {
  const std::lock_guard lock(mutex_);
  return questions_;
}

void NameServer::serve() {
  for (;;) {
    std::string question(512, '\0');
    sockaddr_in from{};
    socklen_t size = sizeof from;
    auto* const any = reinterpret_cast<sockaddr*>(&from);
    const ssize_t count =
        ::recvfrom(socket_.get(), question.data(), question.size(), 0, any, &size);
    if (count <= static_cast<ssize_t>(kHeader)) return;
    question.resize(static_cast<std::size_t>(count));
    {
      const std::lock_guard lock(mutex_);
      questions_.push_back(name_in(question));
    }
    const std::string answer = answer_to(question);
    ::sendto(socket_.get(), answer.data(), answer.size(), 0, any, size);
  }
}

std::string NameServer::answer_to(const std::string& question) const {
  const std::size_t end = end_of_name(question) + 4;  // type and class follow
  const char type = question.at(end - 3);
  const auto found = names_.find(name_in(question));
  std::string records;
  char count = 0;
  if (found != names_.end()) {
    for (const std::string& text : found->second) {
      const IpAddress address = read_ip_address(text).value();
      if (type != (address.v6 ? kIpv6 : kIpv4)) continue;
      const char length = address.v6 ? 16 : 4;
      // The question's name, type, class IN, 60 s, length, bytes.
      records += std::string{'\xc0', static_cast<char>(kHeader), 0, type, 0, 1, 0, 0, 0, 60, 0};
      records += length;
      for (int i = 0; i < length; ++i)
        records += static_cast<char>(address.bytes[static_cast<std::size_t>(i)]);
      ++count;
    }
  }
  // The id; a response, recursion as asked and available; no such name; one question.
  const char code = found == names_.end() ? '\x83' : '\x80';
  std::string message = question.substr(0, 2) + std::string{'\x81', code, 0, 1, 0, count};
  message += std::string(4, '\0') + question.substr(kHeader, end - kHeader);
  return message + records;
}

}  // namespace sortie::test
