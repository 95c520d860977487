#include "core/batch/run_name.h"

#include "core/base/hash.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLongest = 120;
constexpr std::size_t kDigits = 10;

}  // namespace

std::string short_digest(std::string_view text) { return sha256_hex(text).substr(0, kDigits); }

std::string run_name_of(std::string_view text) {
  std::string name;
  for (const char each : text) {
    const char c = ascii_lower(each);
    const bool kept = is_ascii_alphanumeric(c) || c == '-' || c == '_' || c == '.';
    if (kept) name += c;
    if (!kept && !name.ends_with('-')) name += '-';
  }
  name.erase(0, std::min(name.find_first_not_of("-."), name.size()));
  while (name.ends_with('-')) name.pop_back();
  if (name.empty()) return "run-" + short_digest(text);
  if (name.size() > kLongest)
    name = name.substr(0, kLongest - kDigits - 1) + "-" + short_digest(text);
  if (name.ends_with(".prev")) name += "_";
  return name;
}

}  // namespace sortie
