#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "app/inputs/options.h"
#include "core/base/spelling.h"

namespace sortie {

/// Flags that more than one command has.

/// "auto, overlay or copy"
template <SpelledEnum Enum>
std::string names_for_help() {
  std::string text;
  for (const auto& row : kSpelling<Enum>) {
    const bool last = &row == &kSpelling<Enum>.back();
    text += (text.empty() ? "" : last ? " or " : ", ") + std::string(row.name);
  }
  return text;
}

/// A number without sign, fraction or unit, from 1 on.
CLI::Validator whole_number(std::int64_t most);

/// The heading of the options that are added from here on, in the help and in the man page.
void begin_group(CLI::App& app, const char* name);

/// The model's server, and where its key is.
void add_model(CLI::App& app, RunOptions& options);
/// The budget, but for attempts.
void add_limits(CLI::App& app, RunOptions& options);
void add_debugging(CLI::App& app, RunOptions& options);
void add_status_file(CLI::App& app, std::string& file);
/// @param code  gets N of "retryable=N"; outlives the parsing
void add_exit_map(CLI::App& app, std::optional<int>& code);

/// --expect-task and --expect-policy.
void add_expected(CLI::App& app, RunOptions& options);

}  // namespace sortie
