#include "tests/policies/sandbox/escape/attempts.h"

#include "core/base/json.h"

namespace sortie::escape {

std::string to_text(const Ground& ground) {
  return write_json(Json::object({{"workspace", ground.workspace},
                                  {"outside", ground.outside},
                                  {"program", ground.program},
                                  {"abstract", ground.abstract},
                                  {"tcp_port", ground.tcp_port},
                                  {"udp_port", ground.udp_port},
                                  {"victim", ground.victim},
                                  {"descriptor", ground.descriptor}}));
}

Ground ground_from(const std::string& text) {
  const Json json = parse_json(text);
  const auto number = [&](const char* name) { return static_cast<int>(json.integer_at(name)); };
  return {.workspace = json.string_at("workspace"),
          .outside = json.string_at("outside"),
          .program = json.string_at("program"),
          .abstract = json.string_at("abstract"),
          .tcp_port = number("tcp_port"),
          .udp_port = number("udp_port"),
          .victim = number("victim"),
          .descriptor = number("descriptor")};
}

const std::vector<Attempt>& attempts() {
  static const std::vector<Attempt> all = [] {
    std::vector<Attempt> list;
    for (const auto* part :
         {&file_attempts(), &network_attempts(), &process_attempts(), &kernel_attempts()})
      list.insert(list.end(), part->begin(), part->end());
    return list;
  }();
  return all;
}

int run_attempt(const std::string& name, const Ground& ground) {
  for (const Attempt& attempt : attempts()) {
    if (attempt.name == name) return attempt.run(ground);
  }
  return 127;
}

}  // namespace sortie::escape
