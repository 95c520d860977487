#include "policies/environment/known_secrets.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/secrets/address_passwords.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortestLine = 16;
constexpr std::size_t kLongestNumber = 7;
constexpr std::size_t kLongestWord = 7;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Usual values of settings that are longer than kLongestWord.
bool is_usual_word(std::string_view value) {
  static const std::vector<std::string_view> words = {
      "administrator", "anonymous", "automatic", "clipboard", "codespaces", "credential",
      "credentials", "defaults", "deployment", "developer", "development", "disabled",
      "docker-desktop", "environment", "example.com", "external", "filesystem", "gnome-keyring",
      "ignore-case", "interactive", "keychain", "kubernetes", "libsecret", "localhost", "127.0.0.1",
      "0.0.0.0", "optional", "osxkeychain", "password", "passwords", "permissive", "postgres",
      "postgresql", "production", "qwertyuiop", "read-all", "read-only", "read-write", "readonly",
      "required", "root:root", "secret-tool", "undefined", "us-intl", "username", "workspace",
      "write-all",
      // Placeholders for servers that require a key but don't check it.
      "changeme", "dummy-key", "fake-key", "lm-studio", "no-key", "no-key-required",
      "no-key-needed", "not-needed", "not-required", "not-used", "placeholder", "sk-1234",
      "sk-dummy", "sk-fake", "sk-no-key-required", "sk-none", "sk-placeholder", "sk-test",
      "test-key", "token-abc123"};
  return std::find(words.begin(), words.end(), value) != words.end();
}

/// Whether a variable that commands see under every policy, or one of the CI system, has this
/// value.
bool is_seen_anyway(std::string_view value, const Environment& own) {
  for (const char* name : {"USER", "LOGNAME", "USERNAME", "HOME", "SHELL", "PWD", "OLDPWD", "LANG",
                           "TERM", "TZ", "HOSTNAME", "PATH", "TMPDIR", "GITHUB_REPOSITORY",
                           "GITHUB_ACTOR", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"}) {
    const auto found = own.find(name);
    if (found != own.end() && found->second == value) return true;
  }
  return false;
}

bool names_existing_path(std::string_view value) {
  if (!value.starts_with('/') || value.find('\n') != std::string_view::npos) return false;
  std::error_code error;
  return fs::exists(fs::symlink_status(value, error));
}

/// A line of a key rather than text: one word, and not the armour around it.
bool is_line_of_key(std::string_view line) {
  return line.size() >= kShortestLine && line.find_first_of(" \t-") == std::string_view::npos;
}

bool names_secret(const std::string& name) {
  const std::string letters = ascii_lower(name);
  for (const char* part : {"key", "token", "secret", "password", "passphrase", "credential"})
    if (letters.find(part) != std::string::npos) return true;
  return false;
}

/// "--token", "--api-key", "--openai-api-key", "--db-password"; but not "--sort-key".
bool is_secret_flag(std::string_view flag) {
  std::string name = ascii_lower(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
  if (name == "key" || name == "auth" || name == "pat") return true;
  for (const char* end : {"token", "secret", "password", "passwd", "passphrase", "credential",
                          "credentials", "apikey", "accesskey", "privatekey", "secretkey"})
    if (name.ends_with(end)) return true;
  return false;
}

/// "Authorization: Bearer X", "X-Api-Key: X"; no address, nor anything else with a colon.
bool is_credential_header(std::string_view word) {
  const std::size_t colon = word.find(": ");
  if (colon == std::string_view::npos) return false;
  const std::string name = ascii_lower(word.substr(0, colon));
  return name.find_first_of(" \t/{") == std::string::npos &&
         (name.find("authoriz") != std::string::npos || names_secret(name));
}

/// Whether a variable's value is not worth hiding, and hiding it would garble the output: a number
/// of up to 7 digits, a word of up to 7 letters, one of a list of longer ones ("localhost",
/// "disabled", "sk-no-key-required"), an existing path, or the value of a variable that commands
/// see anyway (USER, HOME, SHELL …).
bool is_ordinary_value(std::string_view value, const Environment& own) {
  const bool number = std::all_of(value.begin(), value.end(), is_ascii_digit);
  if (number) return value.size() <= kLongestNumber;
  const bool word = std::all_of(value.begin(), value.end(), is_letter);
  if (word && value.size() <= kLongestWord) return true;
  return is_usual_word(ascii_lower(value)) || is_seen_anyway(value, own) ||
         names_existing_path(value);
}

/// Collects values under their variables' names.
class Collector {
 public:
  Collector(const Policy& policy, const Environment& own, KnownSecrets& known)
      : own_(own), known_(known) {
    for (const std::string& expression : policy.redact_patterns)
      patterns_.push_back(Pattern::line_expression(expression));
  }

  void secret(const std::string& name, std::string_view given) {
    const std::string_view value = trimmed(given);
    if (value.empty()) return;
    if (!is_looked_for(value, own_)) {
      known_.left_out.push_back(name);
      return;
    }
    add(name, value);
    if (value.find('\n') != std::string_view::npos)
      for (const auto line : split_lines(value))
        if (const auto word = trimmed(line); is_line_of_key(word)) add(name, word);
    if (value.front() == '{') members(name, value);
  }

  void passwords(const std::string& name, std::string_view value) {
    if (value.find("://") == std::string_view::npos) return;
    for (const std::string& password : address_passwords(value))
      if (!is_ordinary_value(password, own_)) add(name, password);
  }

  void matches(std::string_view value) {
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      for (std::size_t at = 0; at < value.size();) {
        const auto match = patterns_[i].find(value, at);
        if (!match) break;
        if (match->second > 0) add(pattern_name(i), value.substr(match->first, match->second));
        at = match->first + std::max<std::size_t>(match->second, 1);
      }
    }
  }

  static std::string pattern_name(std::size_t index) {
    return "pattern-" + std::to_string(index + 1);
  }

 private:
  void add(const std::string& name, std::string_view value) {
    known_.values.push_back({name, std::string(value)});
  }

  /// A service account's file in a variable: its private key is printed without the rest.
  void members(const std::string& name, std::string_view text) {
    try {
      members(name, parse_json(text));
    } catch (const JsonError&) {
      // Not JSON: only the whole value is a secret.
    }
  }
  void members(const std::string& name, const Json& value) {
    for (const auto& [key, member] : value.members()) {
      if (member.is_string() && names_secret(key)) {
        if (is_looked_for(member.text(), own_)) secret(name, member.text());
      } else {
        members(name, member);
      }
    }
    for (const Json& item : value.items()) members(name, item);
  }

  const Environment& own_;
  KnownSecrets& known_;
  std::vector<Pattern> patterns_;
};

}  // namespace

