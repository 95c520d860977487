#pragma once

#include <memory>

#include "tools/tool.h"

namespace sortie {

/// `local_shell`: the shell tool that some models were trained with, in place of `shell`. Its calls
/// are calls of `shell` in all but their form: the same arguments, actions, rules and output.
class LocalShell : public Tool {
 public:
  explicit LocalShell(std::unique_ptr<Tool> shell);
  const ToolSpec& spec() const override { return spec_; }
  Json renamed(Json arguments) const override { return shell_->renamed(std::move(arguments)); }
  std::vector<Action> actions(const Json& arguments) const override {
    return shell_->actions(arguments);
  }
  ToolResult run(const Json& arguments, std::stop_token stop) override {
    return shell_->run(arguments, std::move(stop));
  }

 private:
  std::unique_ptr<Tool> shell_;
  ToolSpec spec_;
};

}  // namespace sortie
