#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace sortie {

/// The man page sortie(1) in man(7) format: the commands from the text of --help, the rest from the
/// tables of exit codes, of files in --out, and of variables.
std::string man_page(const CLI::App& root);

/// Variables of sortie's own environment that it reads.
struct VariableRow {
  const char* names;    ///< separated by ", "
  const char* meaning;  ///< one sentence or more, without Markdown
};

/// All of them, in the order of the page.
std::span<const VariableRow> variable_table() noexcept;

/// A file in the output folder.
struct ArtifactRow {
  const char* name;
  const char* meaning;
};
std::span<const ArtifactRow> artifact_table() noexcept;

}  // namespace sortie
