#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/json/json.h"

namespace sortie {

inline constexpr std::uint64_t kMostOfStep = 1u << 20;  ///< bytes of a step in GitHub's summary

/// The files by which a step tells GitHub Actions its outputs and its summary.
///
/// Source: GitHub's workflow commands, "Setting an output parameter", "Adding a job summary".
class GithubFiles {
 public:
  /// Opens what $GITHUB_OUTPUT and $GITHUB_STEP_SUMMARY name, where GITHUB_ACTIONS is set. What
  /// can't be opened is left out: see problems().
  GithubFiles();
  const std::vector<std::string>& problems() const { return problems_; }
  bool takes_outputs() const { return static_cast<bool>(outputs_); }

  /// Adds the outputs of a run: status, exit-code, diff-path, transcript-path, final-message,
  /// cost-usd and tokens; "" where there is none. diff-path is only that of a success.
  /// @param result   result.json @param folder  --out; "" if nothing was started
  /// @param message  the agent's final message; a long one is cut
  void add_outputs(const Json& result, const std::filesystem::path& folder,
                   std::string_view message);
  /// Adds outputs of another kind of command.
  void add_values(const std::vector<std::pair<std::string, std::string>>& outputs);
  /// How many bytes the step's summary still takes; 0 for none.
  std::uint64_t summary_room() const;
  /// Adds Markdown to it.
  void add_summary(std::string_view text);

 private:
  Fd open(const char* variable, const std::string& path);
  void append(const Fd& file, const char* variable, std::string_view text);

  Fd outputs_;
  Fd summary_;
  std::vector<std::string> problems_;
};

/// The lines that set these outputs, each with a delimiter of its own that nobody can guess.
std::string output_lines(const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace sortie
