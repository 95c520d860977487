#include "app/commands/completion_script.h"

#include <algorithm>

namespace sortie {
namespace {

/// A word that bash and zsh take as it is.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

const char* name_of_files(FileKind files) {
  switch (files) {
    case FileKind::any:
      return "any";
    case FileKind::folders:
      return "folders";
    case FileKind::none:
      break;
  }
  return "none";
}

const CompletedCommand& command_below(const std::vector<CompletedCommand>& commands,
                                      const CompletedCommand& above, const std::string& word) {
  const std::string words = (above.words.empty() ? "" : above.words + " ") + word;
  return *std::find_if(commands.begin(), commands.end(),
                       [&words](const CompletedCommand& one) { return one.words == words; });
}

/// How a table of bash and zsh names a word that has a description; zsh shows "WORD:DESCRIPTION".
using Described = std::string (*)(const std::string& word, const std::string& description);

std::string word_alone(const std::string& word, const std::string&) { return quoted(word); }

std::string word_with_description(const std::string& word, const std::string& description) {
  return quoted(word + ":" + description);
}

/// A branch of the table; patterns are exact, since they are quoted.
void add_branch(const std::string& pattern, const std::string& words, FileKind files,
                std::string& table) {
  table += "    " + pattern + ")\n      _sortie_words=(" + words +
           ") _sortie_files=" + name_of_files(files) + " ;;\n";
}

void add_places(const CompletedCommand& command, std::string& table) {
  const auto add = [&table](const std::string& pattern, const CompletedPlace& place) {
    std::string words;
    for (const std::string& word : place.words) words += (words.empty() ? "" : " ") + quoted(word);
    add_branch(pattern, words, place.files, table);
  };
  for (const CompletedFlag& flag : command.flags) {
    if (!flag.takes_value) continue;
    std::string pattern;
    for (const std::string& name : flag.names)
      pattern += (pattern.empty() ? "" : "|") + quoted(command.words + ":" + name);
    add(pattern, flag.value);
  }
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const bool repeats = command.last_repeats && i + 1 == command.arguments.size();
    add(quoted(command.words + ":argument" + (repeats ? "" : std::to_string(i + 1))) +
            (repeats ? "*" : ""),
        command.arguments[i]);
  }
}

/// The shell function _sortie_table COMMAND PLACE, for bash and zsh.
std::string table_function(const std::vector<CompletedCommand>& commands, Described described) {
  std::string table =
      "# What may stand at a place of a command: sets _sortie_words and _sortie_files. Fails if\n"
      "# there is no such place, as for the value of a flag that takes none.\n"
      "_sortie_table() {\n  _sortie_words=() _sortie_files=none\n  case \"$1:$2\" in\n";
  for (const CompletedCommand& command : commands) {
    std::string words;
    for (const std::string& word : command.commands)
      words += (words.empty() ? "" : " ") +
               described(word, command_below(commands, command, word).description);
    if (!words.empty())
      add_branch(quoted(command.words + ":commands"), words, FileKind::none, table);
    words.clear();
    for (const CompletedFlag& flag : command.flags)
      for (const std::string& name : flag.names)
        words += (words.empty() ? "" : " ") + described(name, flag.description);
    add_branch(quoted(command.words + ":flags"), words, FileKind::none, table);
    add_places(command, table);
  }
  return table + "    *) return 1 ;;\n  esac\n}\n";
}

/// The shell function _sortie_full COMMAND WORD, for bash and zsh. Short names are not offered, since
/// "e" would stand in the way of "exec".
std::string full_name_function(const std::vector<CompletedCommand>& commands) {
  std::string text =
      "# The word in full, if it is the short name of a command: sets _sortie_word.\n"
      "_sortie_full() {\n  _sortie_word=$2\n  case \"$1:$2\" in\n";
  for (const CompletedCommand& command : commands)
    for (const std::string& name : command.short_names)
      text += "    " + quoted(":" + name) + ") _sortie_word=" + quoted(command.words) + " ;;\n";
  return text + "  esac\n}\n";
}

// readline cuts words at '=', so that --flag=value is three of them.
constexpr const char* kBash = R"(
_sortie() {
  local cur=${COMP_WORDS[COMP_CWORD]} prefix="" command="" flag="" word i argument=1
  local _sortie_words _sortie_files _sortie_word
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      [[ $word == "=" ]] || flag=""
      continue
    fi
    case $word in
      --)
        if ((COMP_CWORD == i + 1)); then
          mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        fi
        compopt -o bashdefault -o default
        return
        ;;
      --*=*) ;;
      -?*) if _sortie_table "$command" "$word"; then flag=$word; fi ;;
      *)
        _sortie_full "$command" "$word"
        word=$_sortie_word
        if _sortie_table "$command" commands && [[ " ${_sortie_words[*]} " == *" $word "* ]]; then
          command=${command:+$command }$word
        else
          ((argument++))
        fi
        ;;
    esac
  done
  [[ -n $flag && $cur == "=" ]] && cur=""
  if [[ -z $flag && $cur == --*=* ]]; then
    flag=${cur%%=*} prefix=$flag= cur=${cur#*=}
  fi
  if [[ -n $flag ]]; then
    _sortie_table "$command" "$flag" || return 0
  elif [[ $cur == -* ]]; then
    _sortie_table "$command" flags
  else
    _sortie_table "$command" commands || _sortie_table "$command" "argument$argument" || return 0
  fi
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "${_sortie_words[*]}" -- "$cur")
  case $_sortie_files in
    any)
      if ((${#COMPREPLY[@]})); then
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P "$prefix" -f -- "$cur")
        compopt -o filenames
      fi
      compopt -o default
      ;;
    folders) compopt -o dirnames ;;
  esac
}
complete -F _sortie sortie
)";

