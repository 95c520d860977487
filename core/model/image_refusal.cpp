#include "core/model/image_refusal.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/text/pattern.h"

namespace sortie {
namespace {

constexpr std::array<std::string_view, 13> kCodes = {
    "invalid_image",       "invalid_image_format", "invalid_base64_image",
    "invalid_image_url",   "invalid_image_mode",   "unsupported_image_media_type",
    "image_too_large",     "image_too_small",      "image_file_too_large",
    "image_parse_error",   "empty_image_file",     "failed_to_download_image",
    "image_file_not_found"};

/// "image" as a word of its own, or a field's name: not `view_image`, not `gpt-image-1`.
const Pattern& image_word() {
  static const Pattern pattern = Pattern::expression(
      R"((?:^|[^\w/-])(?:input_)?images?(?:_(?:url|data|file))?(?:[^\w-]|$))", LetterCase::ignored);
  return pattern;
}

/// What is wrong with it.
const Pattern& trouble() {
  static const Pattern pattern = Pattern::expression(
      "invalid|not (?:a |represent a )?valid|unsupported|support|could not|cannot|can't|unable|"
      "fail|exceed|too (?:large|small|big|many)|corrupt|not match|malformed|decod|pars|empty|"
      "truncated|unreadable|appears to be|at most|expected",
      LetterCase::ignored);
  return pattern;
}

/// A part of the request that holds no image: what is said of it is no word on one.
const Pattern& other_part() {
  static const Pattern pattern = Pattern::expression(
      R"(\btools?(?:\[|\.\w)|\btool_choice\b|\bresponse_format\b|_schema\b)", LetterCase::ignored);
  return pattern;
}

}  // namespace

bool is_image_code(std::string_view code) {
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

bool says_image_is_unusable(std::string_view message) {
  return image_word().find(message) && trouble().find(message) && !other_part().find(message);
}

std::string_view provider_words(std::string_view message) {
  constexpr std::string_view kBefore = "HTTP status ";
  const std::size_t status = message.find(kBefore);
  if (status == std::string_view::npos) return message;
  std::size_t at = status + kBefore.size();
  while (at < message.size() && std::isdigit(static_cast<unsigned char>(message[at]))) ++at;
  const std::string_view rest = message.substr(at);
  return rest.starts_with(": ") ? rest.substr(2) : message;
}

}  // namespace sortie
