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

/// Some lines of a text that comes in pieces, numbered, in bounded memory: of a long line the
/// beginning is kept, lines before and behind the window are counted.
class LineWindow {
 public:
  /// @param first  line, from 1
  /// @param lines  at most
  /// @param room   bytes that the numbered lines may take; one line is always shown
  LineWindow(std::uint64_t first, std::uint64_t lines, std::size_t room)
      : first_(first), lines_(lines), room_(room) {}

  void feed(std::string_view piece);
  /// At the end of the text: a last line without newline is one.
  void finish();

  const std::string& text() const noexcept { return text_; }
  std::uint64_t first() const noexcept { return first_; }
  /// Of the window's lines; 0: none.
  std::uint64_t shown() const noexcept { return shown_; }
  /// Up to where the text was fed.
  std::uint64_t total() const noexcept { return total_; }
  bool is_full() const noexcept { return full_; }
  /// Lines of the window that end in CR LF.
  std::uint64_t carriage_returns() const noexcept { return carriage_returns_; }
  /// Of the lines that are shown some have bytes that are not UTF-8.
  bool repaired() const noexcept { return repaired_; }

 private:
  bool in_window() const noexcept { return !full_ && total_ + 1 >= first_; }
  void take(std::string_view part);
  void end_line();

  std::uint64_t first_;
  std::uint64_t lines_;
  std::size_t room_;
  std::string text_;
  std::string line_;              ///< the one that is under way, as far as it is kept
  std::uint64_t line_bytes_ = 0;  ///< of it, all
  char last_ = 0;                 ///< byte of it
  std::uint64_t total_ = 0;
  std::uint64_t shown_ = 0;
  std::uint64_t carriage_returns_ = 0;
  bool repaired_ = false;
  bool full_ = false;
};

struct ReadFileOptions {
  HiddenPaths hidden{};        ///< paths that are not proposed in place of a wrong one
  FileStream stream{};         ///< of the files, piece by piece; not set: each is read whole
  std::size_t room = 1 << 20;  ///< bytes of the lines that are shown at once
};

/// `read_file`: a window of a file's lines, with their numbers. Of a large file no more than a
/// piece is in memory.
class ReadFile : public Tool {
 public:
  /// @param workspace  absolute: a path that begins with it is taken as relative to it
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
