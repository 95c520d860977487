#pragma once

#include <stop_token>
#include <string_view>

namespace sortie {

/// Writes what a command has to say to stdout. A reader that went away has had enough.
/// @throws Error  environment: the disk is full, or the reader was waited for as long as
///                WriteLimits say
void print_out(std::string_view text, const std::stop_token& stop = {});

/// The same to stderr, where commands to a CI system are made harmless: what is said there names
/// what others have written. Where it can't be written nobody is told.
void print_error(std::string_view text);

}  // namespace sortie
