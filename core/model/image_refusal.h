#pragma once

#include <string_view>

namespace sortie {

/// ModelError::kind() of a request that the provider refused for an image in it.
inline constexpr const char* kImageRefused = "invalid_image";

/// Whether an error's code says that an image of the request can't be used: those of OpenAI's
/// Responses (`invalid_image`, `image_parse_error`, …), which Chat Completions shares.
///
/// Source: ResponseError.code of OpenAI's API reference.
bool is_image_code(std::string_view code);

/// Whether the words of a refused request say so, where its code tells no more than that it was
/// refused: Messages has no other way, and servers of local models have words of their own. Only
/// words that speak of an image, and not of a tool or model with that word in its name.
bool says_image_is_unusable(std::string_view message);

/// The provider's words in the message of a ModelError: what stands behind "HTTP status 400: ",
/// where that is in it.
std::string_view provider_words(std::string_view message);

}  // namespace sortie
