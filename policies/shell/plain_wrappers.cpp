#include "policies/shell/plain_wrappers.h"

#include <algorithm>
#include <string_view>

#include "core/text/text.h"
#include "policies/shell/harmless_variables.h"
#include "policies/shell/lookup.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;

/// An option of a wrapper, and what its value may look like.
struct PlainOption {
  enum class Value { none, number, duration, signal, buffer };
  std::string_view wrapper;
  std::string_view option;  ///< "-k", "--kill-after"
  Value value = Value::none;
};
using Value = PlainOption::Value;

constexpr PlainOption kOptions[] = {
    {"timeout", "-k", Value::duration},
    {"timeout", "--kill-after", Value::duration},
    {"timeout", "-s", Value::signal},
    {"timeout", "--signal", Value::signal},
    {"timeout", "--preserve-status"},
    {"timeout", "--foreground"},
    {"timeout", "-v"},
    {"timeout", "--verbose"},
    {"nice", "-n", Value::number},
    {"nice", "--adjustment", Value::number},
    {"ionice", "-c", Value::number},
    {"ionice", "-n", Value::number},
    {"ionice", "-t"},
    {"stdbuf", "-i", Value::buffer},
    {"stdbuf", "-o", Value::buffer},
    {"stdbuf", "-e", Value::buffer},
    {"stdbuf", "--input", Value::buffer},
    {"stdbuf", "--output", Value::buffer},
    {"stdbuf", "--error", Value::buffer},
    {"time", "-p"},
    {"time", "-v"},
};

bool has_only_digits(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "60", "1.5m"
bool is_duration(std::string_view text) {
  if (!text.empty() && std::string_view("smhd").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  const auto dot = std::min(text.find('.'), text.size());
  return has_only_digits(text.substr(0, dot)) &&
         (dot == text.size() || has_only_digits(text.substr(dot + 1)));
}

bool fits(Value value, std::string_view text) {
  switch (value) {
    case Value::none:
      return text.empty();
    case Value::number:
      return has_only_digits(text.starts_with('-') ? text.substr(1) : text);
    case Value::duration:
      return is_duration(text);
    case Value::signal:
      return !text.empty() && text.size() < 12 &&
             std::all_of(text.begin(), text.end(), is_ascii_alphanumeric);
    case Value::buffer:
      return text == "L" || has_only_digits(text);
  }
  return false;
}

/// The number of words of the option at the front; 0: none that is known.
std::size_t option_at(std::string_view wrapper, Words words) {
  const std::string_view word = words[0];
  for (const PlainOption& row : kOptions) {
    if (row.wrapper != wrapper || !word.starts_with(row.option)) continue;
    std::string_view rest = word.substr(row.option.size());
    if (rest.empty() && row.value == Value::none) return 1;
    if (rest.empty()) return words.size() > 1 && fits(row.value, words[1]) ? 2 : 0;
    if (row.option.starts_with("--")) {
      if (rest.front() != '=') continue;
      rest.remove_prefix(1);
    }
    if (row.value != Value::none && fits(row.value, rest)) return 1;
  }
  // nice -5
  return wrapper == "nice" && word.starts_with('-') && has_only_digits(word.substr(1)) ? 1 : 0;
}

/// `env NAME=VALUE … COMMAND`, without options.
std::optional<std::size_t> env_prefix(Words argv) {
  std::size_t at = 1;
  while (at < argv.size() && argv[at].find('=') != std::string::npos) ++at;
  if (at == argv.size() || argv[at].starts_with('-')) return std::nullopt;
  for (const std::string& word : argv.subspan(1, at - 1)) {
    const auto equals = word.find('=');
    const auto why =
        why_not_harmless(word.substr(0, equals), word.substr(equals + 1), base_name(argv[at]));
    if (!why.empty()) return std::nullopt;
  }
  return at;
}

}  // namespace

std::optional<std::size_t> plain_wrapper(Words argv, std::size_t fixed) {
  if (argv.empty() || fixed == 0) return std::nullopt;
  const std::string_view name = argv[0];
  std::optional<std::size_t> length;
  if (name == "env") {
    length = env_prefix(argv);
  } else if (name == "command") {
    if (argv.size() > 1 && !argv[1].starts_with('-')) length = 1;
  } else if (is_one_of(name, {"timeout", "nice", "ionice", "stdbuf", "time"})) {
    std::size_t at = 1;
    while (at < argv.size() && argv[at].starts_with('-')) {
      const std::size_t words = option_at(name, argv.subspan(at));
      if (words == 0) return std::nullopt;
      at += words;
    }
    if (name == "timeout" && (at >= argv.size() || !is_duration(argv[at++]))) return std::nullopt;
    length = at;
  }
  // The command's own name has to be known too.
  if (!length || *length >= argv.size() || *length >= fixed) return std::nullopt;
  return length;
}

}  // namespace sortie
