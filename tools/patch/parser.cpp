#include "tools/patch/parser.h"

#include <string>
#include <utility>

#include "core/base/error.h"
#include "tools/patch/hints.h"
#include "tools/patch/matcher.h"

namespace sortie::patch {
namespace {

// patch   = "*** Begin Patch" [ environment ] { add | delete | update } "*** End Patch"
// add     = "*** Add File: " path { "+" text }
// delete  = "*** Delete File: " path
// update  = "*** Update File: " path [ "*** Move to: " path ] chunk { chunk }
// chunk   = [ "@@" [ " " anchor ] ] line { line } [ "*** End of File" ]
// line    = ( " " | "+" | "-" ) text | ""
constexpr std::string_view kBegin = "*** Begin Patch";
constexpr std::string_view kEnd = "*** End Patch";
constexpr std::string_view kEnvironment = "*** Environment ID:";
constexpr std::string_view kAdd = "*** Add File: ";
constexpr std::string_view kDelete = "*** Delete File: ";
constexpr std::string_view kUpdate = "*** Update File: ";
constexpr std::string_view kMove = "*** Move to: ";
constexpr std::string_view kEndOfFile = "*** End of File";

[[noreturn]] void invalid(const std::string& what) { throw ToolError("Invalid patch: " + what); }

[[noreturn]] void invalid_hunk(int line, const std::string& what) {
  throw ToolError("Invalid patch hunk on line " + std::to_string(line) + ": " + what);
}

/// CRLF counts as LF; one more CR is dropped.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    for (int i = 0; i < 2 && line.ends_with('\r'); ++i) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

bool is_heredoc(const std::vector<std::string_view>& lines) {
  const std::string_view first = lines.front();
  return lines.size() >= 4 && (first == "<<EOF" || first == "<<'EOF'" || first == "<<\"EOF\"") &&
         lines.back().ends_with("EOF");
}

/// The lines between the first and the last, which are the envelope.
std::vector<std::string_view> body_of(std::string_view text) {
  std::vector<std::string_view> lines = lines_of(trim(text));
  if (is_heredoc(lines)) {
    lines.erase(lines.begin());
    lines.pop_back();
  }
  if (trim(lines.front()) != kBegin)
    invalid("The first line of the patch must be '*** Begin Patch'" + begin_hint(lines.front()));
  if (lines.size() < 2 || trim(lines.back()) != kEnd)
    invalid("The last line of the patch must be '*** End Patch'" + end_hint(lines.back()));
  lines.pop_back();
  lines.erase(lines.begin());
  return lines;
}

class Parser {
 public:
  explicit Parser(std::vector<std::string_view> lines) : lines_(std::move(lines)) {}

  std::vector<Hunk> run() {
    for (index_ = 0; index_ < lines_.size(); ++index_) take(lines_[index_]);
    close_hunk();
    if (hunks_.empty()) throw ToolError("No files were modified.");
    return std::move(hunks_);
  }

 private:
  /// The envelope's first line is line 1.
  int number() const { return static_cast<int>(index_) + 2; }

  void take(std::string_view line) {
    if (ended_) {
      if (trim(line).empty() || trim(line) == kEnd) return;
      invalid("Unexpected line after '*** End Patch': '" + std::string(line) + "'");
    }
    if (index_ == 0 && trim(line).starts_with(kEnvironment)) return environment(line);
    const bool updating = !hunks_.empty() && hunks_.back().kind == Hunk::Kind::update;
    // In an update a leading blank makes a line context.
    if (header(updating ? trim_right(line) : trim(line))) return;
    if (hunks_.empty() || hunks_.back().kind == Hunk::Kind::remove) return bad_header(line);
    if (updating)
      update_line(line);
    else
      add_line(line);
  }

  static std::string after_stop(const std::string& hint) { return hint.empty() ? "" : "." + hint; }

  void environment(std::string_view line) {
    if (trim(trim(line).substr(kEnvironment.size())).empty())
      invalid("'*** Environment ID:' must not be empty");
  }

  void bad_header(std::string_view line) const {
    invalid_hunk(number(), "'" + std::string(trim(line)) +
                               "' is not a valid hunk header. Valid hunk headers: '*** Add File: "
                               "{path}', '*** Delete File: {path}', '*** Update File: {path}'" +
                               after_stop(header_hint(line)));
  }

