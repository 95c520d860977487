#include "core/model/wire.h"

namespace sortie {

void WireDecoder::tell_escaped(Text kind, std::string_view escaped) const {
  if (!is_heard()) return;
  if (escaped.find('\\') == std::string_view::npos) return tell(kind, escaped);
  try {
    tell(kind, parse_json('"' + std::string(escaped) + '"').text());
  } catch (const JsonError&) {
    // Who reads the whole text will say what is wrong with it.
  }
}

}  // namespace sortie
