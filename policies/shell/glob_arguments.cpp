#include "policies/shell/glob_arguments.h"

#include <algorithm>
#include <array>

#include "policies/shell/loose_script.h"
#include "policies/shell/read_only_options.h"

namespace sortie {
namespace {

/// What they do depends on how many operands there are, or on a word at a fixed place.
constexpr std::array<std::string_view, 6> kCountOperands = {"uniq", "test",    "[",
                                                            "cd",   "command", "printf"};

bool refuses_options(std::string_view name) {
  const auto rows = refused_options();
  return name == "sed" || std::any_of(rows.begin(), rows.end(), [&](const RefusedOption& row) {
           return row.command == name;
         });
}

}  // namespace

bool begins_literally(std::string_view glob) {
  return !glob.empty() && std::string_view("-*?[").find(glob.front()) == std::string_view::npos;
}

std::string why_no_glob(std::string_view name, std::string_view glob) {
  if (std::find(kCountOperands.begin(), kCountOperands.end(), name) != kCountOperands.end()) {
    return "a glob may become more words than one, and " + std::string(name) + " counts them";
  }
  if (begins_literally(glob) || !refuses_options(name)) return "";
  return "a glob that begins so may become an option of " + std::string(name) +
         ": write ./ before it";
}

std::string loose_glob(std::string_view glob) {
  const auto first = glob.find_first_of("*?[");
  if (first == std::string_view::npos) return std::string(glob);
  const auto last = glob.find_last_of("*?]");
  // A set without an end, or what stands behind the last sign.
  const bool closed = last != std::string_view::npos && last >= first &&
                      glob.find('[', last + 1) == std::string_view::npos;
  return std::string(glob.substr(0, first)) + kLooseAnything +
         (closed ? std::string(glob.substr(last + 1)) : std::string());
}

}  // namespace sortie
