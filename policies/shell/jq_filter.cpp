#include "policies/shell/jq_filter.h"

namespace sortie {
namespace {

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether the name that begins at `at` is a field: ".env", but not "..env" or "1.env".
bool is_field(std::string_view text, std::size_t at) {
  if (at == 0 || text[at - 1] != '.') return false;
  return at == 1 || (text[at - 2] != '.' && (text[at - 2] < '0' || text[at - 2] > '9'));
}

}  // namespace

std::string why_jq_reads_more(std::string_view filter) {
  for (std::size_t at = 0; at < filter.size();) {
    if (!is_in_name(filter[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < filter.size() && is_in_name(filter[end])) ++end;
    const std::string_view name = filter.substr(at, end - at);
    if (!is_field(filter, at)) {
      if (name == "env" || name == "ENV")
        return "jq env reads the environment: write .env for a field of that name";
      if (name == "import" || name == "include" || name == "modulemeta")
        return "jq reads a module: write the filter itself";
    }
    at = end;
  }
  return "";
}

}  // namespace sortie
