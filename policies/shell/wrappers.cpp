#include "policies/shell/wrappers.h"

#include <algorithm>

#include "core/text/text.h"
#include "policies/shell/lookup.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;

/// How a wrapper's own words before the wrapped command are read.
struct WrapperRow {
  std::string_view name;
  std::string_view flags;       ///< short options without a value
  std::string_view with_value;  ///< short options with one
  std::string_view long_flags;  ///< between blanks
  std::string_view long_with_value;
  int operands = 0;          ///< words of its own before the command
  bool assignments = false;  ///< VAR=x before the command
};

constexpr WrapperRow kWrappers[] = {
    {"env", "i0v", "uC", " ignore-environment null debug ", " unset chdir ", 0, true},
    {"timeout", "fpv", "ks", " foreground preserve-status verbose ", " kill-after signal ", 1},
    {"nice", "", "n", "", " adjustment ", 0},
    {"nohup", "", "", "", "", 0},
    {"time", "apqvV", "fo", " append portability quiet verbose ", " format output ", 0},
    {"xargs", "0optrx", "adEIiLlnPs",
     " null open-tty interactive no-run-if-empty exit verbose show-limits ",
     " arg-file delimiter max-lines max-args max-procs max-chars process-slot-var ", 0},
    {"command", "pvV", "", "", "", 0},
    {"builtin", "", "", "", "", 0},
    {"exec", "cl", "a", "", "", 0},
    {"stdbuf", "", "ioe", "", " input output error ", 0},
    {"setsid", "cfw", "", " ctty fork wait ", "", 0},
    {"ionice", "t", "cnpPu", " ignore ", " class classdata pid pgid uid ", 0},
    {"chroot", "", "", " skip-chdir ", " groups userspec ", 1},
    {"sudo", "AbEHiKkNnPSsv", "CDghpRrTtuU",
     " askpass background preserve-env set-home login non-interactive preserve-groups stdin shell ",
     " close-from chdir group host prompt chroot role command-timeout type user other-user ", 0,
     true},
    {"doas", "Lns", "aCu", "", "", 0},
    {"busybox", "", "", "", "", 0},
    {"toybox", "", "", "", "", 0},
    {"taskset", "ac", "", " all-tasks cpu-list ", "", 1},
    {"chrt", "abfimorRv", "TPD", " all-tasks batch deadline fifo idle other rr reset-on-fork ",
     " sched-runtime sched-period sched-deadline ", 1},
    {"flock", "eFnosuxv", "wE", " exclusive nonblock no-fork close shared unlock verbose ",
     " timeout wait conflict-exit-code ", 1},
    {"setpriv", "", "", " clear-groups keep-groups init-groups no-new-privs reset-env ",
     " reuid regid ruid euid rgid egid groups inh-caps ambient-caps bounding-set securebits ", 0},
    {"strace", "cCdfhFiqrtTvVwxyzZ", "aAbeEIoOPpsSuUX", "", "", 0},
    {"unshare", "CfhimnprTuUV", "GRSw", " fork ipc map-root-user mount net pid user uts ",
     " root wd setuid setgid ", 0},
    {"watch", "bcdegptxw", "n", " beep color errexit chgexit no-title precise exec ", " interval ",
     0},
    {"fakeroot", "uh", "lifsb", "", "", 0},
    {"unbuffer", "p", "", "", "", 0},
    {"caffeinate", "dimsu", "tw", "", "", 0},
    {"eval", "", "", "", "", 0},
};

constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"};

const WrapperRow* find_row(std::string_view name) {
  const auto* it = std::find_if(std::begin(kWrappers), std::end(kWrappers),
                                [&](const WrapperRow& row) { return row.name == name; });
  return it == std::end(kWrappers) ? nullptr : it;
}

bool has_name(std::string_view names, std::string_view name) {
  return names.find(' ' + std::string(name) + ' ') != std::string_view::npos;
}

std::vector<std::string> copy(Words words) { return {words.begin(), words.end()}; }

