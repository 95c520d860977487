#include "core/secrets/redact.h"

#include <algorithm>
#include <utility>

#include "core/secrets/token_formats.h"

namespace sortie {
namespace {

/// Known secrets have more weight than patterns, and these than token formats: their names say
/// more.
constexpr std::size_t kPatternWeight = 1;
constexpr std::size_t kShapeWeight = 0;
/// Of a text that most likely has no secret: copied, it stays in the processor's cache.
constexpr std::size_t kPartBytes = 64u << 10;

/// The prefixes of token_shapes(); a needle's index is its row.
const NeedleSearch& prefixes() {
  static const NeedleSearch search = [] {
    NeedleSearch made;
    for (const TokenFormat& shape : token_shapes()) made.add(shape.prefix);
    made.build();
    return made;
  }();
  return search;
}

}  // namespace

Redactor::Redactor(const std::vector<Secret>& secrets) { add_all(secrets); }

Redactor::Needles Redactor::needles() const {
  const std::lock_guard lock(mutex_);
  return needles_;
}

/// Makes changed needles from the current ones; only other writers wait for it.
template <typename Change>
void Redactor::change(Change make) {
  const std::lock_guard writer(writers_);
  auto next = std::make_shared<SecretNeedles>(*needles());
  make(*next);
  next->build();
  {
    const std::lock_guard lock(mutex_);
    needles_ = std::move(next);
  }
  // After the needles: a reader of this version gets these needles, or later ones.
  version_.fetch_add(1, std::memory_order_release);
}

void Redactor::add_all(const std::vector<Secret>& secrets) {
  const auto is_looked_for = [](const Secret& secret) {
    return secret.value.size() >= kShortestSecret;
  };
  if (std::none_of(secrets.begin(), secrets.end(), is_looked_for)) return;
  change([&](SecretNeedles& needles) {
    for (const Secret& secret : secrets)
      if (is_looked_for(secret)) needles.add(secret.name, secret.value);
  });
}

void Redactor::add_pattern(std::string name, std::string_view expression) {
  auto shape = std::make_shared<const LineShape>(
      LineShape{std::move(name), Pattern::line_expression(expression), 0});
  change([&](SecretNeedles& needles) { needles.patterns.push_back(std::move(shape)); });
}

std::string Redactor::text(std::string text, Audience audience) const {
  const Needles needles = this->needles();
  if (audience == Audience::record && is_clean_text(text, *needles)) return text;
  return StreamRedactor(*this, needles, audience).whole(std::move(text));
}

/// Whether a text for the record contains no known value, without copying it. Patterns are not
/// searched: if there are any, no text counts as clean.
bool Redactor::is_clean_text(std::string_view text, const SecretNeedles& needles) {
  if (!needles.patterns.empty()) return false;
  return needles.search.empty() || !needles.search.finds_any(text);
}

bool Redactor::is_clean(const Json& value, const SecretNeedles& needles) {
  const auto clean = [&](const Json& part) { return is_clean(part, needles); };
  return is_clean_text(value.text(), needles) &&
         std::all_of(value.items().begin(), value.items().end(), clean) &&
         std::all_of(value.members().begin(), value.members().end(), [&](const auto& member) {
           return is_clean_text(member.first, needles) && clean(member.second);
         });
}

std::string Redactor::find(std::string_view text, Audience audience) const {
  const auto parts = find_all(text, audience);
  return parts.empty() ? std::string() : parts.front().name;
}

bool Redactor::has_name(std::string_view name) const {
  const Needles needles = this->needles();
  const auto& names = needles->names;
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  const auto is_named = [&](const auto& shape) { return shape.name == name; };
  const auto is_pattern = [&](const auto& pattern) { return pattern->name == name; };
  return std::any_of(needles->patterns.begin(), needles->patterns.end(), is_pattern) ||
         std::any_of(token_shapes().begin(), token_shapes().end(), is_named) ||
         std::any_of(loose_shapes().begin(), loose_shapes().end(), is_named);
}

std::vector<SecretPart> Redactor::find_all(std::string_view text, Audience audience) const {
  std::vector<SecretPart> found;
  StreamRedactor stream(*this, needles(), audience);
  if (audience == Audience::record && is_clean_text(text, *stream.needles_)) return found;
  if (text.size() > kPartBytes && !StreamRedactor(*this, stream.needles_, audience).finds_any(text))
    return found;
  stream.find(text);
  stream.find_rest();
  for (const auto& part : stream.parts_) found.push_back({part.begin, part.end, part.name});
  return found;
}

Json Redactor::json(const Json& value, Audience audience) const {
  const Needles needles = this->needles();
  if (audience == Audience::record && needles->empty()) return value;
  return json(value, audience, needles);
}

std::optional<Json> Redactor::changed(const Json& value) const {
  const Needles needles = this->needles();
  if (is_clean(value, *needles)) return {};
  return json(value, Audience::record, needles);
}

Json Redactor::json(const Json& value, Audience audience, const Needles& needles) const {
  const auto redacted = [&](const std::string& text) {
    return StreamRedactor(*this, needles, audience).whole(text);
  };
  switch (value.type()) {
    case Json::Type::string:
      return Json(redacted(value.text()));
    case Json::Type::number: {
      // A number that looks like a token is still a number.
      std::string text = StreamRedactor(*this, needles, Audience::record).whole(value.text());
      return text == value.text() ? value : Json(std::move(text));
    }
    case Json::Type::array: {
      Json array = Json::array();
      for (const Json& item : value.items()) array.push_back(json(item, audience, needles));
      return array;
    }
    case Json::Type::object: {
      Json object = Json::object();
      for (const auto& [name, member] : value.members())
        object.members().emplace_back(redacted(name), json(member, audience, needles));
      return object;
    }
    default:
      return value;
  }
}

StreamRedactor::StreamRedactor(const Redactor& redactor, Audience audience)
    : redactor_(redactor),
      audience_(audience),
      // Before the needles: at worst they are reloaded once for nothing.
      version_(redactor.version_.load(std::memory_order_acquire)) {
  needles_ = redactor.needles();
}

/// Redacts a whole text.
std::string StreamRedactor::whole(std::string text) {
  if (looks_for_nothing()) return text;
  held_ = std::move(text);
  find_in(held_, 0);
  find_rest();
  return parts_.empty() ? std::move(held_) : release(held_.size());
}

/// Whether there is something to redact in a whole text, of which only a part is held at a time.
bool StreamRedactor::finds_any(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kPartBytes))) {
    find(text.substr(0, kPartBytes));
    if (!parts_.empty()) return true;
    release(settled());
  }
  find_rest();
  return !parts_.empty();
}

