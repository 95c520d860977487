#include "app/artifacts/leaks.h"

#include <algorithm>
#include <charconv>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kMarker = "[REDACTED:";

/// Lines of one side of a file's diff, as they are in the file, and where they stand in it.
struct Side {
  struct Line {
    std::size_t offset = 0;  ///< in text
    long number = 0;
    bool changed = false;  ///< added or removed
  };
  std::string text;
  std::vector<Line> lines;

  void add(std::string_view line, long number, bool changed) {
    lines.push_back({text.size(), number, changed});
    text.append(line);
    text += '\n';
  }
  const Line& line_at(std::size_t offset) const {
    const auto after =
        std::upper_bound(lines.begin(), lines.end(), offset,
                         [](std::size_t at, const Line& line) { return at < line.offset; });
    return *std::prev(after);
  }
};

/// The numbers of "@@ -1,7 +1,9 @@ …".
struct HunkHeader {
  long old_line = 0;
  long old_count = 1;
  long new_line = 0;
  long new_count = 1;
};

bool read_number(std::string_view& text, long& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool read_span(std::string_view& text, char sign, long& line, long& count) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  if (!read_number(text, line)) return false;
  if (!text.starts_with(',')) return true;
  text.remove_prefix(1);
  return read_number(text, count);
}

std::optional<HunkHeader> read_hunk_header(std::string_view line) {
  HunkHeader header;
  if (!line.starts_with("@@ ")) return std::nullopt;
  line.remove_prefix(3);
  if (!read_span(line, '-', header.old_line, header.old_count)) return std::nullopt;
  if (!line.starts_with(' ')) return std::nullopt;
  line.remove_prefix(1);
  if (!read_span(line, '+', header.new_line, header.new_count)) return std::nullopt;
  return header;
}

/// A name as git quotes it where it is not plain ASCII: C's escapes, octal for bytes. Up to its
/// closing quote.
std::string unquoted(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      name += text[i];
      continue;
    }
    const char escape = text[++i];
    constexpr std::string_view kLetters = "abtnvfr";
    const std::size_t letter = kLetters.find(escape);
    if (letter != std::string_view::npos) {
      name += static_cast<char>('\a' + static_cast<int>(letter));
    } else if (escape >= '0' && escape <= '3' && i + 2 < text.size()) {
      name +=
          static_cast<char>((escape - '0') << 6 | (text[i + 1] - '0') << 3 | (text[i + 2] - '0'));
      i += 2;
    } else {
      name += escape;
    }
  }
  return name;
}

/// Reads a diff line by line and judges a file's part of it at its end.
class DiffReader {
 public:
  DiffReader(const Redactor& redactor,
             const std::function<std::optional<std::string>(const std::string&)>& binary)
      : redactor_(redactor), binary_(binary) {}

  void line(std::string_view text) {
    if (hunk_.old_count > 0 || hunk_.new_count > 0) return in_hunk(text);
    if (text.starts_with("diff --git ")) end_file();
    if (const auto header = read_hunk_header(text)) {
      hunk_ = *header;
      return;
    }
    if (text.starts_with("\\")) return;
    // Base85, which could match a known value only by chance; its content is checked instead.
    if (is_binary_) return;
    head_.append(text);
    head_ += '\n';
    if (text.starts_with("+++ b/"))
      path_ = text.substr(6);
    else if (text.starts_with("--- a/") && path_.empty())
      path_ = text.substr(6);
    else if (text.starts_with("+++ \"b/"))
      path_ = unquoted(text.substr(7));
    else if (text.starts_with("diff --git "))
      path_of_header(text);
    is_binary_ = text == "GIT binary patch";
  }

  std::vector<Leak> finish() {
    end_file();
    return std::move(leaks_);
  }

 private:
  void in_hunk(std::string_view text) {
    const char sign = text.empty() ? ' ' : text.front();
    const std::string_view content = text.substr(std::min<std::size_t>(1, text.size()));
    if (sign == '\\') return;
    if (sign != '+') old_.add(content, hunk_.old_line++, sign == '-');
    if (sign != '+') --hunk_.old_count;
    if (sign == '-') return;
    if (sign == '+' && has_mark(content))
      leaks_.push_back({Leak::Kind::marker, "", place(hunk_.new_line)});
    new_.add(content, hunk_.new_line++, sign == '+');
    --hunk_.new_count;
  }

