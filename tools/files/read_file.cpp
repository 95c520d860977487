#include "tools/files/read_file.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/base/error.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"
#include "tools/files/text_encoding.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestLine = 2000;  ///< bytes shown of a line

constexpr std::int64_t kDefaultLines = 400;
constexpr std::uint64_t kLargestFile = 64ull << 20;  ///< bytes of a file that is read whole
/// Limit for reading on after the window, to count the lines of the file.
constexpr std::uint64_t kMostCountedBytes = 1ull << 30;

/// Reads a file's pieces into the window.
class Reading {
 public:
  Reading(LineWindow& window, const std::stop_token& stop) : window_(window), stop_(stop) {}

  bool take(std::string_view piece) {
    bytes_ += piece.size();
    if (begin_) {
      begin_ = false;
      utf16_ = utf16_order(piece);
      binary_ = !utf16_ && begins_binary(piece);
      if (piece.starts_with("\xEF\xBB\xBF")) piece.remove_prefix(3);
    }
    if (binary_) return false;
    if (utf16_)
      decode(piece);
    else
      window_.feed(piece);
    if (window_.is_full()) counted_ += piece.size();
    all_ = counted_ < kMostCountedBytes;
    return all_ && !stop_.stop_requested();
  }
  void finish() {
    if (all_ && !binary_) window_.finish();
  }

  bool is_binary() const { return binary_; }
  bool is_empty() const { return bytes_ == 0; }
  /// Whether the whole file was counted.
  bool read_all() const { return all_; }
  const std::optional<Utf16Order>& utf16() const { return utf16_; }

 private:
  void decode(std::string_view piece) {
    if (!decoder_) decoder_.emplace(*utf16_);
    window_.feed(decoder_->feed(piece));
  }

  LineWindow& window_;
  const std::stop_token& stop_;
  std::optional<Utf16Order> utf16_{};
  std::optional<Utf16Decoder> decoder_{};
  std::uint64_t bytes_ = 0;
  std::uint64_t counted_ = 0;
  bool begin_ = true;
  bool binary_ = false;
  bool all_ = true;
};

std::string lines_of(const LineWindow& window, bool all) {
  std::string text = "Lines " + std::to_string(window.first()) + "–" +
                     std::to_string(window.first() + window.shown() - 1) + " of " +
                     (all ? "" : "more than ") + std::to_string(window.total());
  const std::uint64_t next = window.first() + window.shown();
  if (next <= window.total() || !all) text += "; more follow from line " + std::to_string(next);
  return text + "\n";
}

std::string remarks(const LineWindow& window, const Reading& reading) {
  std::vector<std::string> remarks;
  if (window.carriage_returns() == window.shown() && window.shown() > 0)
    remarks.push_back("these lines end in CR LF");
  else if (window.carriage_returns() > 0)
    remarks.push_back(std::to_string(window.carriage_returns()) + " of these lines end in CR LF");
  if (window.lone_returns() > 0)
    remarks.push_back("a CR without LF in these lines ends a line for apply_patch");
  if (reading.utf16())
    remarks.push_back(*reading.utf16() == Utf16Order::little ? "the file is in UTF-16LE"
                                                             : "the file is in UTF-16BE");
  else if (window.repaired())
    remarks.push_back("bytes that are not UTF-8 are shown as \xEF\xBF\xBD");
  return joined(remarks, "; ");
}

}  // namespace

void LineWindow::append(std::string_view part) {
  if (part.empty()) return;
  last_ = part.back();
  line_bytes_ += part.size();
  if (!in_window()) return;
  // One more byte, so that a CR at the border is not shown as part of the line.
  const std::size_t room = kLongestLine + 1 - std::min(line_.size(), kLongestLine + 1);
  line_.append(part.substr(0, room));
}

