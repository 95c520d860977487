#pragma once

#include "app/commands/command_table.h"

namespace sortie {

void add_run(CommandTable& table);
void add_verify(CommandTable& table);
void add_policy(CommandTable& table);
void add_policy_learn(CommandTable& table, CLI::App& policy);
void add_policy_backtest(CommandTable& table, CLI::App& policy);
void add_task(CommandTable& table);
void add_sandbox(CommandTable& table);
void add_apply_patch(CommandTable& table);
void add_schema(CommandTable& table);
void add_doctor(CommandTable& table);

}  // namespace sortie
