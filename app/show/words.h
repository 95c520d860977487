#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sortie {

/// The words of a command line as the parser may have them. It reads some in ways that nobody
/// means:
/// `[a,b]` as two words, `{}`, `%%` and an empty one as none, `--flag=` as a flag whose value comes
/// next. Such words, and all behind `--`, get a mark that take_words_as_given() takes off again.
/// @return  without the program's name, in the order that CLI::App::parse wants: the last one first
std::vector<std::string> marked_words(int argc, const char* const* argv);

/// The word as it was given.
std::string unmarked(const std::string& word);

/// Has every option of the app and of its commands get its words as they were given, and refuses
/// empty ones (a variable that is not set), but of options from add_words().
void take_words_as_given(CLI::App& app);

/// An argument of one word or more, empty ones too.
CLI::Option& add_words(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                       const std::string& description);

/// A flag with one value that may be given several times.
CLI::Option& add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                            const std::string& description);

}  // namespace sortie