std::string join(Words words) {
  std::string text;
  for (const std::string& word : words) (text += word) += ' ';
  return text;
}

enum class OptionKind { flag, with_next, unknown };

OptionKind kind_of_option(const WrapperRow& row, std::string_view word) {
  if (word.substr(0, 2) == "--") {
    const std::string_view name = word.substr(2, word.find('=') - 2);
    if (word.find('=') != std::string_view::npos) return OptionKind::flag;
    if (has_name(row.long_flags, name)) return OptionKind::flag;
    return has_name(row.long_with_value, name) ? OptionKind::with_next : OptionKind::unknown;
  }
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (row.with_value.find(word[i]) != std::string_view::npos) {
      return i + 1 == word.size() ? OptionKind::with_next : OptionKind::flag;
    }
    const bool digit = word[i] >= '0' && word[i] <= '9';  // nice -5
    if (!digit && row.flags.find(word[i]) == std::string_view::npos) return OptionKind::unknown;
  }
  return OptionKind::flag;
}

/// The value of env's -S, --split-string, if it is in the same word: env splits it into words, so
/// it is read as a script.
std::optional<std::string> split_string(const WrapperRow& row, const std::string& word) {
  if (row.name != "env" || word.size() < 2 || word[0] != '-') return std::nullopt;
  if (word[1] != '-') {
    const auto letter = word.find('S');
    return letter == std::string::npos ? std::nullopt : std::optional(word.substr(letter + 1));
  }
  const auto equals = std::min(word.find('='), word.size());
  const bool is_split =
      equals > 2 && std::string_view("--split-string").find(word.substr(0, equals)) == 0;
  return is_split ? std::optional(word.substr(std::min(equals + 1, word.size()))) : std::nullopt;
}

/// xargs appends the words that it reads, or puts them in place of R with `-I R`.
Wrapped appended_by_xargs(Words options, Words command) {
  Wrapped wrapped{.argv = copy(command), .open = true};
  std::string marker;
  for (std::size_t i = 1; i < options.size(); ++i) {
    if (options[i] == "-I" && i + 1 < options.size()) marker = options[i + 1];
    if (options[i].size() > 2 && options[i].starts_with("-I")) marker = options[i].substr(2);
    if (options[i].starts_with("--replace=")) marker = options[i].substr(10);
  }
  if (marker.empty()) return wrapped;
  for (std::string& word : wrapped.argv) {
    for (auto at = word.find(marker); at != std::string::npos; at = word.find(marker, at + 2)) {
      word.replace(at, marker.size(), "{}");
    }
  }
  return wrapped;
}

std::vector<Wrapped> unwrap_row(const WrapperRow& row, Words words) {
  std::vector<Wrapped> found;
  int operands = row.operands;
  std::size_t at = 1;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (const auto text = split_string(row, word)) {
      found.push_back({.script = *text + ' ' + join(words.subspan(at + 1)), .loose = true});
      return found;
    }
    if (word == "--") continue;
    if (word.size() > 1 && word[0] == '-') {
      const OptionKind kind = kind_of_option(row, word);
      if (kind == OptionKind::with_next) ++at;
      // The next word could be its value or the command. The first one's script covers the rest.
      if (kind == OptionKind::unknown && found.empty()) {
        found.push_back({.script = join(words.subspan(at + 1)), .loose = true});
      }
      continue;
    }
    if (word == "-" && row.name == "env") continue;
    if (row.assignments && word.find('=') != std::string::npos) continue;
    if (operands-- > 0) continue;
    break;
  }
  if (at >= words.size()) return found;
  found.insert(found.begin(), {.argv = copy(words.subspan(at))});
  if (row.name == "xargs") found.front() = appended_by_xargs(words.first(at), words.subspan(at));
  if (row.name == "eval" || row.name == "watch" || row.name == "flock") {
    found.push_back({.script = join(words.subspan(at))});
  }
  return found;
}

