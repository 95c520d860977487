#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/line_shapes.h"
#include "core/base/needle_search.h"

namespace sortie {

/// What a Redactor looks for, ready to be searched with. Not changed once it is shared: many
/// threads may read it.
struct SecretNeedles {
  enum Kind { plain, coded, kinds };  ///< coded: base64 and hex, which tools wrap

  NeedleSearch searches[kinds] = {NeedleSearch(NeedleSearch::LineBreaks::count),
                                  NeedleSearch(NeedleSearch::LineBreaks::pass_over)};
  std::vector<std::string> names[kinds];  ///< by needle
  /// Shared with the needles that are made of these: expressions are not copied.
  std::vector<std::shared_ptr<const LineShape>> patterns;
  std::size_t longest = 0;  ///< bytes of the longest needle

  /// Takes in a value with its codings (codings.h); build() has to follow.
  void add(const std::string& name, std::string_view value);
  void build();
  bool empty() const noexcept { return longest == 0 && patterns.empty(); }

 private:
  void look_for(Kind kind, std::string_view needle, const std::string& name);
};

}  // namespace sortie
