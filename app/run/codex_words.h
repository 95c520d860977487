#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// The cause of a failed turn of `exec`, behind the words that `codex exec` has for such a failure of the
/// provider, by which scripts know it: "exceeded retry limit, last status: 429 Too Many Requests; 127.0.0.1:
/// HTTP status 429: …". A cause for which codex has no words of its own is unchanged.
/// @param kind    of the failure, as in ModelError
/// @param reason  sortie's own words, of a ModelError
std::string with_codex_words(std::string_view kind, std::string_view reason);

}  // namespace sortie