/// Continues with needles added meanwhile; the held-back text is searched again.
void StreamRedactor::renew() {
  const std::uint64_t version = redactor_.version_.load(std::memory_order_acquire);
  if (version == version_) return;
  version_ = version;
  if (parts_.empty()) earlier_.clear();
  earlier_.push_back(std::move(needles_));
  needles_ = redactor_.needles();
  restart();
  search_needles(false);
}

std::string StreamRedactor::feed(std::string_view chunk) {
  renew();
  paused_ = paused_ && chunk.empty();
  if (looks_for_nothing()) return std::string(chunk);
  find(chunk);
  return release(settled());
}

std::string StreamRedactor::pause() {
  renew();
  StreamRedactor ended = *this;
  ended.find_rest();
  std::size_t end = begin_of_open(kShownOfSecret);
  const bool nothing_comes = std::exchange(paused_, true);
  for (const Candidate& candidate : candidates_) {
    const std::size_t prefix = prefixes().length(candidate.row);
    if (!nothing_comes && held_.size() - candidate.begin > prefix + kShownOfSecret)
      end = std::min(end, candidate.begin);
  }
  for (const Part& part : ended.parts_)
    if (part.begin < end && part.end > end) end = part.begin;
  std::string shown;
  if (end > shown_) shown = ended.redacted(shown_, end);
  shown_ = std::max(shown_, end);
  return shown + release(settled());
}

std::string StreamRedactor::finish() {
  renew();
  find_rest();
  std::string rest = release(held_.size());
  shown_ = 0;
  restart();
  prefix_position_ = {};
  gone_.clear();
  return rest;
}

