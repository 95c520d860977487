#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/files/files.h"
#include "core/files/open_beneath.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

/// A window of numbered lines of a text that arrives in pieces, in bounded memory: long lines are
/// cut, lines outside of the window are only counted.
class LineWindow {
 public:
  /// @param first  first line, counted from 1
  /// @param lines  maximum number of lines
  /// @param max_bytes  maximum size of the numbered lines; one line is always shown
  LineWindow(std::uint64_t first, std::uint64_t lines, std::size_t max_bytes)
      : first_(first), lines_(lines), max_bytes_(max_bytes) {}

  void feed(std::string_view piece);
  /// Ends the text; a last line without a newline counts.
  void finish();

  const std::string& text() const noexcept { return text_; }
  std::uint64_t first() const noexcept { return first_; }
  /// How many lines the window holds.
  std::uint64_t shown() const noexcept { return shown_; }
  /// How many lines were fed.
  std::uint64_t total() const noexcept { return total_; }
  bool is_full() const noexcept { return full_; }
  /// Lines of the window that end in CR LF.
  std::uint64_t carriage_returns() const noexcept { return carriage_returns_; }
  /// CRs within the window's lines, before no LF: apply_patch ends a line there.
  std::uint64_t lone_returns() const noexcept { return lone_returns_; }
  /// Whether shown lines contained bytes that are not UTF-8.
  bool repaired() const noexcept { return repaired_; }

 private:
  bool in_window() const noexcept { return !full_ && total_ + 1 >= first_; }
  void append(std::string_view part);
  void end_line();

  std::uint64_t first_;
  std::uint64_t lines_;
  std::size_t max_bytes_;
  std::string text_;
  std::string line_;              ///< the current line, as far as it is kept
  std::uint64_t line_bytes_ = 0;  ///< size of the current line
  char last_ = 0;                 ///< its last byte
  std::uint64_t total_ = 0;
  std::uint64_t shown_ = 0;
  std::uint64_t carriage_returns_ = 0;
  std::uint64_t lone_returns_ = 0;
  bool repaired_ = false;
  bool full_ = false;
};

struct ReadFileOptions {
  HiddenPaths hidden{};             ///< paths that hints must not name
  FileStream stream{};              ///< reads files piece by piece; not set: they are read whole
  std::size_t max_bytes = 1 << 20;  ///< size of the lines that one call shows
};

/// `read_file`: a window of a file's lines, with their numbers. Large files are never in memory as
/// a whole.
class ReadFile : public Tool {
 public:
  /// @param workspace  absolute; paths that begin with it are relative to it
  ReadFile(const Files& files, std::filesystem::path workspace, ReadFileOptions options = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  const Files& files_;
  std::filesystem::path workspace_;
  ReadFileOptions options_;
};

}  // namespace sortie
