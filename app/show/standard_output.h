#pragma once

#include <stop_token>
#include <string_view>

namespace sortie {

/// Writes what a command has to say to people on stdout. Commands to a CI system are made harmless:
/// what is said names what others have written. A reader that went away has had enough.
/// @param text  whole lines
/// @throws Error  environment: the disk is full, or the reader was waited for as long as
///                WriteLimits say
void print_out(std::string_view text);

/// The same of a document in JSON, or in YAML whose strings are JSON's: its values stay, since the
/// sign of such a command is escaped in them.
void print_document(std::string_view text);

/// The same of bytes that stay as they are.
void print_bytes(std::string_view bytes, const std::stop_token& stop = {});

/// The same to stderr. Where it can't be written nobody is told.
void print_error(std::string_view text);

}  // namespace sortie
