#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The sentences of a message, as far as its writer speaks: fenced code blocks and quoted lines
/// (">") are left out. White space is one blank, typographic apostrophes and quotes are plain,
/// marks of lists, headings and bold type are gone. A sentence ends at a line's end, a semicolon or
/// ".", "!", "?" with a blank behind it, and keeps that mark.
std::vector<std::string> sentences_of(std::string_view message);

/// The commands that a message shows to be run: lines of code blocks for a shell or a database,
/// code in a sentence behind "run" and the like, and lines that are a command alone. Not those that
/// the sentence warns of.
std::vector<std::string> proposed_commands(std::string_view message);

}  // namespace sortie
