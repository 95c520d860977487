#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/exec/exec_options.h"

namespace sortie {

/// What was read of stdin.
struct PipedInput {
  std::string text{};     ///< without a byte order mark
  std::string problem{};  ///< why it can't be used, or ""
  std::string note{};     ///< for the operator: its end was not waited for
};

/// Reads stdin to its end, so that no writer of it gets an error; nothing from a terminal or a closed
/// one.
/// @param has_prompt  waits no more than 10 s for a byte, and takes what came until then
PipedInput read_piped_input(bool has_prompt);

/// The same for a command that has failed already: what is read is thrown away.
void drain_piped_input();

/// The prompt of the argument and of stdin: the argument, then what was piped in `<stdin>`.
/// @param argument  nothing or "-": stdin is the prompt
/// @param images  the words that -i took, one of which may be meant as the prompt
/// @throws InputError  there is none, or stdin can't be used
std::string compose_prompt(const std::optional<std::string>& argument, const PipedInput& piped,
                           const std::vector<std::string>& images = {});

/// The prompt as a task has it: no part of it is a placeholder.
std::string as_literal_prompt(std::string_view prompt);

/// The words of the command line, with `--image` before each file of `-i FILE…`, which takes all words
/// up to the next option. The last of several is the prompt if no file has its name and it has a blank,
/// or stands behind `resume`.
std::vector<std::string> with_images_apart(const std::vector<std::string>& words);

/// The prompt of `exec review`.
/// @param own  what its caller writes; "" with a target of the flags
/// @throws InputError  there is no target and no prompt, or several
std::string review_prompt(const ReviewTarget& target, const std::string& own);

/// The words with `exec` as the first one, if options of codex stand before it: "-m NAME exec …"; also
/// for its short name, `e`.
/// @param words  behind the program's name
std::vector<std::string> with_exec_first(std::vector<std::string> words);

}  // namespace sortie