bool is_looked_for(std::string_view given, const Environment& own) {
  const std::string_view value = trimmed(given);
  return value.size() >= Redactor::kShortestSecret && !is_ordinary_value(value, own);
}

KnownSecrets known_secrets(const Policy& policy, const Environment& own) {
  KnownSecrets known;
  Collector collector(policy, own, known);
  known.of_variables = environment_secrets(policy, own);
  for (const Secret& secret : known.of_variables) collector.secret(secret.name, secret.value);
  for (const Secret& secret : environment_secrets(policy, policy.environment_set))
    collector.secret(secret.name, secret.value);
  for (const auto* variables : {&own, &policy.environment_set}) {
    for (const auto& [name, value] : *variables) {
      collector.passwords(name, value);
      collector.matches(value);
    }
  }
  return known;
}

std::vector<Secret> program_secrets(const Policy& policy, const Environment& own,
                                    const std::vector<std::string>& argv,
                                    const Environment& variables) {
  KnownSecrets known;
  Collector collector(policy, own, known);
  for (const Secret& secret : environment_secrets(policy, variables))
    collector.secret(secret.name, secret.value);
  for (const auto& [name, value] : variables) collector.passwords(name, value);
  std::string flag;  // whose value is the next word
  for (const std::string& word : argv) {
    collector.passwords("argument", word);
    const std::size_t equals = std::min(word.find('='), word.size());
    if (!flag.empty() && !word.starts_with('-')) collector.secret(flag, word);
    flag.clear();
    if (word.starts_with('-') && is_secret_flag(word.substr(0, equals))) {
      const std::string name = word.substr(word.find_first_not_of('-'), equals);
      if (equals < word.size())
        collector.secret(name.substr(0, name.find('=')), word.substr(equals + 1));
      else
        flag = name;
    } else if (is_credential_header(word)) {
      for (const std::string& value : header_credentials(word)) collector.secret("header", value);
    }
  }
  return known.values;
}

void learn(Redactor& redactor, const Policy& policy, const std::vector<Secret>& secrets) {
  redactor.add_all(secrets);
  for (std::size_t i = 0; i < policy.redact_patterns.size(); ++i) {
    try {
      redactor.add_pattern(Collector::pattern_name(i), policy.redact_patterns[i]);
    } catch (const PatternError& error) {
      throw InputError("redact.patterns: " + policy.redact_patterns[i] + ": " + error.what());
    }
  }
}

}  // namespace sortie
