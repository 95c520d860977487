#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie::test {

/// Checks what `sortie run --json` printed, as a part of the test that runs it: each line against
/// the schema that the program prints, ids, pairs, order, the end.
/// @param exit_code  the program's
/// @return           the lines
std::vector<Json> check_events(const std::string& stream, int exit_code);

/// The final message, as a reader of the events has it; "" for none.
std::string final_message(const std::vector<Json>& events);

/// The items of all lines of a type, such as "item.completed".
std::vector<Json> items_of(const std::vector<Json>& events, const std::string& type);

}  // namespace sortie::test
