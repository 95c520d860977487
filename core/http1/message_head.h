#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sortie {

/// What a reader accepts beyond a strict reading of RFC 9112. By default everything is refused that
/// two programs could read differently: a proxy that passes it on could be led past its rules.
struct Http1Options {
  bool bare_lf = false;            ///< lines that end in LF alone (§2.2)
  bool folded_headers = false;     ///< a header line that goes on in the next one (§5.2)
  bool repeated_length = false;    ///< Content-Length more than once, each time the same (§6.3)
  bool length_and_coding = false;  ///< Content-Length beside Transfer-Encoding, which wins (§6.3)
  bool padded_chunk_size = false;  ///< blanks around a chunk's size (§7.1)
};

/// Names as they came, values without the blanks around them.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

bool is_token(std::string_view text);  // RFC 9110 §5.6.2
/// Letters, digits, "-" and "_": what a header that is configured may be called.
bool is_header_name(std::string_view name);
/// Without control characters, so that it stays one line of the head.
bool is_header_value(std::string_view value);

/// ASCII letters compared without case.
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::size_t count_headers(const HttpHeaders& headers, std::string_view name);
/// The first header of that name, in any case of letters, or "".
std::string_view header_value(const HttpHeaders& headers, std::string_view name);
/// Whether a comma-separated header has the word, in any of its lines.
bool list_has(const HttpHeaders& headers, std::string_view name, std::string_view word);
/// Removes what is meant for the next hop alone (RFC 9110 §7.6.1): Connection and all it names, the
/// headers of proxies, framing, upgrades.
void remove_hop_by_hop(HttpHeaders& headers);

/// "HTTP/1.1 200 OK"; the reason may be missing, with or without its blank.
struct StatusLine {
  int status = 0;  ///< 100 to 999; 0: not a status line
  int minor = 1;   ///< of the version
  std::string reason{};
};
StatusLine read_status_line(std::string_view line);

/// Adds the header of one line, which comes without its line end.
/// @return  "" or what is wrong: a name that is not a token, a blank before the colon, a line that
///          goes on, a control byte
std::string read_header_line(std::string_view line, const Http1Options& options,
                             HttpHeaders& headers);
/// Adds the headers of all lines between the start line and the empty line, CRLF after each.
std::string read_header_lines(std::string_view lines, const Http1Options& options,
                              HttpHeaders& headers);

/// How long a message's body is (RFC 9112 §6).
struct BodyFraming {
  enum class Kind { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  ///< of Kind::length

  bool operator==(const BodyFraming&) const = default;
};

/// The framing that Content-Length and Transfer-Encoding give; Kind::none without either.
/// @return  "" or what is wrong: a list, a sign, a coding other than "chunked", and what the
///          options refuse
std::string read_framing(const HttpHeaders& headers, const Http1Options& options,
                         BodyFraming& framing);

/// Where a message's head ends in what has arrived of it.
struct HeadEnd {
  enum class Found { incomplete, complete, malformed };
  Found found = Found::incomplete;
  std::size_t size = 0;  ///< of a complete one, the empty line included
};

/// Finds the empty line, strictly: a CR or LF on its own, or a NUL, makes the head malformed at
/// once, since others would end the line there.
HeadEnd find_head_end(std::string_view bytes);

/// Takes lines from bytes that are split anywhere.
class LineReader {
 public:
  enum class Result { incomplete, complete, malformed };

  /// @param max_bytes  of a line
  LineReader(const Http1Options& options, std::size_t max_bytes)
      : bare_lf_(options.bare_lf), max_bytes_(max_bytes) {}

  /// Takes bytes up to the next LF from the front. Malformed is a NUL, a CR within the line, a line
  /// that is too long and, unless the options accept it, one that ends in LF alone.
  Result take(std::string_view& bytes);
  /// The line that is complete, without its end; the next one begins.
  std::string release();
  /// What there is of the line so far.
  std::string_view begun() const noexcept { return line_; }

 private:
  bool bare_lf_;
  std::size_t max_bytes_;
  std::string line_;
};

}  // namespace sortie
