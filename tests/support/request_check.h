#pragma once

#include <string>

namespace sortie::test {

/// What is wrong with the body of a request to a provider, by the wire format that its path names
/// (…/responses, …/chat/completions, …/messages); "" when nothing is, or when the path is another.
///
/// @param line  "POST /v1/responses HTTP/1.1"
std::string request_problem(const std::string& line, const std::string& body);

}  // namespace sortie::test
