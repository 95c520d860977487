#include "core/base/secret_needles.h"

#include <algorithm>

#include "core/base/codings.h"

namespace sortie {

void SecretNeedles::add(const std::string& name, std::string_view value) {
  const Codings codings = codings_of(value);
  look_for(plain, value, name);
  for (const std::string& text : codings.whole) look_for(plain, text, name);
  for (const std::string& text : codings.wrapped) look_for(coded, text, name);
}

void SecretNeedles::build() {
  for (auto& search : searches) search.build();
}

void SecretNeedles::look_for(Kind kind, std::string_view needle, const std::string& name) {
  const std::uint32_t index = searches[kind].add(needle);
  if (index == names[kind].size()) names[kind].push_back(name);
  longest = std::max(longest, needle.size());
}

}  // namespace sortie
