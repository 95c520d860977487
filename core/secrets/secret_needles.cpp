#include "core/secrets/secret_needles.h"

#include <algorithm>

#include "core/secrets/codings.h"

namespace sortie {
namespace {

/// Two halves of a shorter value may stand below each other by chance.
constexpr std::size_t kShortestWrapped = 10;

}  // namespace

void SecretNeedles::add(const std::string& name, std::string_view value) {
  using Gaps = CodedSearch::Gaps;
  const Codings codings = codings_of(value);
  const Gaps gaps = value.size() < kShortestWrapped ? Gaps::none : Gaps::wraps;
  look_for(value, gaps, name);
  for (const std::string& text : codings.characters) look_for(text, gaps, name);
  for (const std::string& text : codings.base64) look_for(text, Gaps::wraps, name);
  for (const std::string& text : codings.hex) look_for(text, Gaps::hex, name);
  look_for(codings.spaced, Gaps::spaced_bytes, name);
}

void SecretNeedles::look_for(std::string_view needle, CodedSearch::Gaps gaps,
                             const std::string& name) {
  const std::uint32_t index = search.add(needle, gaps);
  if (index == names.size()) names.push_back(name);
  longest = std::max(longest, needle.size());
}

}  // namespace sortie
