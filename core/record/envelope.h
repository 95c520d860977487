#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// A record's line taken apart, without looking into its data.
struct Envelope {
  std::uint64_t seq = 0;
  std::string_view timestamp;
  std::string_view type;
  int turn = 0;
  std::string_view prev;
  std::string_view data;  ///< an object's text
};

/// Takes a line (without its newline) apart. It has to be written as sortie writes it:
///
///     {"seq":N,"ts":"YYYY-MM-DDTHH:MM:SS.mmmZ","type":"…","turn":N,"prev":"64 hex","data":{…}}
///
/// @return "" or what is wrong with it
std::string take_apart(std::string_view line, Envelope& envelope);

}  // namespace sortie
