#include "core/host/ip_address.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;
using Kind = AddressUse::Kind;

BOOST_AUTO_TEST_SUITE(ip_address)

BOOST_AUTO_TEST_CASE(an_address_is_read_in_its_full_spelling_alone) {
  const struct {
    const char* text;
    const char* read;  ///< "" where it is none
  } rows[] = {
      {"192.0.2.1", "192.0.2.1"},
      {"0.0.0.0", "0.0.0.0"},
      {"255.255.255.255", "255.255.255.255"},
      {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"::1", "::1"},
      {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
      {"", ""},
      {"127.1", ""},
      {"2130706433", ""},
      {"0x7f000001", ""},
      {"0x7f.0.0.1", ""},
      {"0177.0.0.1", ""},
      {"127.0.0.01", ""},
      {"127.0.0.1.", ""},
      {"127.0.0.256", ""},
      {"127.0.0.1 ", ""},
      {" 127.0.0.1", ""},
      {"127.0.0", ""},
      {"127.0.0.1.1", ""},
      {"fe80::1%eth0", ""},
      {"fe80::1%1", ""},
      {":::", ""},
      {"1::2::3", ""},
      {"12345::", ""},
      {"[::1]", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto address = read_ip_address(row.text);
      BOOST_TEST((address ? address->text() : "") == row.read);
    }
  }
  BOOST_TEST(!read_ip_address(std::string_view("127.0.0.1\0.example", 18)).has_value());
}

BOOST_AUTO_TEST_CASE(each_address_has_its_use) {
  const struct {
    const char* text;
    Kind kind;
  } rows[] = {
      {"1.1.1.1", Kind::ordinary},
      {"8.8.8.8", Kind::ordinary},
      {"9.255.255.255", Kind::ordinary},
      {"10.0.0.0", Kind::internal},
      {"10.255.255.255", Kind::internal},
      {"11.0.0.0", Kind::ordinary},
      {"100.63.255.255", Kind::ordinary},
      {"100.64.0.0", Kind::internal},
      {"100.127.255.255", Kind::internal},
      {"100.100.100.200", Kind::metadata},
      {"100.128.0.0", Kind::ordinary},
      {"126.255.255.255", Kind::ordinary},
      {"127.0.0.0", Kind::internal},
      {"127.255.255.255", Kind::internal},
      {"128.0.0.0", Kind::ordinary},
      {"168.63.129.15", Kind::ordinary},
      {"168.63.129.16", Kind::metadata},
      {"169.253.255.255", Kind::ordinary},
      {"169.254.0.0", Kind::metadata},
      {"169.254.169.254", Kind::metadata},
      {"169.254.170.2", Kind::metadata},
      {"169.255.0.0", Kind::ordinary},
      {"172.15.255.255", Kind::ordinary},
      {"172.16.0.0", Kind::internal},
      {"172.31.255.255", Kind::internal},
      {"172.32.0.0", Kind::ordinary},
      {"192.0.0.1", Kind::unusable},
      {"192.0.0.192", Kind::metadata},
      {"192.0.1.0", Kind::ordinary},
      {"192.0.2.1", Kind::unusable},
      {"192.88.99.1", Kind::unusable},
      {"192.167.255.255", Kind::ordinary},
      {"192.168.0.0", Kind::internal},
      {"192.168.255.255", Kind::internal},
      {"192.169.0.0", Kind::ordinary},
      {"198.17.255.255", Kind::ordinary},
      {"198.18.0.0", Kind::unusable},
      {"198.19.255.255", Kind::unusable},
      {"198.20.0.0", Kind::ordinary},
      {"198.51.100.1", Kind::unusable},
      {"203.0.113.1", Kind::unusable},
      {"223.255.255.255", Kind::ordinary},
      {"224.0.0.1", Kind::unusable},
      {"239.255.255.255", Kind::unusable},
      {"240.0.0.1", Kind::unusable},
      {"255.255.255.255", Kind::unusable},
      {"0.0.0.0", Kind::unusable},
      {"0.1.2.3", Kind::unusable},
      {"2606:4700:4700::1111", Kind::ordinary},
      {"2a00:1450::1", Kind::ordinary},
      {"3ffe::1", Kind::ordinary},
      {"3fff::1", Kind::unusable},
      {"::", Kind::unusable},
      {"::1", Kind::internal},
      {"::2", Kind::unusable},
      {"::127.0.0.1", Kind::unusable},
      {"::10.0.0.1", Kind::unusable},
      {"::ffff:127.0.0.1", Kind::unusable},
      {"::ffff:169.254.169.254", Kind::unusable},
      {"::ffff:8.8.8.8", Kind::unusable},
      {"::ffff:0:127.0.0.1", Kind::unusable},
      {"64:ff9b::8.8.8.8", Kind::ordinary},
      {"64:ff9b::127.0.0.1", Kind::internal},
      {"64:ff9b::10.1.2.3", Kind::internal},
      {"64:ff9b::169.254.169.254", Kind::metadata},
      {"64:ff9b:1::8.8.8.8", Kind::unusable},
      {"100::1", Kind::unusable},
      {"2001::1", Kind::unusable},
      {"2001:0:5ef5:79fd::1", Kind::unusable},
      {"2001:2::1", Kind::unusable},
      {"2001:20::1", Kind::unusable},
      {"2001:1ff:ffff::1", Kind::unusable},
      {"2001:200::1", Kind::ordinary},
      {"2001:db8::1", Kind::unusable},
      {"2002:7f00:1::1", Kind::unusable},
      {"2002:a00:1::1", Kind::unusable},
      {"2002:808:808::1", Kind::unusable},
      {"4000::1", Kind::unusable},
      {"5f00::1", Kind::unusable},
      {"fc00::1", Kind::internal},
      {"fd00::1", Kind::internal},
      {"fd00:ec2::254", Kind::metadata},
      {"fd00:ec2::253", Kind::internal},
      {"fd20:ce::254", Kind::metadata},
      {"fe80::1", Kind::metadata},
      {"febf::1", Kind::metadata},
      {"fec0::1", Kind::unusable},
      {"ff02::1", Kind::unusable},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto address = read_ip_address(row.text);
      BOOST_REQUIRE(address.has_value());
      const AddressUse use = use_of(*address);
      BOOST_TEST((use.kind == row.kind), use.words);
      BOOST_TEST(use.words.empty() == (row.kind == Kind::ordinary));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_address_goes_to_a_socket_address_and_back) {
  for (const char* text : {"192.0.2.1", "2001:db8::1"}) {
    const auto address = read_ip_address(text);
    BOOST_REQUIRE(address.has_value());
    sockaddr_storage bytes;
    BOOST_TEST(fill_socket_address(*address, 443, bytes) > 0u);
    BOOST_TEST((ip_address_of(bytes) == address));
  }
  sockaddr_storage local{};
  local.ss_family = AF_UNIX;
  BOOST_TEST(!ip_address_of(local).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
