#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// Why a jq filter may read more than its operands: the environment or modules. jq has no way to
/// write a file or to run a program.
/// @return "" if it can't
std::string why_jq_reads_more(std::string_view filter);

}  // namespace sortie
