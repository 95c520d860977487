#include "core/workspace/diff/changed_lines.h"

#include <git2.h>

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "core/git/git_repository.h"

namespace sortie {
namespace {

/// Two stretches of the texts, and the numbers of their first lines.
struct Gap {
  std::string_view before;
  std::size_t old_line = 0;
  std::string_view after;
  std::size_t new_line = 0;
};

/// Removes the last line.
std::string_view drop_line(std::string_view& text) {
  auto begin = text.size() < 2 ? text.npos : text.rfind('\n', text.size() - 2);
  begin = begin == text.npos ? 0 : begin + 1;
  const std::string_view line = text.substr(begin);
  text.remove_suffix(line.size());
  return line;
}

/// Removes the common lines at both ends.
void trim(Gap& gap) {
  const auto differs =
      std::mismatch(gap.before.begin(), gap.before.end(), gap.after.begin(), gap.after.end()).first;
  auto same = static_cast<std::size_t>(differs - gap.before.begin());
  if (same < std::max(gap.before.size(), gap.after.size()))
    same = same == 0 ? 0 : gap.before.rfind('\n', same - 1) + 1;  // npos + 1 is 0
  const std::size_t lines = count_text_lines(gap.before.substr(0, same));
  gap = {gap.before.substr(same), gap.old_line + lines, gap.after.substr(same),
         gap.new_line + lines};
  while (!gap.before.empty() && !gap.after.empty()) {
    std::string_view one = gap.before;
    std::string_view other = gap.after;
    if (drop_line(one) != drop_line(other)) break;
    gap.before = one;
    gap.after = other;
  }
}

/// FNV-1a: the same on each machine, so that the same texts give the same diff.
std::uint64_t hash_of(std::string_view line) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash ^ hash >> 32;
}

/// A line of the sample.
struct Sampled {
  std::uint64_t hash = 0;
  std::uint32_t line = 0;
  std::uint32_t offset = 0;
};

constexpr std::size_t kUsualSample = 64u << 10;
constexpr std::size_t kLargestSample = 4 * kUsualSample;

/// Sorted by hash; nothing if there are too many: their hashes were chosen for that.
std::optional<std::vector<Sampled>> sample_of(std::string_view text, std::size_t one_in) {
  std::vector<Sampled> sample;
  std::uint32_t line = 0;
  for (std::string_view rest = text; !rest.empty(); ++line) {
    const auto offset = static_cast<std::uint32_t>(text.size() - rest.size());
    const std::uint64_t hash = hash_of(take_text_line(rest));
    if (hash % one_in != 0) continue;
    if (sample.size() == kLargestSample) return std::nullopt;
    sample.push_back({hash, line, offset});
  }
  std::sort(sample.begin(), sample.end(), [](const Sampled& a, const Sampled& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.line < b.line;
  });
  return sample;
}

/// A line that both texts have exactly once.
struct Anchor {
  Sampled old_line;
  Sampled new_line;
};

struct Anchors {
  std::vector<Anchor> in_order{};  ///< in both texts
  bool has_common = false;         ///< the samples have lines in common, once or more often
};

/// The end of the lines with the same hash.
std::size_t end_of_same(const std::vector<Sampled>& sample, std::size_t begin) {
  std::size_t end = begin;
  while (end < sample.size() && sample[end].hash == sample[begin].hash) ++end;
  return end;
}

/// The longest sequence that is in order in both texts (patience sorting).
std::vector<Anchor> longest_in_order(std::vector<Anchor> anchors) {
  std::sort(anchors.begin(), anchors.end(),
            [](const Anchor& a, const Anchor& b) { return a.old_line.line < b.old_line.line; });
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> tops;  // the last anchor of the best sequence of each length
  std::vector<std::uint32_t> earlier(anchors.size(), kNone);
  for (std::uint32_t i = 0; i < anchors.size(); ++i) {
    const auto place = std::lower_bound(
        tops.begin(), tops.end(), anchors[i].new_line.line,
        [&](std::uint32_t top, std::uint32_t line) { return anchors[top].new_line.line < line; });
    if (place != tops.begin()) earlier[i] = *std::prev(place);
    if (place == tops.end())
      tops.push_back(i);
    else
      *place = i;
  }
  std::vector<Anchor> sequence(tops.size());
  std::uint32_t at = tops.empty() ? kNone : tops.back();
  for (std::size_t i = tops.size(); i > 0; --i, at = earlier[at]) sequence[i - 1] = anchors[at];
  return sequence;
}

Anchors find_anchors(const Gap& gap, std::size_t lines) {
  const std::size_t one_in = lines / 2 / kUsualSample + 1;
  auto old_sample = sample_of(gap.before, one_in);
  auto new_sample = sample_of(gap.after, one_in);
  if (!old_sample || !new_sample) return {};
  Anchors found;
  std::vector<Anchor> anchors;
  for (std::size_t i = 0, j = 0; i < old_sample->size() && j < new_sample->size();) {
    const Sampled& one = (*old_sample)[i];
    const Sampled& other = (*new_sample)[j];
    const std::size_t end = end_of_same(*old_sample, i);
    const std::size_t other_end = end_of_same(*new_sample, j);
    found.has_common = found.has_common || one.hash == other.hash;
    if (one.hash == other.hash && end == i + 1 && other_end == j + 1)
      anchors.push_back({one, other});
    if (one.hash <= other.hash) i = end;
    if (other.hash <= one.hash) j = other_end;
  }
  old_sample.reset();
  new_sample.reset();
  found.in_order = longest_in_order(std::move(anchors));
  return found;
}

/// Collects the changes of one gap after the other.
class ChangeFinder {
 public:
  explicit ChangeFinder(std::size_t most_lines) : most_lines_(most_lines) {}

