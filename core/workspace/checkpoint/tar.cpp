#include "core/workspace/checkpoint/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace sortie {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A header block's fields, by their places (POSIX: ustar).
struct Field {
  std::size_t at;
  std::size_t size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kType{156, 1}, kTarget{157, 100}, kMagic{257, 8};

void put(std::string& block, Field field, std::string_view text) {
  std::memcpy(block.data() + field.at, text.data(), std::min(field.size, text.size()));
}

void put_octal(std::string& block, Field field, std::uint64_t number) {
  std::string digits(field.size - 1, '0');
  for (std::size_t i = digits.size(); i-- > 0; number /= 8)
    digits[i] = static_cast<char>('0' + number % 8);
  put(block, field, digits);
}

std::string_view text_in(std::string_view block, Field field) {
  const std::string_view text = block.substr(field.at, field.size);
  return text.substr(0, std::min(text.find('\0'), text.size()));
}

std::optional<std::uint64_t> octal_in(std::string_view block, Field field) {
  const std::string_view text = text_in(block, field);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t sum_of(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool in_sum = i >= kSum.at && i < kSum.at + kSum.size;
    sum += in_sum ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

std::string header_block(std::string_view name, char type, unsigned mode, std::uint64_t size,
                         std::int64_t seconds, std::string_view target) {
  std::string block(kTarBlock, '\0');
  put(block, kName, name);
  put_octal(block, kMode, mode & 07777u);
  put_octal(block, kUser, 0);
  put_octal(block, kGroup, 0);
  constexpr std::uint64_t kMostPlain = 0'77777777777;
  put_octal(block, kSize, std::min(size, kMostPlain));
  put_octal(block, kTime, seconds < 0 ? 0 : static_cast<std::uint64_t>(seconds));
  put(block, kType, std::string_view(&type, 1));
  put(block, kTarget, target);
  put(block, kMagic, std::string_view("ustar\00000", 8));
  put_octal(block, kSum, sum_of(block));
  return block;
}

/// "LENGTH KEY=VALUE\n", where the length counts itself.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return std::to_string(length) + ' ' + std::string(key) + '=' + std::string(value) + '\n';
}

/// Takes the records of a pax header into the entry that follows it.
bool take_pax(std::string_view text, TarEntry& entry) {
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || length > text.size() || length < digits + 3) return false;
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    const char* const last = value.data() + value.size();
    if (key == "path") entry.name = value;
    if (key == "linkpath") entry.target = value;
    if (key == "size") std::from_chars(value.data(), last, entry.size);
    if (key == "mtime") {
      std::int64_t seconds = 0;
      std::int64_t fraction = 0;
      const char* const point = std::from_chars(value.data(), last, seconds).ptr;
      if (point != last) std::from_chars(point + 1, last, fraction);
      if (fraction < 0 || fraction >= kSecond) return false;
      constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / kSecond - 1;
      entry.mtime = std::clamp(seconds, -kMost, kMost) * kSecond + fraction;
    }
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::string tar_header(const TarEntry& entry) {
  std::int64_t seconds = entry.mtime / kSecond;
  std::string fraction = std::to_string(entry.mtime % kSecond + kSecond).substr(1);
  if (entry.mtime < 0) {  // before 1970: nobody needs its part of a second
    seconds = 0;
    fraction = std::string(9, '0');
  }
  std::string pax = pax_record("mtime", std::to_string(seconds) + '.' + fraction);
  if (entry.name.size() > kName.size) pax += pax_record("path", entry.name);
  if (entry.target.size() > kTarget.size) pax += pax_record("linkpath", entry.target);
  if (entry.size >= 1ull << 33) pax += pax_record("size", std::to_string(entry.size));
  return header_block("PaxHeaders/sortie", 'x', 0600, pax.size(), seconds, "") + pax +
         tar_padding(pax.size()) +
         header_block(entry.name, entry.is_link ? '2' : '0', entry.mode, entry.size, seconds,
                      entry.target);
}

std::string tar_padding(std::uint64_t size) {
  return std::string((kTarBlock - size % kTarBlock) % kTarBlock, '\0');
}

std::string tar_end() { return std::string(2 * kTarBlock, '\0'); }

std::optional<TarMember> TarReader::next() {
  std::size_t at = offset_;
  bool has_pax = false;
  TarEntry extended;
  for (;;) {
    if (archive_.size() - at < kTarBlock) return std::nullopt;
    const std::string_view block = archive_.substr(at, kTarBlock);
    const auto sum = octal_in(block, kSum);
    const auto size = octal_in(block, kSize);
    const auto mode = octal_in(block, kMode);
    if (!sum || !size || !mode || *sum != sum_of(block)) return std::nullopt;
    const char type = block[kType.at];
    TarEntry entry{.name = std::string(text_in(block, kName)),
                   .is_link = type == '2',
                   .mode = static_cast<unsigned>(*mode),
                   .size = *size,
                   .target = std::string(text_in(block, kTarget))};
    if (has_pax) {
      if (!extended.name.empty()) entry.name = extended.name;
      if (!extended.target.empty()) entry.target = extended.target;
      if (extended.size > 0) entry.size = extended.size;
      entry.mtime = extended.mtime;
    }
    at += kTarBlock;
    if (archive_.size() - at < entry.size) return std::nullopt;
    const std::string_view content = archive_.substr(at, entry.size);
    at += std::min(entry.size + tar_padding(entry.size).size(), archive_.size() - at);
    if (type == 'x') {
      if (has_pax || !take_pax(content, extended)) return std::nullopt;
      has_pax = true;
      continue;
    }
    if (type != '0' && type != '2') return std::nullopt;
    offset_ = at;
    return TarMember{std::move(entry), content};
  }
}

}  // namespace sortie
