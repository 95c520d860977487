#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace sortie::test {

/// A response as a provider of some wire format streams it.
struct WireStream {
  std::vector<std::string> events{};  ///< each with its empty line
  std::size_t needed = 0;             ///< events after which the response counts
  std::string text() const;
};

/// Makes the stream of a response that is told without a wire:
///
///     {model: "served", text: "Hello", piece: 4, reasoning: "Hm",
///      calls: [{id: "c1", tool: "shell", arguments: {…} or "text"}],
///      usage: {input: 10, output: 5}, ends: completed}
///
/// `usage: none` leaves it out. `ends` is completed, incomplete (at the output limit),
/// content_filter, refusal, nothing (the terminal event never comes), or an object {code, type,
/// message}: an error in the stream. `inserted` is raw text between the first events and the rest:
/// comments, unknown events, garbage. A call without `id` or `arguments` lacks it on the wire too;
/// one with `input` in place of them is a call of free text.
///
/// @param wire  "responses", "chat", "messages"
WireStream wire_stream(std::string_view wire, const Json& told);

/// The body of an error reply: {"error":{…}}, with what that wire puts around it.
std::string wire_error(std::string_view wire, const Json& error);

}  // namespace sortie::test
