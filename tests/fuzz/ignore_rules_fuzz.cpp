// The input is an ignore file, an empty line, and paths. Whatever it says: each path gets a
// verdict, the same one each time; nothing is taken in again without a rule that begins with `!`; a
// folder's rules are gone once it is left; and a glob of a call is compiled or refused.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/search/ignore_rules.h"

namespace {

using namespace sortie;

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Kind = IgnoreRules::Kind;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t gap = input.find("\n\n");
  const std::string_view rules = input.substr(0, gap);
  std::string_view paths = gap == input.npos ? std::string_view() : input.substr(gap + 2);
  const bool takes_in = rules.find('!') != rules.npos;

  const IgnoreFile file(rules);
  IgnoreRules outer;
  outer.add_outer(Kind::gitignore, "services/web", rules);
  IgnoreRules nested;
  nested.add_outer(Kind::gitignore, "services/web", rules);
  nested.add(Kind::ignore, "d", rules);
  nested.add(Kind::exclude, "d", "*\n");
  for (int count = 0; !paths.empty() && count < 64; ++count) {
    const std::string_view path = take_line(paths);
    const std::size_t slash = path.rfind('/');
    const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
    for (const bool is_folder : {false, true}) {
      const IgnoreVerdict verdict = file.verdict(path, name, is_folder);
      check(verdict == file.verdict(path, name, is_folder));
      check(takes_in || verdict != IgnoreVerdict::kept);
      check(!file.empty() || verdict == IgnoreVerdict::nothing);
      const std::string below = "d/" + std::string(path);
      // The last rule of all that speak is one of the folder's, or else its own `*`.
      const IgnoreVerdict inner = nested.verdict(below, name, is_folder);
      check(verdict == IgnoreVerdict::nothing || inner == verdict);
      check(inner != IgnoreVerdict::nothing || name.empty());
    }
    try {
      (void)NameGlob(path).matches(path, name);
    } catch (const PatternError&) {
    }
  }
  nested.leave("d");
  for (const std::string_view path : {"d/a.o", "d", "x/y"})
    check(nested.verdict(path, path.substr(path.rfind('/') + 1), false) ==
          outer.verdict(path, path.substr(path.rfind('/') + 1), false));
  return 0;
}