std::vector<Wrapped> unwrap_find(Words words) {
  std::vector<Wrapped> found;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word != "-exec" && word != "-execdir" && word != "-ok" && word != "-okdir") continue;
    std::size_t end = at + 1;
    while (end < words.size() && words[end] != ";") ++end;
    if (at + 1 < end) {
      found.push_back({.argv = copy(words.subspan(at + 1, end - at - 1)), .open = true});
    }
  }
  return found;
}

/// The commands that `git bisect run`, `git submodule foreach` and `git rebase -x` run.
std::vector<Wrapped> unwrap_git(Words words) {
  std::vector<Wrapped> found;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    const Words rest = words.subspan(at + 1);
    if (word == "foreach" || (word == "run" && words[at - 1] == "bisect") ||
        (word.size() > 1 && word[0] == '-' && word[1] != '-' && word.back() == 'x') ||
        word == "--exec") {
      found.push_back({.script = join(rest), .loose = true});
    } else if (word.starts_with("--exec=")) {
      found.push_back({.script = word.substr(7), .loose = true});
    }
  }
  return found;
}

bool takes_script_anywhere(std::string_view name) {
  constexpr std::string_view kNames =
      " su runuser script parallel nsenter bwrap prlimit numactl entr ssh systemd-run "
      "start-stop-daemon run-parts pkexec sg newgrp expect rlwrap cpulimit firejail "
      "dbus-run-session "
      "xvfb-run ltrace gdb perf valgrind proot setarch linux32 linux64 gosu su-exec runcon "
      "faketime "
      "eatmydata screen tmux at batch fd fdfind hyperfine ";
  return has_name(kNames, name);
}

}  // namespace

bool is_shell(std::string_view word) {
  std::string_view name = base_name(word);
  if (!name.empty() && name.front() == '-') name.remove_prefix(1);
  return name == "rbash" || is_one_of(name, kShells);
}

bool is_wrapper(std::string_view name) {
  return find_row(name) != nullptr || takes_script_anywhere(name);
}

ShellCall read_shell_call(Words argv) {
  ShellCall call;
  bool is_string = false;
  std::size_t at = 1;
  for (; at < argv.size(); ++at) {
    const std::string& word = argv[at];
    if (word == "--" || word == "-") {
      ++at;
      break;
    }
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) break;
    if (word.substr(0, 2) == "--") {
      if (word == "--rcfile" || word == "--init-file") ++at;
      if (word == "--command") is_string = true;  // fish
      if (word.substr(0, 10) == "--command=") {
        call.script = word.substr(10);
        return call;
      }
      continue;
    }
    // Shells take +c for -c.
    if (word.find('c') != std::string::npos) is_string = true;
    // -o and -O take the next word as their value; in a cluster too ("-euo pipefail").
    if (word.back() == 'o' || word.back() == 'O') ++at;
  }
  if (at >= argv.size()) return call;
  if (is_string) {
    call.script = argv[at];
  } else {
    call.file = argv[at];
  }
  return call;
}

std::vector<Wrapped> unwrap(Words argv) {
  if (argv.empty()) return {};
  const std::string_view name = base_name(argv[0]);
  if (is_shell(argv[0])) {
    const ShellCall call = read_shell_call(argv);
    std::vector<Wrapped> found;
    if (call.script) {
      found.push_back({.script = *call.script});
      // Words after the script are its $0, $1 …, or the script itself if an option was misread.
      for (const std::string& word : argv.subspan(1)) {
        if (word != *call.script) found.push_back({.script = word, .loose = true});
      }
    }
    return found;
  }
  if (name == "find") return unwrap_find(argv);
  if (name == "git") return unwrap_git(argv);
  if (takes_script_anywhere(name)) {
    std::string script;
    for (const std::string& word : argv.subspan(1)) {
      if (!word.starts_with(":::")) (script += word) += ' ';  // parallel git ::: push
    }
    return {{.script = std::move(script), .loose = true}};
  }
  if (const WrapperRow* row = find_row(name)) return unwrap_row(*row, argv);
  return {};
}

}  // namespace sortie
