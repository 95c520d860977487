#include "app/artifacts/leaks.h"

#include <algorithm>

#include "app/artifacts/diff_sides.h"
#include "core/text/git_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kMarker = "[REDACTED:";

/// A name as git quotes it where it is not plain ASCII. Up to its closing quote.
std::string unquoted(std::string_view quoted) {
  return take_git_quoted(quoted).value_or(std::string(quoted));
}

/// "b/name" as "name".
std::string without_letter(const std::string& name) {
  return name.substr(std::min<std::size_t>(2, name.size()));
}

/// Reads a diff line by line and judges each file's part of it at its end.
class DiffReader {
 public:
  DiffReader(const Redactor& redactor,
             const std::function<std::optional<std::string>(const std::string&)>& binary,
             const ReadOn& read_on)
      : redactor_(redactor), binary_(binary), read_on_(read_on) {}

  std::vector<Leak> read(std::string_view diff) {
    std::string_view rest = diff;
    std::size_t part = 0;
    std::size_t noted = 0;
    while (!rest.empty()) {  // one by one: a diff has many lines
      const std::size_t begin = diff.size() - rest.size();
      if (begin - noted >= kReadOnBytes) {
        if (read_on_) read_on_();
        noted = begin;
      }
      const std::string_view text = take_diff_line(rest);
      if (!hunks_.inside() && text.starts_with("diff --git ")) {
        end_file(diff.substr(part, begin - part));
        part = begin;
      }
      line(text);
    }
    end_file(diff.substr(part));
    return std::move(leaks_);
  }

 private:
  void line(std::string_view text) {
    if (hunks_.inside()) return in_hunk(text);
    if (hunks_.begin(text)) return;
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
      path_ = without_letter(unquoted(text.substr(4)));
    else if (text.starts_with("diff --git "))
      path_of_header(text);
    is_binary_ = text == "GIT binary patch";
  }

  void in_hunk(std::string_view text) {
    const auto line = hunks_.take(text);
    if (line && line->sign == '+' && has_mark(line->content))
      leaks_.push_back({Leak::Kind::marker, "", place(line->new_number)});
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
      path_ = without_letter(unquoted(text.substr(text.find(" \"b/") + 1)));
      return;
    }
    const std::string_view names = text.substr(std::string_view("diff --git a/").size());
    const std::size_t half = names.size() < 3 ? 0 : (names.size() - 3) / 2;
    path_ = names.substr(0, half);
    if (names.substr(half) != " b/" + path_) path_ = names.substr(names.rfind(" b/") + 3);
  }

  void end_file(std::string_view part) {
    for (const auto& found : redactor_.find_all(head_))
      leaks_.push_back({Leak::Kind::value, found.name, one_line(redactor_.text(path_))});
    judge(part);
    if (is_binary_ && binary_) {
      if (const auto content = binary_(path_))
        for (const auto& found : redactor_.find_all(*content))
          add({Leak::Kind::value, found.name, one_line(redactor_.text(path_)) + " (binary)", true});
    }
    head_.clear();
    path_.clear();
    is_binary_ = false;
    hunks_.end();
  }

  /// One side after the other: both texts together are nearly as large as the diff.
  void judge(std::string_view part) {
    std::vector<SecretPart> values;
    std::vector<SecretPart> shapes;
    {
      const std::string now = SideLines(part, Side::after, read_on_).text();
      values = redactor_.find_all(now);
      shapes = redactor_.find_all(now, Audience::tools);
    }
    LinesByOffset lines(part, Side::after, read_on_);
    for (const auto& value : values)
      add({Leak::Kind::value, value.name, place(lines.at(value.begin).number)});
    judge_before(part);
    const auto is_value = [&](const SecretPart& shape) {
      return std::any_of(values.begin(), values.end(), [&](const SecretPart& one) {
        return one.begin < shape.end && shape.begin < one.end;
      });
    };
    LinesByOffset again(part, Side::after, read_on_);
    for (const auto& shape : shapes) {
      const auto line = again.at(shape.begin);
      if (line.changed && !is_value(shape))
        add({Leak::Kind::shape, shape.name, place(line.number)});
    }
  }

  void judge_before(std::string_view part) {
    LinesByOffset lines(part, Side::before, read_on_);
    for (const auto& value : redactor_.find_all(SideLines(part, Side::before, read_on_).text())) {
      const auto line = lines.at(value.begin);
      if (line.changed) add({Leak::Kind::value, value.name, place(line.number) + " (removed)"});
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
  const ReadOn& read_on_;
  std::string head_;
  std::string path_;
  HunkLines hunks_;
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
    const std::function<std::optional<std::string>(const std::string& path)>& binary,
    const ReadOn& read_on) {
  return DiffReader(redactor, binary, read_on).read(diff);
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
