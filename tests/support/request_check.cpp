#include "tests/support/request_check.h"

#include <unordered_set>

#include "tests/support/messages_request.h"
#include "tests/support/openai_schema.h"

namespace sortie::test {

namespace {

using Check = std::string (*)(const Json&);

/// "/v1/responses" of "POST /v1/responses?api-version=1 HTTP/1.1".
std::string path_of(const std::string& line) {
  const std::size_t begin = line.find(' ') + 1;
  return line.substr(begin, line.find_first_of(" ?", begin) - begin);
}

Check check_of(const std::string& path) {
  if (path.ends_with("/responses")) return check_responses_request;
  if (path.ends_with("/chat/completions")) return check_chat_request;
  if (path.ends_with("/messages")) return check_messages_request;
  return nullptr;
}

}  // namespace

std::string request_problem(const std::string& line, const std::string& body) {
  const std::string path = path_of(line);
  const Check check = check_of(path);
  if (!check) return "";
  // Retries repeat their bodies, and the runs of one test program begin alike.
  static std::unordered_set<std::string> valid;
  if (valid.contains(path + body)) return "";
  try {
    if (auto problem = check(parse_json(body)); !problem.empty()) return problem;
  } catch (const JsonError& error) {
    return std::string("no JSON: ") + error.what();
  }
  valid.insert(path + body);
  return "";
}

}  // namespace sortie::test
