#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace sortie {

/// No record of ours is longer than 1 MiB; a longer line than this is no record.
inline constexpr std::size_t kLongestLine = 8u << 20;
inline constexpr const char* kRecordTooLong = "is longer than 8 MiB, which no record is";

/// Hands over each whole line of a transcript, without its newline, until false is returned. What is longer
/// than kLongestLine and has no newline is the last one.
/// @return  bytes of a last line without newline; 0 if the end was not reached
/// @throws Error  usage: there is none, it can't be read, or is not a regular file
std::uint64_t each_line(const std::filesystem::path& path,
                        const std::function<bool(std::string_view line)>& each);

}  // namespace sortie
