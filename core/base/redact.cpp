#include "core/base/redact.h"

#include <algorithm>
#include <utility>

namespace sortie {
namespace {

constexpr std::size_t kShortestSecret = 6;

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The base64 characters (RFC 4648 §4) that depend on nothing but the value when `shift` other
/// bytes stand before it in its group of three.
std::string base64_core(std::string_view value, unsigned shift) {
  std::string bytes(shift, '\0');
  bytes.append(value);
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : bytes) {
    bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xFFFF;
    for (count += 8; count >= 6; count -= 6) text += kBase64[bits >> (count - 6) & 63];
  }
  // The shift's own characters, and the one that it shares with the value.
  return text.substr((shift * 8 + 5) / 6);
}

std::string url_alphabet(std::string base64) {
  std::replace(base64.begin(), base64.end(), '+', '-');
  std::replace(base64.begin(), base64.end(), '/', '_');
  return base64;
}

std::string hex(std::string_view value, const char* digits) {
  std::string text;
  for (const char c : value) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

/// Percent-coded (RFC 3986 §2): all but the unreserved characters, and those in `also`.
std::string url_coded(std::string_view value, const char* digits, std::string_view also) {
  std::string text;
  for (const char c : value) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("-._~").find(c) != std::string_view::npos ||
        also.find(c) != std::string_view::npos)
      text += c;
    else
      text += "%" + hex(std::string_view(&c, 1), digits);
  }
  return text;
}

std::string json_escaped(std::string_view value) {
  std::string text;
  write_json_string(value, text);
  return text.substr(1, text.size() - 2);
}

}  // namespace

Redactor::Redactor(std::vector<Secret> secrets) {
  for (auto& secret : secrets) add(std::move(secret));
}

void Redactor::look_for(Kind kind, std::string_view needle, const std::string& name) {
  const std::uint32_t index = searches_[kind].add(needle);
  if (index == names_[kind].size()) names_[kind].push_back(name);
  longest_ = std::max(longest_, needle.size());
}

void Redactor::add(Secret secret) {
  const std::string& value = secret.value;
  if (value.size() < kShortestSecret) return;
  constexpr const char* kLower = "0123456789abcdef";
  constexpr const char* kUpper = "0123456789ABCDEF";
  // What encodeURIComponent(), encodeURI() and form encoding leave as it is.
  constexpr std::string_view kComponent = "!'()*";
  constexpr std::string_view kUri = "!'()*;/?:@&=+$,#";

  look_for(plain, value, secret.name);
  look_for(plain, json_escaped(value), secret.name);
  for (const char* digits : {kLower, kUpper}) {
    for (const auto also : {std::string_view(), std::string_view("/"), kComponent, kUri})
      look_for(plain, url_coded(value, digits, also), secret.name);
    std::string form = url_coded(value, digits, " ");
    std::replace(form.begin(), form.end(), ' ', '+');
    look_for(plain, form, secret.name);
    look_for(coded, hex(value, digits), secret.name);
  }
  for (unsigned shift = 0; shift < 3; ++shift) {
    const std::string core = base64_core(value, shift);
    look_for(coded, core, secret.name);
    look_for(coded, url_alphabet(core), secret.name);
  }
  for (auto& search : searches_) search.build();
}

std::string Redactor::text(std::string_view text) const {
  if (longest_ == 0) return std::string(text);
  StreamRedactor stream(*this);
  stream.find(text);
  return stream.parts_.empty() ? std::move(stream.held_) : stream.finish();
}

std::string Redactor::find(std::string_view text) const {
  if (longest_ == 0) return {};
  StreamRedactor stream(*this);
  stream.find(text);
  return stream.parts_.empty() ? std::string() : *stream.parts_.front().name;
}

