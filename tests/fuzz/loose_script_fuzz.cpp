#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "policies/shell/conservative_words.h"
#include "policies/shell/script.h"

using namespace sortie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string script(reinterpret_cast<const char*>(data), size);
  const std::vector<LooseWord> words = loose_words(script);
  for (const LooseWord& word : words) {
    // Text without a part that is not known could be itself.
    const bool known = word.text.find(kLooseAnything) == std::string::npos;
    if (known && !could_be(word.text, word.text)) std::abort();
  }
  // Every command that surely runs is among the words that may be a command.
  const ScriptReading reading = read_script(script);
  for (const SimpleCommand& command : reading.commands) {
    const bool found = std::any_of(words.begin(), words.end(), [&](const LooseWord& word) {
      return word.starts_command && could_be(word.text, command.words[0].text);
    });
    if (!found) std::abort();
  }
  return 0;
}
