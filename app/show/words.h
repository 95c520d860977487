#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sortie {

/// The words of a command line, protected from the parser's special cases: it reads `[a,b]` as two
/// words, `{}`, `%%` and an empty word as none, `--flag=` as a flag whose value comes next. Such
/// words, and all after `--`, get a mark that take_words_as_given() removes.
/// @return  without the program's name, in the order for CLI::App::parse: the last one first
std::vector<std::string> marked_words(int argc, const char* const* argv);

/// The word without its mark.
std::string unmarked(const std::string& word);

/// Removes the marks for all options of the app and its commands, and refuses empty words (an unset
/// variable), except for options from add_words().
void take_words_as_given(CLI::App& app);

/// An argument of one or more words, which may be empty.
CLI::Option& add_words(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                       const std::string& description);

/// A flag with one value that may be given several times.
CLI::Option& add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                            const std::string& description);

}  // namespace sortie
