#include "policies/egress/host_rules.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"

using namespace sortie;

namespace {

Authority place(const std::string& text) {
  const AuthorityReading reading = read_authority(text, 0);
  if (!reading.authority) throw std::runtime_error(text + ": " + reading.problem);
  return *reading.authority;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_rules)

BOOST_AUTO_TEST_CASE(entries_are_hosts_and_ports) {
  const struct {
    const char* text;
    const char* host;  ///< "" where it is no entry
    std::uint16_t port = 0;
    bool subdomains = false;
  } rows[] = {
      {"packages.example.com:443", "packages.example.com", 443},
      {"packages.example.com", "packages.example.com", 443},
      {"Packages.Example.com", "packages.example.com", 443},
      {"example.org.:80", ""},
      {"*.example.org:80", "example.org", 80, true},
      {"*.example.org", "example.org", 443, true},
      {"10.1.2.3:8080", "10.1.2.3", 8080},
      {"[fd00::1]:443", "fd00::1", 443},
      {"[fd00::1]", "fd00::1", 443},
      {"localhost:5000", "localhost", 5000},
      {"", ""},
      {"*.", ""},
      {"*example.org", ""},
      {"a.*.org", ""},
      {"*.*.org", ""},
      {"*.10.1.2.3", ""},
      {"*.[fd00::1]", ""},
      {"example.org:0", ""},
      {"example.org:70000", ""},
      {"example.org:*", ""},
      {"https://example.org", ""},
      {"example.org/path", ""},
      {"user@example.org", ""},
      {"2130706433", ""},
      {"0177.0.0.1:80", ""},
      {"fd00::1", ""},
      {"[::ffff:10.0.0.1]:80", ""},
      {"ex ample.org", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      if (*row.host == '\0') {
        BOOST_CHECK_THROW(HostRules({row.text}), InputError);
        continue;
      }
      const HostRules rules({row.text});
      const HostPattern& hosts = rules.rules().front().hosts;
      BOOST_TEST(hosts.host.name == row.host);
      BOOST_TEST(hosts.port == row.port);
      BOOST_TEST(hosts.subdomains == row.subdomains);
    }
  }
  BOOST_CHECK_THROW(HostRules({"example.org", "*."}), InputError);
}

BOOST_AUTO_TEST_CASE(hosts_are_decided_by_name_and_port) {
  const HostRules rules({"packages.example.com:443", "*.example.org:443", "plain.example.org:80",
                         "10.1.2.3:8080", "[fd00::1]:443", "*.internal:80",
                         "metadata.tencentyun.com:80", "both.example.org"});
  const struct {
    const char* asked;
    const char* rule;  ///< "" where it is denied
    bool by_name = false;
  } rows[] = {
      {"packages.example.com:443", "packages.example.com:443", true},
      {"PACKAGES.EXAMPLE.COM:443", "packages.example.com:443", true},
      {"packages.example.com.:443", "packages.example.com:443", true},
      {"packages.example.com:80", ""},
      {"packages.example.com:444", ""},
      {"packages.example.com.evil.example:443", ""},
      {"evilpackages.example.com:443", ""},
      {"a.packages.example.com:443", ""},
      {"example.com:443", ""},
      {"a.example.org:443", "*.example.org:443"},
      {"a.b.example.org:443", "*.example.org:443"},
      {"A.EXAMPLE.ORG:443", "*.example.org:443"},
      {"example.org:443", ""},
      {"badexample.org:443", ""},
      {"bad-example.org:443", ""},
      {"a.example.org:80", ""},
      {"a.example.org.evil.example:443", ""},
      {"plain.example.org:80", "plain.example.org:80", true},
      {"plain.example.org:443", "*.example.org:443"},
      {"both.example.org:443", "both.example.org", true},
      {"10.1.2.3:8080", "10.1.2.3:8080", true},
      {"10.1.2.3:443", ""},
      {"10.1.2.4:8080", ""},
      {"[fd00::1]:443", "[fd00::1]:443", true},
      {"[fd00:0:0::1]:443", "[fd00::1]:443", true},
      {"[fd00::2]:443", ""},
      {"a.internal:80", "*.internal:80"},
      {"metadata.google.internal:80", ""},
      {"metadata.internal:80", ""},
      {"instance-data.ec2.internal:80", ""},
      {"metadata.tencentyun.com:80", "metadata.tencentyun.com:80", true},
      {"1.1.1.1:443", ""},
      {"localhost:443", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.asked) {
      const Authority asked = place(row.asked);
      const HostDecision decision = rules.decide(asked.host, asked.port);
      BOOST_TEST(decision.allowed == (*row.rule != '\0'));
      BOOST_TEST(decision.rule == row.rule);
      BOOST_TEST(decision.by_name == row.by_name);
      BOOST_TEST(decision.reason.empty() == decision.allowed);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_star_is_every_public_host_at_its_port) {
  const HostRules rules({"*", "*:80"});
  const struct {
    const char* asked;
    const char* address;
    bool allowed;
  } rows[] = {
      {"example.org:443", "1.1.1.1", true},   {"example.org:80", "1.1.1.1", true},
      {"example.org:22", "1.1.1.1", false},   {"1.1.1.1:443", "1.1.1.1", true},
      {"example.org:443", "10.0.0.1", false}, {"10.0.0.1:443", "10.0.0.1", false},
      {"localhost:80", "127.0.0.1", false},   {"metadata.google.internal:80", "1.1.1.1", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.asked << " at " << row.address) {
      const Authority asked = place(row.asked);
      const HostDecision decision = rules.decide(asked.host, asked.port);
      const bool allowed =
          decision.allowed &&
          rules.refusal(decision, asked.host, asked.port, *read_ip_address(row.address)).empty();
      BOOST_TEST(allowed == row.allowed);
      BOOST_TEST(!decision.by_name);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_empty_list_allows_nothing) {
  const HostRules rules({});
  const Authority asked = place("example.org:443");
  const HostDecision decision = rules.decide(asked.host, asked.port);
  BOOST_TEST(!decision.allowed);
  BOOST_TEST(decision.reason ==
             "example.org:443 is not in the policy's network.allow, which is empty; an entry "
             "\"example.org:443\" there would allow it");
}

BOOST_AUTO_TEST_CASE(a_denial_says_what_would_allow_it) {
  const HostRules rules({"example.org"});
  const auto reason = [&](const char* text) {
    const Authority asked = place(text);
    return rules.decide(asked.host, asked.port).reason;
  };
  BOOST_TEST(reason("example.com:8443") ==
             "example.com:8443 is not in the policy's network.allow; an entry \"example.com:8443\" "
             "there would allow it");
  BOOST_TEST(reason("example.org:80") ==
             "example.org:80 is not in the policy's network.allow (\"example.org\" is for another "
             "port); an entry \"example.org:80\" there would allow it");
}

BOOST_AUTO_TEST_CASE(an_entry_is_offered_for_what_is_not_the_machines_own) {
  const HostRules rules({"example.org", "*:80"});
  const std::pair<const char*, const char*> rows[] = {
      {"example.com:443", "example.com:443"},
      {"example.org:8443", "example.org:8443"},
      {"1.1.1.1:443", "1.1.1.1:443"},
      {"[2606:4700::1111]:443", "[2606:4700::1111]:443"},
      {"example.org:443", ""},  // allowed
      {"localhost:443", ""},
      {"x.localhost:443", ""},
      {"127.0.0.1:443", ""},
      {"10.0.0.1:443", ""},
      {"[::1]:443", ""},
      {"169.254.169.254:443", ""},
      {"metadata.google.internal:443", ""},
      {"metadata.google.internal:80", ""},  // "*" is not enough
      {"192.0.2.1:443", ""},
  };
  for (const auto& [text, entry] : rows) {
    const Authority asked = place(text);
    BOOST_TEST(rules.decide(asked.host, asked.port).would_allow == entry, text);
  }
}

BOOST_AUTO_TEST_CASE(addresses_of_no_public_host_need_an_entry_of_their_own) {
  const std::vector<std::string> list = {"registry.corp:443",
                                         "*.corp:443",
                                         "packages.example.com:443",
                                         "10.9.9.9:443",
                                         "[fd00::9]:443",
                                         "169.254.169.254:80",
                                         "metadata.google.internal:80",
                                         "rebound.example.com:443"};
  const HostRules rules(list);
  const struct {
    const char* asked;
    const char* address;
    bool permitted;
  } rows[] = {
      {"packages.example.com:443", "1.1.1.1", true},
      {"packages.example.com:443", "2606:4700:4700::1111", true},
      {"packages.example.com:443", "64:ff9b::1.1.1.1", true},
      // the very host is listed: its private address is too
      {"registry.corp:443", "10.0.0.1", true},
      {"registry.corp:443", "192.168.1.1", true},
      {"registry.corp:443", "172.16.0.1", true},
      {"registry.corp:443", "100.64.0.1", true},
      {"registry.corp:443", "127.0.0.1", true},
      {"registry.corp:443", "::1", true},
      {"registry.corp:443", "fd00::1", true},
      // but never one that no registry has
      {"registry.corp:443", "169.254.169.254", false},
      {"registry.corp:443", "169.254.1.1", false},
      {"registry.corp:443", "168.63.129.16", false},
      {"registry.corp:443", "100.100.100.200", false},
      {"registry.corp:443", "fe80::1", false},
      {"registry.corp:443", "fd00:ec2::254", false},
      {"registry.corp:443", "0.0.0.0", false},
      {"registry.corp:443", "::", false},
      {"registry.corp:443", "224.0.0.1", false},
      {"registry.corp:443", "255.255.255.255", false},
      {"registry.corp:443", "192.0.2.1", false},
      {"registry.corp:443", "198.18.0.1", false},
      {"registry.corp:443", "::ffff:10.0.0.1", false},
      {"registry.corp:443", "::ffff:1.1.1.1", false},
      {"registry.corp:443", "::10.0.0.1", false},
      {"registry.corp:443", "2002:a00:1::1", false},
      {"registry.corp:443", "2001:0:a00:1::1", false},
      {"registry.corp:443", "64:ff9b::169.254.169.254", false},
      // a wildcard permits public ones alone
      {"a.corp:443", "1.1.1.1", true},
      {"a.corp:443", "10.0.0.1", false},
      {"a.corp:443", "127.0.0.1", false},
      {"a.corp:443", "::1", false},
      {"a.corp:443", "fd00::1", false},
      {"a.corp:443", "64:ff9b::10.0.0.1", false},
      // an address that is listed may be led to by any listed name, at its port
      {"a.corp:443", "10.9.9.9", true},
      {"a.corp:443", "fd00::9", true},
      {"a.corp:443", "169.254.169.254", false},
      {"10.9.9.9:443", "10.9.9.9", true},
      {"[fd00::9]:443", "fd00::9", true},
      {"169.254.169.254:80", "169.254.169.254", true},
      // a metadata service, by its own name
      {"metadata.google.internal:80", "169.254.169.254", true},
      {"metadata.google.internal:80", "169.254.1.1", true},
      {"metadata.google.internal:80", "0.0.0.0", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.asked << " at " << row.address) {
      const Authority asked = place(row.asked);
      const HostDecision decision = rules.decide(asked.host, asked.port);
      BOOST_REQUIRE(decision.allowed);
      const auto address = read_ip_address(row.address);
      BOOST_REQUIRE(address.has_value());
      const std::string refusal = rules.refusal(decision, asked.host, asked.port, *address);
      BOOST_TEST(refusal.empty() == row.permitted, refusal);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_refused_address_says_what_would_allow_it) {
  const HostRules rules({"*.corp:443", "b.corp:80"});
  const auto refusal = [&](const char* asked_text, const char* address) {
    const Authority asked = place(asked_text);
    return rules.refusal(rules.decide(asked.host, asked.port), asked.host, asked.port,
                         *read_ip_address(address));
  };
  BOOST_TEST(refusal("a.corp:443", "10.0.0.1") ==
             "a.corp:443 leads to 10.0.0.1, a private address: only an entry \"a.corp:443\" of its "
             "own in the policy's network.allow would allow it");
  BOOST_TEST(refusal("b.corp:80", "169.254.169.254") ==
             "b.corp:80 leads to 169.254.169.254, a link-local address, where clouds serve "
             "metadata: only an entry \"169.254.169.254:80\" of its own in the policy's "
             "network.allow would allow it");
}

BOOST_AUTO_TEST_SUITE_END()
