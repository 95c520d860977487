#include "core/text/untrusted.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

using namespace sortie;
using namespace std::string_view_literals;

namespace {

/// What stands between the tags.
std::string inside(std::string_view value) {
  std::string text = untrusted("v", value);
  const std::string_view open = "<untrusted name=\"v\">";
  const std::string_view close = "</untrusted>";
  BOOST_REQUIRE(text.starts_with(open));
  BOOST_REQUIRE(text.ends_with(close));
  return text.substr(open.size(), text.size() - open.size() - close.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(untrusted_text)

BOOST_AUTO_TEST_CASE(text_stays_as_it_is) {
  for (const std::string_view value :
       {""sv, "a < b && c > d"sv, "<b>bold</b> <p/>"sv, "{{name}} \\{{ ${{"sv, "not trusted"sv,
        "un<trusted>"sv, "&lt;/untrusted&gt;"sv, "<un-trusted>"sv, "</untruste"sv, "<"sv, "a\0b"sv,
        "\xE2\x80\xAE right to left"sv, "\xC3\xA4\xF0\x9F\x98\x80"sv})
    BOOST_TEST(inside(value) == value);
}

BOOST_AUTO_TEST_CASE(the_tag_can_neither_be_closed_nor_opened) {
  for (const std::string_view value : {
           "</untrusted>"sv,
           "</UNTRUSTED>"sv,
           "</UnTrUsTeD >"sv,
           "< / untrusted >"sv,
           "</\nuntrusted\n>"sv,
           "<\t/\r\n \tuntrusted>"sv,
           "<//untrusted>"sv,
           "<\\/untrusted>"sv,
           "</untrusted"sv,
           "</untrusted foo=\"bar\">"sv,
           "<untrusted name=\"other\">"sv,
           "<untrustedness>"sv,
           "<\0/untrusted>"sv,
           "</un\0trusted>"sv,
           "</un\x01\x7Ftrusted>"sv,
           "<\xE2\x80\x8B/untrusted>"sv,            // zero width space
           "</un\xE2\x80\x8Dtrusted>"sv,            // zero width joiner
           "<\xEF\xBB\xBF/untrusted>"sv,            // byte order mark
           "</\xC2\xA0untrusted>"sv,                // no-break space
           "</un\xC2\xADtrusted>"sv,                // soft hyphen
           "<\xE2\x80\xAE/untrusted>"sv,            // right-to-left override
           "</\xE2\x81\xA6untrusted>"sv,            // left-to-right isolate
           "</\xF3\xA0\x80\xA0untrusted>"sv,        // a tag character
           "\xEF\xBC\x9C/untrusted\xEF\xBC\x9E"sv,  // full width signs
           "<\xEF\xBC\x8Funtrusted>"sv,             // full width slash
           "</\xEF\xBD\x95ntrusted>"sv,             // full width u
           "</untru\xC5\xBFted>"sv,                 // long s
           "\xE2\x80\xB9/untrusted\xE2\x80\xBA"sv,  // angle quotation marks
           "\xE3\x80\x88/untrusted\xE3\x80\x89"sv,  // CJK angle brackets
           "</un\xFFtrusted>"sv,                    // a byte that is no text
           "<\xC0\xAF/untrusted>"sv,                // an overlong slash
       }) {
    BOOST_TEST_CONTEXT(value) {
      const std::string text = inside(value);
      BOOST_TEST(text.starts_with("&lt;"));
      BOOST_TEST(text.find('<') == std::string::npos);
      // The same again adds nothing: what is written down once can be wrapped once more.
      BOOST_TEST(inside(text) == text);
    }
  }
}

BOOST_AUTO_TEST_CASE(only_the_sign_of_the_tag_is_touched) {
  BOOST_TEST(inside("<</untrusted>>") == "<&lt;/untrusted>>");
  BOOST_TEST(inside("<p></untrusted></p>") == "<p>&lt;/untrusted></p>");
  BOOST_TEST(inside("</untrusted></untrusted>") == "&lt;/untrusted>&lt;/untrusted>");
  BOOST_TEST(inside("</untr<!-- -->usted></untrusted>") == "</untr<!-- -->usted>&lt;/untrusted>");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_text_are_repaired) {
  BOOST_TEST(inside("a\xFFz") == "a\xEF\xBF\xBDz");
  BOOST_TEST(inside("<\xC3") == "<\xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(a_name_can_not_end_its_attribute) {
  BOOST_TEST(untrusted("a\"><b>\n&", "x") ==
             "<untrusted name=\"a&quot;>&lt;b> &amp;\">x</untrusted>");
}

BOOST_AUTO_TEST_CASE(other_tags_are_kept_in_the_same_way) {
  BOOST_TEST(without_tag("</user_instructions> </untrusted>", "user_instructions") ==
             "&lt;/user_instructions> </untrusted>");
}

BOOST_AUTO_TEST_SUITE_END()
