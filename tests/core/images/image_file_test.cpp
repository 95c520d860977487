#include "core/images/image_file.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/text/base64.h"
#include "tests/support/images.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(image_file)

BOOST_AUTO_TEST_CASE(kind_and_size_come_from_the_content) {
  const struct {
    const std::string& bytes;
    ImageHeader header;
  } rows[] = {
      {images::kPng, {"image/png", 3, 2}},           {images::kGif, {"image/gif", 1, 1}},
      {images::kJpeg, {"image/jpeg", 16, 5}},        {images::kWebp, {"image/webp", 1, 1}},
      {images::kLosslessWebp, {"image/webp", 1, 1}}, {images::kExtendedWebp, {"image/webp", 4, 3}},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.header.media_type) {
      BOOST_TEST((read_image_header(row.bytes) == row.header));
    }
}

// Of each file all beginnings: none reads beyond its end, and none makes another kind of it.
BOOST_AUTO_TEST_CASE(a_cut_file_is_no_image_or_the_same) {
  for (const std::string* whole : {&images::kPng, &images::kGif, &images::kJpeg, &images::kWebp,
                                   &images::kLosslessWebp, &images::kExtendedWebp}) {
    const auto header = read_image_header(*whole);
    bool known = false;
    for (std::size_t size = 0; size < whole->size(); ++size) {
      const std::string cut = whole->substr(0, size);  // its own memory, for the sanitizers
      const auto found = read_image_header(cut);
      BOOST_TEST((!found || found == header));
      BOOST_TEST((!known || found));
      known = found.has_value();
    }
    BOOST_TEST(!read_image_header(whole->substr(0, 10)).has_value() == (whole != &images::kGif));
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_image_is_none) {
  std::string endless = "\xff\xd8\xff";
  endless.append(100'000, '\xff');
  const struct {
    const char* name;
    std::string bytes;
  } rows[] = {
      {"nothing", ""},
      {"text", "a screenshot.png"},
      {"svg", "<svg xmlns='http://www.w3.org/2000/svg'/>"},
      {"bmp", std::string("BM\x46\x00\x00\x00\x00\x00\x00\x00"sv)},
      {"png without its header", std::string("\x89PNG\r\n\x1a\n\x00\x00\x00\rIDAT\x00\x00\x00\x01"
                                             "\x00\x00\x00\x01"sv)},
      {"png of no width", std::string("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x00"
                                      "\x00\x00\x00\x01"sv)},
      {"png wider than it can be", std::string("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x80\x00\x00\x00"
                                               "\x00\x00\x00\x01"sv)},
      {"gif of another version", std::string("GIF90a\x01\x00\x01\x00"sv)},
      {"gif of no height", std::string("GIF89a\x01\x00\x00\x00"sv)},
      {"jpeg that ends", std::string("\xff\xd8\xff\xd9"sv)},
      {"jpeg with a scan and no frame", std::string("\xff\xd8\xff\xda\x00\x08"sv)},
      {"jpeg segment that does not count itself",
       std::string("\xff\xd8\xff\xe0\x00\x01\xff\xc0"sv)},
      {"jpeg segment beyond the end", std::string("\xff\xd8\xff\xe0\xff\xff\x00"sv)},
      {"jpeg frame too short for a size",
       std::string("\xff\xd8\xff\xc0\x00\x07\x08\x00\x05\x00\x10\x01"sv)},
      {"jpeg without a marker", std::string("\xff\xd8\xff\xe0\x00\x02\x00\xc0\x00\x0b"sv)},
      {"jpeg of fill bytes", endless},
      {"riff of sound", std::string("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00"sv)},
      {"webp of another chunk", std::string("RIFF\x24\x00\x00\x00WEBPALPH\x10\x00\x00\x00"sv)},
      {"webp that is no key frame",
       std::string("RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00\x31\x01\x00\x9d\x01\x2a\x01\x00"
                   "\x01\x00"sv)},
      {"lossless webp of another version",
       std::string("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x20"sv)},
  };
  for (const auto& row : rows) BOOST_TEST(!read_image_header(row.bytes).has_value(), row.name);
}

BOOST_AUTO_TEST_CASE(base64_is_that_of_the_rfc) {
  // RFC 4648 §10, and all bytes that need both of the last letters.
  BOOST_TEST(base64_encoded("") == "");
  BOOST_TEST(base64_encoded("f") == "Zg==");
  BOOST_TEST(base64_encoded("fo") == "Zm8=");
  BOOST_TEST(base64_encoded("foo") == "Zm9v");
  BOOST_TEST(base64_encoded("foob") == "Zm9vYg==");
  BOOST_TEST(base64_encoded("fooba") == "Zm9vYmE=");
  BOOST_TEST(base64_encoded("foobar") == "Zm9vYmFy");
  BOOST_TEST(base64_encoded("\xfb\xff\xfe"sv) == "+//+");
  BOOST_TEST(base64_encoded("\x00\x00"sv) == "AAA=");
}

BOOST_AUTO_TEST_SUITE_END()
