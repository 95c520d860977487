#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/base/error.h"
#include "core/provider/sign_in/auth_file.h"

// What a sign-in file gives goes into headers, and is written back: it has to be one plain word
// each, and what is written has to be read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sortie;
  AuthFile file;
  try {
    file = parse_auth_file({reinterpret_cast<const char*>(data), size}, "auth.json");
  } catch (const InputError&) {
    return 0;
  }
  const auto is_word = [](const std::string& text) {
    return text.size() <= kMaxTokenBytes &&
           std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return c > ' ' && c < 0x7f; });
  };
  if (!is_word(file.tokens.access) || !is_word(file.account_id) || !is_word(file.api_key))
    std::abort();
  if (!file.is_sign_in()) return 0;
  const SignInTokens tokens{.access = "new"};
  const AuthFile renewed = parse_auth_file(renewed_auth_file(file, tokens, {}), "auth.json");
  if (renewed.tokens.access != "new" || renewed.account_id != file.account_id) std::abort();
  return 0;
}
