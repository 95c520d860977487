#include "core/images/image_file.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/support/images.h"

using namespace sortie;
namespace images = sortie::test::images;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

std::string big(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i));
  return text;
}

std::string little(std::uint32_t number, int bytes) {
  const std::string text = big(number, bytes);
  return {text.rbegin(), text.rend()};
}

/// W3C PNG §5.5, bit by bit.
std::uint32_t crc(std::string_view bytes) {
  std::uint32_t value = 0xFFFFFFFF;
  for (const char c : bytes) {
    value ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~value;
}

std::string chunk(const std::string& type, const std::string& data) {
  return big(static_cast<std::uint32_t>(data.size()), 4) + type + data + big(crc(type + data), 4);
}

const std::string kSignature = "\x89PNG\r\n\x1A\n";
const std::string kEnd = chunk("IEND", "");
/// One row of a filter byte and a grey pixel, as zlib stores it.
const std::string kData("\x78\x01\x01\x02\x00\xfd\xff\x00\x00\x00\x02\x00\x01"sv);

std::string ihdr(std::uint32_t width, std::uint32_t height, int depth = 8, int kind = 0) {
  return chunk("IHDR", big(width, 4) + big(height, 4) + static_cast<char>(depth) +
                           static_cast<char>(kind) + std::string(3, '\0'));
}

std::string png(const std::string& chunks) { return kSignature + chunks; }

/// What stands behind the signature of a file with this canvas.
std::string webp(const std::string& chunks) {
  return "RIFF" + little(static_cast<std::uint32_t>(chunks.size()) + 4, 4) + "WEBP" + chunks;
}

std::string canvas(std::uint32_t width, std::uint32_t height) {
  return "VP8X" + little(10, 4) + std::string(4, '\0') + little(width - 1, 3) +
         little(height - 1, 3);
}

std::string problem_of(const std::string& bytes) {
  const auto header = read_image_header(bytes);
  return header ? image_problem(bytes, *header) : "no header";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_check)

BOOST_AUTO_TEST_CASE(whole_images_can_be_shown_whatever_stands_behind_them) {
  const std::string pixel = images::kLosslessWebp.substr(12);
  for (const std::string& whole :
       {images::kPng, images::kGif, images::kJpeg, images::kWebp, images::kLosslessWebp,
        png(ihdr(1, 1) + chunk("IDAT", kData) + kEnd),
        png(ihdr(1, 1, 8, 3) + chunk("PLTE", "rgb") + chunk("IDAT", kData.substr(0, 1)) +
            chunk("IDAT", kData.substr(1)) + chunk("tEXt", "a") + kEnd),
        png(ihdr(1, 1) + big(4, 4) + "iCCPnone" + big(0, 4) + chunk("IDAT", kData) + kEnd),
        png(ihdr(16'384, 1) + chunk("IDAT", kData) + kEnd), webp(canvas(1, 1) + pixel)}) {
    BOOST_TEST(problem_of(whole) == "");
    BOOST_TEST(problem_of(whole + "and more \xff") == "");
  }
}

BOOST_AUTO_TEST_CASE(a_gif_may_lack_its_trailer_behind_a_whole_image) {
  const std::string gif = images::kGif.substr(0, images::kGif.size() - 1);
  const std::string comment = "!\xfe\x02hi"s + '\0';
  BOOST_TEST(problem_of(gif) == "");
  BOOST_TEST(problem_of(gif + comment) == "");
  for (const std::string& cut : {gif + comment.substr(0, 4), gif + "x", gif.substr(0, 27)})
    BOOST_TEST(problem_of(cut) == "is not a complete GIF: it ends before its trailer");
}

BOOST_AUTO_TEST_CASE(an_image_that_is_cut_off_anywhere_is_not_complete) {
  for (const std::string* whole :
       {&images::kPng, &images::kGif, &images::kJpeg, &images::kWebp, &images::kLosslessWebp})
    for (std::size_t size = 0; size < whole->size() - (whole == &images::kGif ? 1 : 0); ++size)
      BOOST_TEST(problem_of(whole->substr(0, size)) != "", whole->substr(1, 4) << " " << size);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_an_image_is_named) {
  const struct {
    std::string bytes;
    const char* problem;
  } rows[] = {
      {png(ihdr(16'385, 2) + chunk("IDAT", kData) + kEnd),
       "has 16385 x 2 pixels, and can't be shown: at most 16384 a side can"},
      {png(ihdr(1, 1) + chunk("IDAT", kData)),
       "is not a complete PNG: it ends before its chunk IEND"},
      {images::kJpeg.substr(0, images::kJpeg.size() - 2) + std::string(100, '\0'),
       "is not a complete JPEG: it ends before its end mark"},
      {"\xff\xd8\xff\xc0\x00\x0b\x08\x00\x05\x00\x10\x01\x01\x11\x00\xff\xd9"s,
       "is not a complete JPEG: it ends before its end mark"},
      {"GIF89a\x01\x00\x01\x00\x00\x00\x00<script>"s,
       "is not a complete GIF: it ends before its trailer"},
      {"RIFF\xff\xff\xff\xff"s + images::kWebp.substr(8),
       "is not a complete WebP: it ends before the length in its header"},
  };
  for (const auto& row : rows) BOOST_TEST(problem_of(row.bytes) == row.problem);
}

BOOST_AUTO_TEST_SUITE_END()