  bool has_mark(std::string_view line) const {
    for (auto at = line.find(kMarker); at != line.npos; at = line.find(kMarker, at + 1)) {
      const std::string_view name = line.substr(at + kMarker.size());
      if (redactor_.has_name(name.substr(0, name.find(']')))) return true;
    }
    return false;
  }

  /// "diff --git a/X b/X": the only place that names a file whose content is binary.
  void path_of_header(std::string_view text) {
    if (text.ends_with('"')) {
      path_ = unquoted(text.substr(text.find(" \"b/") + 4));
      return;
    }
    const std::string_view names = text.substr(std::string_view("diff --git a/").size());
    const std::size_t half = names.size() < 3 ? 0 : (names.size() - 3) / 2;
    path_ = names.substr(0, half);
    if (names.substr(half) != " b/" + path_) path_ = names.substr(names.rfind(" b/") + 3);
  }

  void end_file() {
    for (const auto& part : redactor_.find_all(head_))
      leaks_.push_back({Leak::Kind::value, part.name, one_line(redactor_.text(path_))});
    judge(new_, old_);
    if (is_binary_ && binary_) {
      if (const auto content = binary_(path_))
        for (const auto& part : redactor_.find_all(*content))
          add({Leak::Kind::value, part.name, one_line(redactor_.text(path_)) + " (binary)", true});
    }
    old_ = {};
    new_ = {};
    head_.clear();
    path_.clear();
    is_binary_ = false;
    hunk_ = {0, 0, 0, 0};
  }

  void judge(const Side& now, const Side& before) {
    const auto values = redactor_.find_all(now.text);
    for (const auto& part : values)
      add({Leak::Kind::value, part.name, place(now.line_at(part.begin).number)});
    for (const auto& part : redactor_.find_all(before.text)) {
      const auto& line = before.line_at(part.begin);
      if (line.changed) add({Leak::Kind::value, part.name, place(line.number) + " (removed)"});
    }
    for (const auto& part : redactor_.find_all(now.text, Audience::tools)) {
      const auto known = [&](const SecretPart& one) {
        return one.begin < part.end && part.begin < one.end;
      };
      const auto& line = now.line_at(part.begin);
      if (line.changed && std::none_of(values.begin(), values.end(), known))
        add({Leak::Kind::shape, part.name, place(line.number)});
    }
  }

  std::string place(long line) const {
    return one_line(redactor_.text(path_)) + ":" + std::to_string(line);
  }

  void add(Leak leak) {
    const auto same = [&](const Leak& one) {
      return one.kind == leak.kind && one.name == leak.name && one.place == leak.place;
    };
    if (leaks_.empty() || !same(leaks_.back())) leaks_.push_back(std::move(leak));
  }

  const Redactor& redactor_;
  const std::function<std::optional<std::string>(const std::string&)>& binary_;
  std::string head_;
  std::string path_;
  Side old_;
  Side new_;
  HunkHeader hunk_{0, 0, 0, 0};
  bool is_binary_ = false;
  std::vector<Leak> leaks_;
};

}  // namespace

std::string Leak::text() const {
  switch (kind) {
    case Kind::value:
      return "the value of " + name + " at " + place;
    case Kind::marker:
      return "the mark of a redacted secret at " + place;
    case Kind::shape:
      return "what looks like a " + name + " at " + place;
  }
  return place;
}

std::vector<Leak> find_leaks(
    const Redactor& redactor, std::string_view diff,
    const std::function<std::optional<std::string>(const std::string& path)>& binary) {
  DiffReader reader(redactor, binary);
  while (!diff.empty()) {  // one by one: a diff has many lines
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    reader.line(diff.substr(0, end));
    diff.remove_prefix(std::min(end + 1, diff.size()));
  }
  return reader.finish();
}

std::string describe_leaks(const std::vector<Leak>& leaks, Leak::Kind kind) {
  std::string text;
  std::size_t count = 0;
  for (const Leak& leak : leaks)
    if (leak.kind == kind && count++ == 0) text = leak.text();
  if (count > 1) text += ", and " + std::to_string(count - 1) + " more";
  return text;
}

}  // namespace sortie