Json Redactor::json(const Json& value) const {
  if (longest_ == 0) return value;
  switch (value.type()) {
    case Json::Type::string:
      return Json(text(value.text()));
    case Json::Type::number:
      return find(value.text()).empty() ? value : Json(text(value.text()));
    case Json::Type::array: {
      Json array = Json::array();
      for (const Json& item : value.items()) array.push_back(json(item));
      return array;
    }
    case Json::Type::object: {
      Json object = Json::object();
      for (const auto& [name, member] : value.members())
        object.members().emplace_back(text(name), json(member));
      return object;
    }
    default:
      return value;
  }
}

std::string StreamRedactor::feed(std::string_view chunk) {
  if (redactor_.longest() == 0) return std::string(chunk);
  find(chunk);
  return release(settled());
}

std::string StreamRedactor::finish() {
  std::string rest = release(held_.size());
  for (auto& position : positions_) position = {};
  return rest;
}

void StreamRedactor::find(std::string_view chunk) {
  const std::size_t offset = held_.size();
  held_.append(chunk);
  search(Redactor::plain, chunk, offset);
  search(Redactor::coded, chunk, offset);
}

void StreamRedactor::search(Redactor::Kind kind, std::string_view chunk, std::size_t offset) {
  const NeedleSearch& needles = redactor_.searches_[kind];
  std::vector<NeedleSearch::Hit> hits;
  needles.scan(chunk, positions_[kind], hits);
  for (const auto& hit : hits) {
    const std::size_t length = needles.length(hit.needle);
    const std::size_t end = offset + hit.end;
    add_part({before(end, length, kind), end, length, &redactor_.names_[kind][hit.needle]});
  }
}

/// Parts that overlap become one: what stands in two secrets must not be seen because the other
/// one was replaced.
void StreamRedactor::add_part(Part part) {
  auto first = parts_.end();
  while (first != parts_.begin() && std::prev(first)->end > part.begin) --first;
  auto last = first;
  for (; last != parts_.end() && last->begin < part.end; ++last) {
    if (last->needle_length >= part.needle_length) {
      part.needle_length = last->needle_length;
      part.name = last->name;
    }
    part.begin = std::min(part.begin, last->begin);
    part.end = std::max(part.end, last->end);
  }
  parts_.insert(parts_.erase(first, last), part);
}

/// The offset in held_ that is `bytes` before `end`, where the search's line breaks don't count.
std::size_t StreamRedactor::before(std::size_t end, std::size_t bytes, Redactor::Kind kind) const {
  if (kind == Redactor::plain) return end - std::min(end, bytes);
  while (end > 0 && bytes > 0) {
    --end;
    if (held_[end] != '\n' && held_[end] != '\r') --bytes;
  }
  return end;
}

/// Up to where nothing that is still to come can change what is to be shown.
std::size_t StreamRedactor::settled() const {
  std::size_t end = held_.size();
  for (const auto kind : {Redactor::plain, Redactor::coded}) {
    const std::size_t open = redactor_.searches_[kind].open_bytes(positions_[kind]);
    if (open > 0) end = std::min(end, before(held_.size(), open, kind));
  }
  return end;
}

/// Takes out what stands before `end`, secrets replaced. A part that reaches beyond it may still
/// grow: it stays, without the bytes before `end`, which nobody needs any more.
std::string StreamRedactor::release(std::size_t end) {
  std::string shown;
  std::size_t at = 0;
  std::vector<Part> open;
  for (const Part& part : parts_) {
    if (part.begin < end) shown.append(held_, at, part.begin - at);
    if (part.end <= end) {
      shown += "[REDACTED:" + *part.name + "]";
      at = part.end;
    } else {
      Part moved = part;
      if (part.begin < end) at = end;
      moved.begin = part.begin > end ? part.begin - end : 0;
      moved.end = part.end - end;
      open.push_back(moved);
    }
  }
  if (at < end) shown.append(held_, at, end - at);
  held_.erase(0, end);
  parts_ = std::move(open);
  return shown;
}

}  // namespace sortie
