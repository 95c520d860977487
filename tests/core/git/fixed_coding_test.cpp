// The codings that need no iconv(3), compared with iconv.
#include "core/git/fixed_coding.h"

#include <boost/test/unit_test.hpp>

#include "core/git/other_coding.h"

using namespace sortie;
using namespace std::string_literals;

namespace {

const struct {
  const char* name;   ///< as fixed_coding() takes it
  const char* iconv;  ///< as iconv(3) does
} kCodings[] = {{"utf16", "UTF-16"},     {"utf16le", "UTF-16LE"}, {"utf16be", "UTF-16BE"},
                {"utf32", "UTF-32"},     {"utf32le", "UTF-32LE"}, {"utf32be", "UTF-32BE"},
                {"latin1", "ISO-8859-1"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(fixed_coding_suite)

BOOST_AUTO_TEST_CASE(text_is_encoded_as_iconv_does) {
  const std::string texts[] = {"plain\r\n",
                               "\0"s,
                               "\xc3\xa4\xc3\xbf",  // a umlaut, y diaeresis
                               "\xe2\x82\xac",      // the euro sign
                               "\xf0\x9f\x98\x80",  // beyond 16 bits
                               "\xef\xbf\xbd\xee\x80\x80",
                               "\xc3",              // cut off
                               "\xed\xa0\x80",      // a surrogate
                               "\xf4\x90\x80\x80",  // beyond Unicode
                               "\xc0\x80"};
  for (const auto& coding : kCodings) {
    for (const std::string& text : texts) {
      BOOST_TEST_CONTEXT(coding.name << ": " << text) {
        const auto made = encoded_in(fixed_coding(coding.name).value(), text);
        BOOST_TEST((made == converted(coding.iconv, "UTF-8", text)));
        if (made) BOOST_TEST((utf8_of(*fixed_coding(coding.name), *made) == text));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bytes_are_decoded_as_iconv_does) {
  const std::string contents[] = {"a\0b\0"s,
                                  "\xff\xfe\xe4\0"s,
                                  "\xfe\xff\0\xe4"s,
                                  "\xff\xfe\0\0\xe4\0\0\0"s,
                                  "\0\0\xfe\xff\0\0\0\xe4"s,
                                  "abc"s,             // half a unit
                                  "\x3d\xd8\0\xde"s,  // a pair of surrogates
                                  "\0\xde\x3d\xd8"s,  // the wrong way round
                                  "\x3d\xd8"s,        // half a pair
                                  "\0\0\x11\0"s,      // beyond Unicode in UTF-32
                                  "\xff\xff\xff\xff"s};
  for (const auto& coding : kCodings) {
    for (const std::string& bytes : contents) {
      BOOST_TEST_CONTEXT(coding.name << ", " << bytes.size() << " bytes") {
        BOOST_TEST((utf8_of(fixed_coding(coding.name).value(), bytes) ==
                    converted("UTF-8", coding.iconv, bytes)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(other_names_are_iconvs_part) {
  for (const char* name : {"shift-jis", "utf8", "utf16me", "utf-16", ""})
    BOOST_TEST(!fixed_coding(name).has_value(), name);
}

BOOST_AUTO_TEST_SUITE_END()
