#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/secrets/coded_search.h"
#include "core/secrets/line_shapes.h"

namespace sortie {

/// What a Redactor looks for, ready to be searched with. Not changed once it is shared: many
/// threads may read it.
struct SecretNeedles {
  CodedSearch search;
  std::vector<std::string> names;  ///< by needle
  /// Shared with the needles that are made of these: expressions are not copied.
  std::vector<std::shared_ptr<const LineShape>> patterns;
  std::size_t longest = 0;  ///< bytes of the longest needle

  /// Takes in a value with its codings (codings.h); build() has to follow.
  void add(const std::string& name, std::string_view value);
  void build() { search.build(); }
  bool empty() const noexcept { return longest == 0 && patterns.empty(); }

 private:
  void look_for(std::string_view needle, CodedSearch::Gaps gaps, const std::string& name);
};

}  // namespace sortie
