#include "policies/shell/sed_script.h"

#include <algorithm>

#include "policies/shell/regex_literal.h"

namespace sortie {
namespace {

constexpr std::string_view kSedDigits = "0123456789";
constexpr std::string_view kDelimiters = "/|,#@:!%~_+=^";
constexpr const char* kUnreadSed =
    "this sed script can't be checked: write plain addresses and s, p, d, q, =";

bool is_sed_byte(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

/// Reads the commands of a script; what it does not know is refused.
class SedScript {
 public:
  explicit SedScript(std::string_view text) : text_(text) {}

  std::string why_refused() {
    while (reason_.empty()) {
      skip(" \t\n;");
      if (at_ == text_.size()) break;
      if (take('}')) {
        if (depth_-- == 0) return kUnreadSed;
        end_command();
      } else if (!read_addresses()) {
        return kUnreadSed;
      } else {
        read_command();
      }
    }
    return reason_.empty() && depth_ > 0 ? kUnreadSed : reason_;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip(std::string_view set) {
    at_ = std::min(text_.find_first_not_of(set, at_), text_.size());
  }
  bool take_number() {
    const std::size_t start = at_;
    skip(kSedDigits);
    return at_ > start;
  }

  bool read_addresses() {
    if (!read_address(false)) return false;
    skip(" \t");
    if (has_address_ && take(',')) {
      skip(" \t");
      has_address_ = false;
      if (!read_address(true) || !has_address_) return false;
      skip(" \t");
    }
    skip("!");
    skip(" \t");
    return true;
  }

  /// NUMBER, FIRST~STEP, $, /RE/I; as a second one also +NUMBER and ~NUMBER. There may be none.
  bool read_address(bool second) {
    has_address_ = true;
    if (take('$')) return true;
    if (second && (take('+') || take('~'))) return take_number();
    if (take_number()) return !take('~') || take_number();
    if (take('/')) {
      const auto end = end_of_regex(text_, at_, '/');
      if (end == std::string_view::npos) return false;
      at_ = end + 1;
      skip("IM");
      return true;
    }
    has_address_ = false;
    return true;
  }

  void read_command() {
    const char command = peek();
    ++at_;
    if (command == '{') {
      ++depth_;
    } else if (is_sed_byte("=dDhHgGnNpPxFz", command)) {
      end_command();
    } else if (is_sed_byte("lqQ", command)) {
      skip(" \t");
      skip(kSedDigits);
      end_command();
    } else if (is_sed_byte(":btT", command)) {
      skip(" \t");
      skip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
      end_command();
    } else if (command == 's' || command == 'y') {
      read_substitution(command == 's');
    } else if (is_sed_byte("wW", command)) {
      reason_ = "sed w writes a file";
    } else if (is_sed_byte("rR", command)) {
      reason_ = "sed r reads a file of the script's choice: use cat";
    } else if (command == 'e') {
      reason_ = "sed e runs a program";
    } else {
      reason_ = kUnreadSed;
    }
  }

  void read_substitution(bool is_s) {
    const char delimiter = peek();
    if (delimiter == '\0' || !is_sed_byte(kDelimiters, delimiter)) {
      reason_ = kUnreadSed;
      return;
    }
    // Some seds look for brackets in a replacement, and in the texts of `y`, too.
    const auto middle = end_of_regex(text_, at_ + 1, delimiter);
    const auto end =
        middle == std::string_view::npos ? middle : end_of_regex(text_, middle + 1, delimiter);
    if (end == std::string_view::npos) {
      reason_ = kUnreadSed;
      return;
    }
    at_ = end + 1;
    if (is_s) skip("gpiImM0123456789");
    if (is_s && peek() == 'e') {
      reason_ = "sed s///e runs a program";
    } else if (is_s && peek() == 'w') {
      reason_ = "sed s///w writes a file";
    } else {
      end_command();
    }
  }

  void end_command() {
    skip(" \t");
    if (at_ < text_.size() && !is_sed_byte("\n;}", text_[at_])) reason_ = kUnreadSed;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool has_address_ = false;
  std::string reason_;
};

}  // namespace

std::string why_sed_has_effects(std::string_view script) { return SedScript(script).why_refused(); }

}  // namespace sortie