  bool header(std::string_view line) {
    if (line == kEnd) {
      ended_ = true;
      return true;
    }
    const struct {
      std::string_view marker;
      Hunk::Kind kind;
    } kinds[] = {
        {kAdd, Hunk::Kind::add}, {kDelete, Hunk::Kind::remove}, {kUpdate, Hunk::Kind::update}};
    for (const auto& [marker, kind] : kinds) {
      if (!line.starts_with(marker)) continue;
      close_hunk();
      Hunk hunk;
      hunk.kind = kind;
      hunk.path = line.substr(marker.size());
      hunk.line = number();
      hunks_.push_back(std::move(hunk));
      return true;
    }
    return false;
  }

  void add_line(std::string_view line) {
    if (!line.starts_with('+'))
      invalid_hunk(number(), "Unexpected line found in add file hunk: '" + std::string(line) +
                                 "'. Every line should start with '+'" +
                                 after_stop(header_hint(line)));
    hunks_.back().content.append(line.substr(1)).push_back('\n');
  }

  void update_line(std::string_view line) {
    Hunk& hunk = hunks_.back();
    const std::string_view marker = trim_right(line);
    if (marker.starts_with(kMove) && hunk.chunks.empty() && !hunk.move_to) {
      hunk.move_to = marker.substr(kMove.size());
    } else if (marker == "@@" || marker.starts_with("@@ ")) {
      close_chunk(". A chunk begins with a single '@@' line: keep the nearest one");
      begin_chunk();
      if (marker.size() > 3) hunk.chunks.back().anchor = marker.substr(3);
    } else if (marker == kEndOfFile) {
      end_of_file();
    } else {
      chunk_line(line);
    }
  }

  void begin_chunk() {
    Chunk chunk;
    chunk.line = number();
    hunks_.back().chunks.push_back(std::move(chunk));
  }

  void end_of_file() {
    if (hunks_.back().chunks.empty()) return;
    close_chunk();
    if (hunks_.back().chunks.back().end_of_file) bad_chunk(lines_[index_]);
    hunks_.back().chunks.back().end_of_file = true;
  }

  [[noreturn]] void bad_chunk(std::string_view line) const {
    invalid_hunk(number(), "Expected update hunk to start with a @@ context marker, got: '" +
                               std::string(line) + "'");
  }

  void chunk_line(std::string_view line) {
    auto& chunks = hunks_.back().chunks;
    if (!chunks.empty() && chunks.back().end_of_file) {
      if (trim(line).empty()) return;
      bad_chunk(line);
    }
    const char sign = line.empty() ? ' ' : line[0];
    if (sign != ' ' && sign != '+' && sign != '-')
      invalid_hunk(number(), "Unexpected line found in update hunk: '" + std::string(line) +
                                 "'. Every line should start with ' ' (context line), '+' (added "
                                 "line), or '-' (removed line)" +
                                 after_stop(header_hint(line)));
    if (chunks.empty()) begin_chunk();
    const auto kind = sign == '+'   ? ChunkLine::Kind::added
                      : sign == '-' ? ChunkLine::Kind::removed
                                    : ChunkLine::Kind::context;
    chunks.back().lines.push_back({kind, std::string(line.empty() ? line : line.substr(1))});
  }

  void close_chunk(const std::string& hint = "") const {
    const auto& chunks = hunks_.back().chunks;
    if (!chunks.empty() && chunks.back().lines.empty())
      invalid_hunk(number(), "Update hunk does not contain any lines" + hint);
  }

  void close_hunk() const {
    if (hunks_.empty() || hunks_.back().kind != Hunk::Kind::update) return;
    const Hunk& hunk = hunks_.back();
    if (hunk.chunks.empty())
      invalid_hunk(
          hunk.line,
          "Update file hunk for path '" + hunk.path + "' is empty" +
              (hunk.move_to ? ". A move needs a chunk: a line of the file as context" : ""));
    close_chunk();
  }

  std::vector<std::string_view> lines_;
  std::size_t index_ = 0;
  bool ended_ = false;
  std::vector<Hunk> hunks_;
};

}  // namespace

std::vector<Hunk> parse_patch(std::string_view text) { return Parser(body_of(text)).run(); }

}  // namespace sortie::patch
