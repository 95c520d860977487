#include "tests/policies/sandbox/escape/attempts.h"

#include "core/json/json.h"

namespace sortie::escape {

std::string to_text(const Ground& ground) {
  return write_json(Json::object({{"workspace", ground.workspace},
                                  {"outside", ground.outside},
                                  {"program", ground.program},
                                  {"abstract", ground.abstract},
                                  {"terminal", ground.terminal},
                                  {"shared", ground.shared},
                                  {"queue", ground.queue},
                                  {"tcp_port", ground.tcp_port},
                                  {"tcp6_port", ground.tcp6_port},
                                  {"udp_port", ground.udp_port},
                                  {"segment", ground.segment},
                                  {"messages", ground.messages},
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
          .terminal = json.string_at("terminal"),
          .shared = json.string_at("shared"),
          .queue = json.string_at("queue"),
          .tcp_port = number("tcp_port"),
          .tcp6_port = number("tcp6_port"),
          .udp_port = number("udp_port"),
          .segment = number("segment"),
          .messages = number("messages"),
          .victim = number("victim"),
          .descriptor = number("descriptor")};
}

const std::vector<Attempt>& attempts() {
  static const std::vector<Attempt> all = [] {
    std::vector<Attempt> list;
    for (const auto* part :
         {&file_attempts(), &path_attempts(), &network_attempts(), &socket_attempts(),
          &process_attempts(), &neighbour_attempts(), &kernel_attempts(), &call_attempts()})
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

void run_attempts(const std::vector<std::string>& names, const Ground& ground, int output) {
  const auto say = [&](const std::string& line) {
    return ::write(output, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  };
  int tried = 0;
  for (const std::string& name : names) {
    const int code = in_own_process([&] { return run_attempt(name, ground); });
    if (code == 127 || (code == 0 && !say(name + '\n'))) return;
    ++tried;
  }
  say("tried " + std::to_string(tried) + '\n');
}

}  // namespace sortie::escape
