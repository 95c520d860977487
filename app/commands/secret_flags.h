#pragma once

#include <CLI/CLI.hpp>

#include "app/run/later_secrets.h"

namespace sortie {

/// Adds the flags that name where a run had its secrets from, for commands that tell of it later.
void add_secret_flags(CLI::App& app, LaterSecrets& secrets);

}  // namespace sortie
