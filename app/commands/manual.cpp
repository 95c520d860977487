#include "app/commands/manual.h"

#include <CLI/CLI.hpp>

#include "core/base/exit_code_table.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Text as roff reads it literally (man(7)).
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  // A dot or quote that begins a line would be a request.
  if (!escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'')) escaped.insert(0, "\\&");
  return escaped;
}

void add_options(const CLI::App& app, std::string& page) {
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    page += ".TP\n.B " + roff(option->get_name(true, true)) + "\n" +
            roff(option->get_description()) + "\n";
  }
}

void add_app(const CLI::App& app, const std::string& name, std::string& page) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (commands.empty()) {
    page += ".SS " + roff(name) + "\n" + roff(app.get_description()) + "\n";
    add_options(app, page);
    page += ".PP\n.nf\n";
    const std::string footer = app.get_footer();
    for (const auto line : split_lines(footer)) page += roff(std::string(line)) + "\n";
    page += ".fi\n";
  }
  for (const auto* command : commands) add_app(*command, name + " " + command->get_name(), page);
}

/// "0 success, 1 task failed, …, 130 and 143 interrupted"
std::string exit_codes() {
  std::string text;
  std::string before;
  for (const ExitCodeRow& row : exit_code_table()) {
    const std::string number = std::to_string(static_cast<int>(row.code));
    if (row.meaning == before) {
      text.insert(text.size() - before.size() - 1, " and " + number);
      continue;
    }
    before = row.meaning;
    text += (text.empty() ? "" : ", ") + number + " " + before;
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& root) {
  std::string page = ".TH SORTIE 1 \"\" \"sortie " SORTIE_VERSION "\" \"User Commands\"\n";
  page += ".SH NAME\nsortie \\- one\\-shot batch runner for coding agents\n";
  page += ".SH SYNOPSIS\n.B sortie\n.I COMMAND\n[options]\n";
  page += ".SH DESCRIPTION\n" + roff(root.get_description()) + "\n";
  page += ".SH COMMANDS\n";
  add_app(root, "sortie", page);
  page += ".SH EXIT STATUS\n" + exit_codes() +
          ". 10 to 19 and the signals: the same command may well succeed when started again.\n";
  return page;
}

}  // namespace sortie
