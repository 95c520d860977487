#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sortie::tests {

/// Makes scripts that lie at the borders of the strict grammar, inside and outside: from pieces
/// of it, then with bytes changed. The same seed makes the same scripts.
class ScriptGenerator {
 public:
  /// @param names  what the scripts call; @param folder  where they stand, for absolute names
  ScriptGenerator(std::uint64_t seed, std::vector<std::string> names, std::string folder);
  std::string script();
  /// A number below `limit`.
  std::size_t below(std::size_t limit);

 private:
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  std::string_view one_of(const std::vector<std::string_view>& choices);
  std::string name();
  std::string word();
  std::string part_of_word();
  std::string double_quoted();
  std::string single_quoted();
  std::string redirection();
  std::string command();
  /// A command, or a loop, condition or group of lists.
  std::string element(int depth);
  std::string list(int depth);
  std::string blanks();
  void mutate(std::string& text);

  std::uint64_t state_;
  std::vector<std::string> names_;
  std::string folder_;
  bool tame_ = true;  ///< only what the grammar has
  std::vector<std::string> variables_;
};

}  // namespace sortie::tests