void LineWindow::end_line() {
  if (in_window()) {
    char prefix[32];
    std::snprintf(prefix, sizeof prefix, "%6llu\t", static_cast<unsigned long long>(total_ + 1));
    const bool ends_in_cr = last_ == '\r' && line_bytes_ > 0;
    if (ends_in_cr) {
      ++carriage_returns_;
      --line_bytes_;
      if (line_.size() > line_bytes_) line_.pop_back();
    }
    lone_returns_ += static_cast<std::uint64_t>(std::count(line_.begin(), line_.end(), '\r'));
    const std::string_view kept = utf8_prefix(line_, kLongestLine);
    std::string one = prefix;
    if (!is_utf8(kept)) repaired_ = true;
    one += repair_utf8(kept);
    if (line_bytes_ > kLongestLine) one += " … (" + size_in_words(line_bytes_) + " in this line)";
    one += '\n';
    if (shown_ > 0 && text_.size() + one.size() > max_bytes_) {
      full_ = true;
    } else {
      text_ += one;
      full_ = ++shown_ == lines_;
    }
  }
  ++total_;
  line_.clear();
  line_bytes_ = 0;
  last_ = 0;
}

void LineWindow::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    if (end == piece.npos) return append(piece);
    append(piece.substr(0, end));
    end_line();
    piece.remove_prefix(end + 1);
  }
}

void LineWindow::finish() {
  if (line_bytes_ > 0) end_line();
}

ReadFile::ReadFile(const Files& files, std::filesystem::path workspace, ReadFileOptions options)
    : files_(files), workspace_(std::move(workspace)), options_(std::move(options)) {
  if (!options_.stream)
    options_.stream = [this](const std::filesystem::path& path,
                             const std::function<bool(std::string_view)>& take) {
      const auto content = files_.read(path, kLargestFile);
      if (content && !content->empty()) take(*content);
      return content.has_value();
    };
  spec_.name = "read_file";
  spec_.description =
      "Reads lines of a text file, with line numbers. Reports how many lines the file has and "
      "whether more follow.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {
      "path": {"type": "string", "minLength": 1, "description": "File in the workspace."},
      "offset": {"type": "integer", "minimum": 1, "description": "First line, counted from 1. Default: 1."},
      "limit": {"type": "integer", "minimum": 1, "description": "Maximum number of lines. Default: 400."}
    },
    "required": ["path"],
    "additionalProperties": false
  })");
}

std::vector<Action> ReadFile::actions(const Json& arguments) const {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  return {ReadPath{path}, ReadPath{files_.resolve(path)}};
}

ToolResult ReadFile::run(const Json& arguments, std::stop_token stop) {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  const std::string name = path.string();
  LineWindow window(static_cast<std::uint64_t>(arguments.integer_at("offset", 1)),
                    static_cast<std::uint64_t>(arguments.integer_at("limit", kDefaultLines)),
                    options_.max_bytes);
  Reading reading(window, stop);
  if (!options_.stream(path, [&](std::string_view piece) { return reading.take(piece); }))
    throw ToolError(missing_path(files_, path, options_.hidden));
  reading.finish();
  // The number of lines is unknown then.
  if (stop.stop_requested() && !reading.is_binary())
    throw ToolError(name + " was not read completely: the run is ending");
  ToolResult result;
  if (reading.is_binary()) {
    const auto status = files_.status(files_.resolve(path));
    result.text = name + " is a binary file" +
                  (status ? " of " + size_in_words(status->size) : std::string());
    return result;
  }
  if (reading.is_empty()) {
    result.text = name + " is empty";
    return result;
  }
  if (window.shown() == 0) {
    const std::string total = std::to_string(window.total());
    throw ToolError(name + " has " + (reading.read_all() ? "" : "more than ") + total +
                    (window.total() == 1 ? " line" : " lines"));
  }
  result.text = window.text();
  result.head = lines_of(window, reading.read_all());
  result.note = remarks(window, reading);
  return result;
}

}  // namespace sortie