void StreamRedactor::find(std::string_view chunk) {
  const std::size_t offset = held_.size();
  held_.append(chunk);
  find_in(chunk, offset);
}

void StreamRedactor::find_in(std::string_view chunk, std::size_t offset) {
  search_needles(false);
  if (audience_ != Audience::record) {
    search_prefixes(chunk, offset);
    judge_candidates(false);
  }
  if (looks_at_lines()) search_lines(offset);
}

/// Finishes the searches at the stream's end.
void StreamRedactor::find_rest() {
  search_needles(true);
  judge_candidates(true);
  if (looks_at_lines()) search_last_line();
  join_parts();
}

void StreamRedactor::restart() {
  position_ = {};
  position_.walks.front().at = base_;
}

/// Continues the search in held_.
void StreamRedactor::search_needles(bool ended) {
  const CodedSearch& search = needles_->search;
  if (search.empty()) return;
  std::vector<CodedSearch::Hit> hits;
  search.scan(held_, base_, ended, position_, hits);
  for (const auto& hit : hits)
    add_part({hit.begin - base_, hit.end - base_, kPatternWeight + search.length(hit.needle),
              needles_->names[hit.needle].c_str()});
}

void StreamRedactor::search_prefixes(std::string_view chunk, std::size_t offset) {
  std::vector<NeedleSearch::Hit> hits;
  prefixes().scan(chunk, prefix_position_, hits);
  for (const auto& hit : hits) {
    const std::size_t begin = offset + hit.end - prefixes().length(hit.needle);
    if (token_shapes()[hit.needle].at_border && !at_border(begin)) continue;
    const Candidate candidate{begin, hit.needle};
    const auto after = [](const Candidate& one, const Candidate& other) {
      return one.begin < other.begin;
    };
    candidates_.insert(std::upper_bound(candidates_.begin(), candidates_.end(), candidate, after),
                       candidate);
  }
}

bool StreamRedactor::at_border(std::size_t begin) const {
  if (begin >= kBorderContext)
    return follows_border(std::string_view(held_).substr(begin - kBorderContext, kBorderContext));
  const std::string context = gone_ + held_.substr(0, begin);
  const std::size_t size = std::min(context.size(), kBorderContext);
  return follows_border(std::string_view(context).substr(context.size() - size));
}

void StreamRedactor::judge_candidates(bool ended) {
  if (candidates_.empty()) return;
  judged_.resize(token_shapes().size());
  std::vector<bool> waits(token_shapes().size());
  std::vector<Candidate> open;
  for (const Candidate& candidate : candidates_) {
    if (candidate.begin < judged_[candidate.row]) continue;
    // An earlier candidate of the row decides whether this one is checked.
    if (waits[candidate.row]) {
      open.push_back(candidate);
      continue;
    }
    const TokenFormat& shape = token_shapes()[candidate.row];
    const ShapeVerdict verdict =
        judge_shape(shape, std::string_view(held_).substr(candidate.begin), ended);
    if (verdict.kind == ShapeVerdict::Kind::more) {
      waits[candidate.row] = true;
      open.push_back(candidate);
      continue;
    }
    const std::size_t end = candidate.begin + verdict.bytes;
    judged_[candidate.row] = end;
    if (verdict.kind == ShapeVerdict::Kind::hit)
      add_part({candidate.begin, end, kShapeWeight, shape.name});
  }
  candidates_ = std::move(open);
}

bool StreamRedactor::looks_at_lines() const {
  return !needles_->patterns.empty() || audience_ == Audience::people;
}

/// Searches complete lines at once, and a very long line in overlapping windows.
/// @param offset  of the last chunk: all lines that end before it are searched already
void StreamRedactor::search_lines(std::size_t offset) {
  const std::size_t newline = std::string_view(held_).substr(offset).rfind('\n');
  if (newline != std::string_view::npos) {
    search_window(line_, offset + newline, offset + newline);
    line_ = offset + newline + 1;
  }
  while (held_.size() - line_ >= Redactor::kLongestLine) {
    const std::size_t end = line_ + Redactor::kLongestLine;
    const std::size_t accepted = end - Redactor::kLongestMatch;
    search_window(line_, end, accepted);
    line_ = accepted;
  }
}

