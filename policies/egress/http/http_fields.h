#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A header field; the name as it came, the value without the blanks around it.
struct HttpField {
  std::string name;
  std::string value;

  bool operator==(const HttpField&) const = default;
};

using HttpFields = std::vector<HttpField>;

/// How long a message's body is (RFC 9112 §6).
struct BodyFraming {
  enum class Kind { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  ///< of Kind::length

  bool operator==(const BodyFraming&) const = default;
};

/// Where a message's head ends in what has arrived of it.
struct HeadEnd {
  enum class Found { incomplete, complete, malformed };
  Found found = Found::incomplete;
  std::size_t size = 0;  ///< of a complete one, the empty line included
};

/// Looks for the empty line. A CR or LF on its own, or a NUL, makes the head malformed at once:
/// what others would take for a line's end is none here.
HeadEnd find_head_end(std::string_view bytes);

/// The lines between the start line and the empty line as fields.
/// @param lines  CRLF after each
/// @return  "" or what is wrong: a name that is no token, a blank before the colon, a line that
/// goes
///          on (obs-fold), a control byte
std::string read_fields(std::string_view lines, HttpFields& fields);

/// The framing that Content-Length and Transfer-Encoding give; Kind::none without either. Refused
/// is whatever two programs could read differently: both together, either one twice, a list, a
/// sign, a coding other than "chunked".
/// @return  "" or what is wrong
std::string read_framing(const HttpFields& fields, BodyFraming& framing);

/// ASCII letters compared without case.
bool equal_ignoring_case(std::string_view a, std::string_view b);
/// How many fields have that name.
std::size_t count_fields(const HttpFields& fields, std::string_view name);
/// The first field's value of that name, or "".
std::string_view field_value(const HttpFields& fields, std::string_view name);
/// Whether a comma-separated field has the word, in any of its lines.
bool list_has(const HttpFields& fields, std::string_view name, std::string_view word);
/// Takes out what is meant for the next hop alone (RFC 9110 §7.6.1): Connection and all it names,
/// the fields of proxies, framing, upgrades.
void remove_hop_by_hop(HttpFields& fields);

bool is_token(std::string_view text);

}  // namespace sortie
