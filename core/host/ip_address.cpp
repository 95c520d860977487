#include "core/host/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace sortie {
namespace {

using Kind = AddressUse::Kind;

/// The addresses that begin with the first `bits` bits of `prefix`.
struct Range {
  const char* prefix;
  unsigned bits;
  Kind kind = Kind::ordinary;
  const char* words = "";
};

// The first matching row counts.
// clang-format off
constexpr Range kIpv4[] = {
    {"168.63.129.16", 32, Kind::metadata, "a cloud's metadata address"},
    {"100.100.100.200", 32, Kind::metadata, "a cloud's metadata address"},
    {"192.0.0.192", 32, Kind::metadata, "a cloud's metadata address"},
    {"169.254.0.0", 16, Kind::metadata, "a link-local address, where clouds serve metadata"},
    {"10.0.0.0", 8, Kind::internal, "a private address"},
    {"172.16.0.0", 12, Kind::internal, "a private address"},
    {"192.168.0.0", 16, Kind::internal, "a private address"},
    {"127.0.0.0", 8, Kind::internal, "a loopback address"},
    {"100.64.0.0", 10, Kind::internal, "an address of a carrier's own network"},
    {"0.0.0.0", 32, Kind::unusable, "the unspecified address"},
    {"0.0.0.0", 8, Kind::unusable, "an address of \"this network\""},
    {"192.0.0.0", 24, Kind::unusable, "an address of protocol assignments"},
    {"192.0.2.0", 24, Kind::unusable, "a documentation address"},
    {"192.88.99.0", 24, Kind::unusable, "a 6to4 relay's address"},
    {"198.18.0.0", 15, Kind::unusable, "a benchmark address"},
    {"198.51.100.0", 24, Kind::unusable, "a documentation address"},
    {"203.0.113.0", 24, Kind::unusable, "a documentation address"},
    {"224.0.0.0", 4, Kind::unusable, "a multicast address"},
    {"255.255.255.255", 32, Kind::unusable, "the broadcast address"},
    {"240.0.0.0", 4, Kind::unusable, "a reserved address"},
};

constexpr Range kIpv6[] = {
    {"::", 128, Kind::unusable, "the unspecified address"},
    {"::1", 128, Kind::internal, "a loopback address"},
    {"::ffff:0.0.0.0", 96, Kind::unusable, "an IPv4 address in IPv6 form"},
    {"::", 96, Kind::unusable, "an IPv4 address in IPv6 form"},
    {"fd00:ec2::254", 128, Kind::metadata, "a cloud's metadata address"},
    {"fd20:ce::254", 128, Kind::metadata, "a cloud's metadata address"},
    {"fe80::", 10, Kind::metadata, "a link-local address"},
    {"fc00::", 7, Kind::internal, "a private address"},
    {"fec0::", 10, Kind::unusable, "a site-local address"},
    {"ff00::", 8, Kind::unusable, "a multicast address"},
    {"64:ff9b:1::", 48, Kind::unusable, "an address of local IPv4 translation"},
    {"2001::", 32, Kind::unusable, "a Teredo address"},
    {"2001::", 23, Kind::unusable, "an address of protocol assignments"},
    {"2001:db8::", 32, Kind::unusable, "a documentation address"},
    {"2002::", 16, Kind::unusable, "a 6to4 address"},
    {"3fff::", 20, Kind::unusable, "a documentation address"},
    // The rest of 2000::/3 is for hosts, and nothing outside of it (RFC 4291).
    {"2000::", 3, Kind::ordinary, ""},
    {"::", 0, Kind::unusable, "a reserved address"},
};
// clang-format on

constexpr Range kTranslated = {"64:ff9b::", 96};  // RFC 6052: the IPv4 address is at the end

bool is_in(const IpAddress& address, const Range& range) {
  std::uint8_t prefix[16] = {};
  ::inet_pton(address.v6 ? AF_INET6 : AF_INET, range.prefix, prefix);
  const unsigned whole = range.bits / 8;
  if (std::memcmp(prefix, address.bytes.data(), whole) != 0) return false;
  const unsigned rest = range.bits % 8;
  const unsigned mask = 0xffu << (8 - rest) & 0xffu;
  return rest == 0 || ((prefix[whole] ^ address.bytes[whole]) & mask) == 0;
}

IpAddress last_four_bytes(const IpAddress& address) {
  IpAddress inner;
  std::memcpy(inner.bytes.data(), address.bytes.data() + 12, 4);
  return inner;
}

}  // namespace

std::string IpAddress::text() const {
  char buffer[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), buffer, sizeof buffer);
  return buffer;
}

std::optional<IpAddress> read_ip_address(std::string_view text) {
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN) return std::nullopt;
  const std::string copy(text);
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  IpAddress address;
  // inet_pton(3), unlike inet_aton(3), takes no octal, hexadecimal or shortened parts.
  if (::inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) {
    if (address.text() != copy) return std::nullopt;
    return address;
  }
  address = {};
  address.v6 = true;
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::optional<IpAddress> ip_address_of(const sockaddr_storage& address) {
  IpAddress result;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    std::memcpy(result.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    return result;
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  result.v6 = true;
  std::memcpy(result.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  return result;
}

socklen_t fill_socket_address(const IpAddress& address, std::uint16_t port, sockaddr_storage& out) {
  out = {};
  if (address.v6) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
    return sizeof v6;
  }
  auto& v4 = reinterpret_cast<sockaddr_in&>(out);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  std::memcpy(&v4.sin_addr, address.bytes.data(), sizeof v4.sin_addr);
  return sizeof v4;
}

AddressUse use_of(const IpAddress& address) {
  if (address.v6 && is_in(address, kTranslated)) {
    AddressUse inner = use_of(last_four_bytes(address));
    if (inner.kind != Kind::ordinary) inner.words += " behind IPv4 translation";
    return inner;
  }
  const auto first_of = [&address](const auto& ranges) -> AddressUse {
    for (const Range& range : ranges)
      if (is_in(address, range)) return {range.kind, range.words};
    return {};
  };
  return address.v6 ? first_of(kIpv6) : first_of(kIpv4);
}

bool is_ipv4_in_disguise(const IpAddress& address) {
  if (!address.v6 || use_of(address).kind != Kind::unusable) return false;
  if (is_in(address, {"::ffff:0.0.0.0", 96})) return true;
  return is_in(address, {"::", 96}) && !is_in(address, {"::", 127});
}

}  // namespace sortie