void StreamRedactor::search_last_line() {
  search_window(line_, held_.size(), held_.size());
  line_ = held_.size();
}

/// @param accepted  a match that begins at or after it belongs to the next window
void StreamRedactor::search_window(std::size_t begin, std::size_t end, std::size_t accepted) {
  const std::string_view text = std::string_view(held_).substr(begin, end - begin);
  const auto look_for = [&](const LineShape& shape, std::size_t weight) {
    for (std::size_t at = 0; at <= text.size();) {
      const auto match = shape.pattern.find_group(text, at, shape.group);
      if (!match || begin + match->begin > accepted) return;
      if (match->group_end > match->group_begin)
        add_part(
            {begin + match->group_begin, begin + match->group_end, weight, shape.name.c_str()});
      at = std::max(match->end, match->begin + 1);
    }
  };
  for (const auto& shape : needles_->patterns) look_for(*shape, kPatternWeight);
  if (audience_ != Audience::people) return;
  for (const LineShape& shape : loose_shapes()) look_for(shape, kShapeWeight);
}

/// Merges overlapping parts, so that no rest of one secret is left when the other is replaced.
void StreamRedactor::join_parts() {
  const auto before = [](const Part& one, const Part& other) { return one.begin < other.begin; };
  std::stable_sort(parts_.begin(), parts_.end(), before);
  std::size_t kept = 0;
  for (const Part& part : parts_) {
    if (kept == 0 || parts_[kept - 1].end <= part.begin) {
      parts_[kept++] = part;
      continue;
    }
    Part& last = parts_[kept - 1];
    last.end = std::max(last.end, part.end);
    if (part.weight > last.weight) {
      last.weight = part.weight;
      last.name = part.name;
    }
  }
  parts_.resize(kept);
}

/// Where an open known value begins of which more than `allowed` characters were read.
std::size_t StreamRedactor::begin_of_open(std::size_t allowed) const {
  if (needles_->search.empty()) return held_.size();
  return needles_->search.begin_of_open(position_, allowed, base_ + held_.size()) - base_;
}

/// The offset up to which later text can't change the result.
std::size_t StreamRedactor::settled() const {
  std::size_t end = begin_of_open(0);
  if (audience_ != Audience::record)
    end = std::min(end,
                   held_.size() - std::min(held_.size(), prefixes().open_bytes(prefix_position_)));
  if (!candidates_.empty()) end = std::min(end, candidates_.front().begin);
  if (looks_at_lines()) end = std::min(end, line_);
  return end;
}

/// The text from `at` to `end` with its parts replaced; a part that reaches beyond `end` is left
/// out. After join_parts().
std::string StreamRedactor::redacted(std::size_t at, std::size_t end) const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.begin >= end) break;
    if (part.end <= at) continue;
    if (part.begin > at) text.append(held_, at, part.begin - at);
    if (part.end > end) return text;
    text += "[REDACTED:" + std::string(part.name) + "]";
    at = part.end;
  }
  if (at < end) text.append(held_, at, end - at);
  return text;
}

/// Removes and returns the text before `end`, secrets replaced. A part that reaches beyond it may
/// still grow: it stays, without its bytes before `end`.
std::string StreamRedactor::release(std::size_t end) {
  if (end == 0) return {};
  join_parts();
  std::string shown = redacted(shown_, end);
  std::vector<Part> open;
  for (const Part& part : parts_) {
    if (part.end <= end) continue;
    Part moved = part;
    moved.begin = part.begin > end ? part.begin - end : 0;
    moved.end = part.end - end;
    open.push_back(moved);
  }
  shown_ -= std::min(shown_, end);
  if (audience_ != Audience::record && end > 0) {
    gone_.append(held_, end - std::min(end, kBorderContext), std::min(end, kBorderContext));
    gone_.erase(0, gone_.size() - std::min(gone_.size(), kBorderContext));
  }
  held_.erase(0, end);
  base_ += end;
  parts_ = std::move(open);
  for (Candidate& candidate : candidates_) candidate.begin -= end;
  for (std::size_t& judged : judged_) judged -= std::min(judged, end);
  line_ -= std::min(line_, end);
  return shown;
}

}  // namespace sortie
