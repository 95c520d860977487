#pragma once

#include <cstddef>
#include <stop_token>
#include <string_view>

#include "core/base/error.h"

namespace sortie {

/// Prints text for people on stdout. Commands to a CI system are made harmless, since the text may
/// quote foreign content. It is not an error if the reader has gone.
/// @param text  whole lines
/// @throws Error  environment: the disk is full, or the reader exceeded WriteLimits
void print_out(std::string_view text);

/// Prints a JSON document, or YAML with JSON strings. Its values are unchanged: commands to a CI
/// system are escaped in them.
/// @throws Error  environment: also if the reader has gone, since a part of a document is none
void print_document(std::string_view text);

/// Prints bytes unchanged. It is not an error if the reader has gone.
void print_bytes(std::string_view bytes, const std::stop_token& stop = {});

/// Prints what was asked for as data, unchanged.
/// @throws Error  environment: also if the reader has gone
void print_data(std::string_view bytes, const std::stop_token& stop = {});

/// The error for an errno from writing to stdout.
Error stdout_error(int number);

/// Whether that errno is of the file or device behind stdout, such as a full disk: neither its reader
/// has gone, nor has the caller closed it.
bool is_of_device(int number);

/// The columns of the terminal that stderr is; 0 if it is none.
std::size_t error_columns();

/// Prints text for people on stderr; errors are ignored.
void print_error(std::string_view text);

/// Prints commands to the CI system on stderr, from CiLog: they are not made harmless.
void print_ci_commands(std::string_view commands);

}  // namespace sortie