  void look_at(Gap gap, int depth = 0) {
    trim(gap);
    if (gap.before.empty() && gap.after.empty()) return;
    const std::size_t removed = count_text_lines(gap.before);
    const std::size_t added = count_text_lines(gap.after);
    const std::size_t lines = removed + added;
    const bool whole = removed == 0 || added == 0;
    if (!whole && lines <= most_lines_) return compare(gap);
    if (!whole && depth < kDeepest) {
      const Anchors anchors = find_anchors(gap, lines);
      if (!anchors.in_order.empty()) return cut(gap, anchors.in_order, depth);
      if (anchors.has_common && lines <= 5 * most_lines_) return compare(gap);
    }
    const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
    changes_.add({number(gap.old_line), number(removed), number(gap.new_line), number(added)});
  }

  PackedChanges take() { return std::move(changes_); }

 private:
  static constexpr int kDeepest = 8;

  /// Each part begins with a line that is common, and is trimmed of it.
  void cut(const Gap& gap, const std::vector<Anchor>& anchors, int depth) {
    Sampled old_at;
    Sampled new_at;
    const auto part = [&](const Sampled& old_end, const Sampled& new_end) {
      look_at({gap.before.substr(old_at.offset, old_end.offset - old_at.offset),
               gap.old_line + old_at.line,
               gap.after.substr(new_at.offset, new_end.offset - new_at.offset),
               gap.new_line + new_at.line},
              depth + 1);
    };
    for (const auto& [old_line, new_line] : anchors) {
      part(old_line, new_line);
      old_at = old_line;
      new_at = new_line;
    }
    constexpr std::uint32_t kEnd = UINT32_MAX;
    part({0, 0, kEnd}, {0, 0, kEnd});
  }

  /// Lets libgit2 compare the lines.
  void compare(const Gap& gap) {
    start_libgit2();
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_FORCE_TEXT;
    options.context_lines = 0;
    std::pair<const Gap&, PackedChanges&> target{gap, changes_};
    // Nothing is thrown through libgit2: in the program without shared libraries it has no tables
    // for that.
    const auto take_hunk = [](const git_diff_delta*, const git_diff_hunk* hunk,
                              void* payload) noexcept {
      const auto& [from, changes] = *static_cast<decltype(target)*>(payload);
      // No lines are named by the one before them.
      const auto first = [](std::size_t line, int start, int count) {
        return static_cast<std::uint32_t>(line + static_cast<std::size_t>(start) -
                                          (count == 0 ? 0 : 1));
      };
      try {
        changes.add({first(from.old_line, hunk->old_start, hunk->old_lines),
                     static_cast<std::uint32_t>(hunk->old_lines),
                     first(from.new_line, hunk->new_start, hunk->new_lines),
                     static_cast<std::uint32_t>(hunk->new_lines)});
        return 0;
      } catch (const std::bad_alloc&) {
        return static_cast<int>(GIT_EUSER);
      }
    };
    check_git(git_diff_buffers(gap.before.data(), gap.before.size(), nullptr, gap.after.data(),
                               gap.after.size(), nullptr, &options, nullptr, nullptr, take_hunk,
                               nullptr, &target),
              "diff");
  }

  std::size_t most_lines_;
  PackedChanges changes_;
};

std::uint32_t old_end(const ChangedLines& change) { return change.old_line + change.old_count; }

std::uint32_t new_end(const ChangedLines& change) { return change.new_line + change.new_count; }

}  // namespace

void PackedChanges::add(const ChangedLines& change) {
  put(change.old_line - old_end(last_));
  put(change.old_count);
  put(change.new_count);
  last_ = change;
}

/// Seven bits a byte, the lowest first; the eighth says that more follow.
void PackedChanges::put(std::uint32_t number) {
  for (; number >= 0x80; number >>= 7) bytes_ += static_cast<char>(number | 0x80);
  bytes_ += static_cast<char>(number);
}

std::optional<ChangedLines> PackedChanges::Reader::next() {
  if (bytes_.empty()) return std::nullopt;
  const std::uint32_t between = take_number();
  ChangedLines change;
  change.old_line = old_end(last_) + between;
  change.old_count = take_number();
  change.new_line = new_end(last_) + between;
  change.new_count = take_number();
  return last_ = change;
}

std::uint32_t PackedChanges::Reader::take_number() {
  std::uint32_t number = 0;
  for (unsigned shift = 0; !bytes_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    number |= (byte & 0x7fu) << shift;
    if (byte < 0x80) break;
  }
  return number;
}

std::size_t count_text_lines(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.back() == '\n' ? 0 : 1);
}

std::string_view take_text_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end == text.npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

PackedChanges changed_lines(std::string_view before, std::string_view after,
                            std::size_t most_lines) {
  ChangeFinder finder(most_lines);
  finder.look_at({before, 0, after, 0});
  return finder.take();
}

}  // namespace sortie
