#include "core/net/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "core/base/error.h"
#include "core/text/base64.h"

namespace sortie {

namespace {

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr ==
            text.data() + i + 3) {
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// The bytes of a numeric address: 4, 16, or none.
std::string address_bytes(const std::string& host) {
  char bytes[16];
  if (::inet_pton(AF_INET, host.c_str(), bytes) == 1) return {bytes, 4};
  if (::inet_pton(AF_INET6, host.c_str(), bytes) == 1) return {bytes, 16};
  return {};
}

bool in_network(const std::string& host, std::string_view network) {
  const std::size_t slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string base = address_bytes(std::string(network.substr(0, slash)));
  const std::string address = address_bytes(host);
  unsigned bits = 0;
  const auto digits = network.substr(slash + 1);
  const auto end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, bits).ptr != end || digits.empty()) return false;
  if (base.empty() || base.size() != address.size() || bits > base.size() * 8) return false;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned mask = 0x80u >> (bit % 8);
    if ((base[bit / 8] ^ address[bit / 8]) & static_cast<int>(mask)) return false;
  }
  return true;
}

/// Whether one entry of NO_PROXY names the place.
bool names(std::string entry, const Url& url) {
  if (entry == "*") return true;
  if (in_network(url.host, entry)) return true;
  const std::size_t colon = entry.rfind(':');
  if (colon != std::string::npos && entry.find(':') == colon) {
    if (entry.substr(colon + 1) != std::to_string(url.port)) return false;
    entry.resize(colon);
  }
  if (entry.starts_with("*.")) entry.erase(0, 1);
  const std::string bare = entry.starts_with('.') ? entry.substr(1) : entry;
  return !bare.empty() && (url.host == bare || url.host.ends_with("." + bare));
}

bool is_exempt(const std::string& no_proxy, const Url& url) {
  std::string entry;
  for (const char c : no_proxy + ",") {
    if (c != ',' && c != ' ') {
      entry += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!entry.empty()) {
      if (names(entry, url)) return true;
      entry.clear();
    }
  }
  return false;
}

struct NamedValue {
  std::string name;
  std::string value;
};

}  // namespace

ProxySettings read_proxies(const std::function<std::string(const std::string&)>& value_of) {
  const auto either = [&value_of](const char* upper, const char* lower) {
    NamedValue first{upper, value_of(upper)};
    NamedValue second{lower, first.value.empty() ? value_of(lower) : ""};
    return second.value.empty() ? first : second;
  };
  const NamedValue all = either("ALL_PROXY", "all_proxy");
  const auto or_all = [&all](NamedValue one) {
    return one.value.empty() && !all.value.empty() ? all : one;
  };
  NamedValue https = or_all(either("HTTPS_PROXY", "https_proxy"));
  NamedValue http = or_all(either("HTTP_PROXY", "http_proxy"));
  return {.https_proxy = std::move(https.value),
          .no_proxy = either("NO_PROXY", "no_proxy").value,
          .http_proxy = std::move(http.value),
          .https_variable = std::move(https.name),
          .http_variable = std::move(http.name)};
}

std::optional<Proxy> proxy_for(const ProxySettings& settings, const Url& url) {
  std::string text = url.secure ? settings.https_proxy : settings.http_proxy;
  const std::string& name = url.secure ? settings.https_variable : settings.http_variable;
  if (text.empty() || url.is_loopback() || is_exempt(settings.no_proxy, url)) return std::nullopt;
  if (text.find("://") == std::string::npos) text = "http://" + text;
  if (!text.starts_with("http://"))
    throw InputError(name + ": only proxies with an http:// address are supported");
  Proxy proxy;
  proxy.variable = name;
  const std::size_t authority_end = std::min(text.find('/', 7), text.size());
  if (const std::size_t at = text.rfind('@', authority_end); at != std::string::npos) {
    proxy.authorization = "Basic " + base64_encoded(percent_decoded(text.substr(7, at - 7)));
    text.erase(7, at + 1 - 7);
  }
  try {
    const Url address = parse_url(text);
    proxy.host = address.host;
    proxy.port = address.port;
  } catch (const InputError& error) {
    throw InputError(name + ": " + error.what());
  }
  return proxy;
}

}  // namespace sortie