constexpr const char* kZsh = R"(
_sortie() {
  local command="" flag="" word
  local -a _sortie_words
  local _sortie_files _sortie_word
  integer i argument=1
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    if [[ -n $flag ]]; then
      flag=""
      continue
    fi
    case $word in
      --)
        words=("${(@)words[i+1,-1]}")
        ((CURRENT -= i))
        _normal
        return
        ;;
      --*=*) ;;
      -?*) if _sortie_table "$command" "$word"; then flag=$word; fi ;;
      *)
        _sortie_full "$command" "$word"
        word=$_sortie_word
        if _sortie_table "$command" commands && [[ -n ${(M)_sortie_words:#$word:*} ]]; then
          command=${command:+$command }$word
        else
          ((argument++))
        fi
        ;;
    esac
  done
  if [[ -z $flag && ${words[CURRENT]} == --*=* ]]; then
    flag=${words[CURRENT]%%=*}
    compset -P '*='
  elif [[ -z $flag && ${words[CURRENT]} == -* ]]; then
    _sortie_table "$command" flags
    _describe flag _sortie_words
    return
  elif [[ -z $flag ]] && _sortie_table "$command" commands; then
    _describe command _sortie_words
    return
  fi
  _sortie_table "$command" "${flag:-argument$argument}" || return 1
  (($#_sortie_words)) && compadd -a _sortie_words
  case $_sortie_files in
    any) _files ;;
    folders) _files -/ ;;
  esac
}
if [[ ${funcstack[1]} == _sortie ]]; then
  _sortie "$@"
else
  compdef _sortie sortie
fi
)";

constexpr const char* kFish = R"(
# Whether the words before the cursor name this command, and no command below it.
function __sortie_at
    set -l path
    for word in (commandline -opc)[2..-1]
        if test "$word" = --
            return 1
        end
        set -l longer (__sortie_full (string trim "$path $word"))
        if contains -- $longer $__sortie_commands
            set path $longer
        end
    end
    test "$path" = "$argv[1]"
end
complete -c sortie -f
)";

/// In single quotes fish reads \' and \\, and nothing else.
std::string fish_quoted(const std::string& text) {
  std::string quoted_text = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted_text += '\\';
    quoted_text += c;
  }
  return quoted_text + "'";
}

std::string fish_place(const CompletedPlace& place) {
  std::string text;
  if (!place.words.empty()) text += " -a " + fish_quoted(joined_words(place.words));
  if (place.files == FileKind::any) text += " -F";
  if (place.files == FileKind::folders) text += " -a '(__fish_complete_directories)'";
  return text;
}

std::string fish_flag(const CompletedFlag& flag) {
  std::string text;
  for (const std::string& name : flag.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (flag.takes_value) {
    text += flag.value.files == FileKind::any ? " -r" : " -x";
    text += fish_place(flag.value);
  }
  return text + " -d " + fish_quoted(flag.description);
}

}  // namespace

std::string bash_completion(const std::vector<CompletedCommand>& commands) {
  return "# bash completion of sortie, made by: sortie completion bash\n\n" +
         table_function(commands, word_alone) + full_name_function(commands) + kBash;
}

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
  return "#compdef sortie\n# zsh completion of sortie, made by: sortie completion zsh\n\n" +
         table_function(commands, word_with_description) + full_name_function(commands) + kZsh;
}

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  std::string script = "# fish completion of sortie, made by: sortie completion fish\n\n";
  script += "set -g __sortie_commands";
  for (const CompletedCommand& command : commands)
    if (!command.words.empty()) script += " " + fish_quoted(command.words);
  script +=
      "\n# The command in full, if it is a short name.\nfunction __sortie_full\n"
      "    switch $argv[1]\n";
  for (const CompletedCommand& command : commands)
    for (const std::string& name : command.short_names)
      script += "        case " + name + "\n            echo " + command.words + "\n";
  script += "        case '*'\n            echo $argv[1]\n    end\nend\n";
  script += kFish;
  for (const CompletedCommand& command : commands) {
    const std::string begin =
        "complete -c sortie -n " + fish_quoted("__sortie_at \"" + command.words + "\"");
    for (const std::string& word : command.commands)
      script += begin + " -a " + fish_quoted(word) + " -d " +
                fish_quoted(command_below(commands, command, word).description) + "\n";
    for (const CompletedFlag& flag : command.flags) script += begin + fish_flag(flag) + "\n";
    for (const CompletedPlace& place : command.arguments)
      if (const std::string text = fish_place(place); !text.empty()) script += begin + text + "\n";
  }
  return script;
}

}  // namespace sortie
