#include "core/text/name_filter.h"

#include <algorithm>

namespace sortie {
namespace {

std::size_t byte_of(char c) { return static_cast<unsigned char>(c); }

/// Whether the character stands for itself alone, at any place of a glob. Other bytes than ASCII
/// have two cases in Latin-1, as which globs are matched.
bool is_literal(char c) {
  constexpr std::string_view kSpecial = "*?[]!()|\\";
  return byte_of(c) < 0x80 && kSpecial.find(c) == std::string_view::npos;
}

char other_case(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter ? static_cast<char>(c ^ 0x20) : c;
}

template <class Row, class Bits>
void set(Row& row, char c, Bits bit) {
  row[byte_of(c)] |= bit;
  row[byte_of(other_case(c))] |= bit;
}

template <class Row, class Bits>
void set_all(Row& row, Bits bit) {
  for (auto& bits : row) bits |= bit;
}

/// The last name of a glob. A set and a word of `!(…)` hold no slash, so that it begins behind the last
/// one. Behind a folder, `**` stands for what is below it: then a name of the path is the folder's.
std::string_view last_name(std::string_view glob) {
  while (glob.starts_with("./")) glob.remove_prefix(2);
  while (glob.size() > 1 && glob.back() == '/') glob.remove_suffix(1);
  while (glob.size() > 3 && glob.ends_with("/**")) glob.remove_suffix(3);
  return glob.substr(glob.rfind('/') + 1);
}

/// The longest text that is in each name which the glob of a name matches; "" if that is not plain.
std::string_view inner_text(std::string_view name) {
  const auto is_plain = [](char c) { return is_literal(c) || c == '*' || c == '?'; };
  if (!std::all_of(name.begin(), name.end(), is_plain) || name.find("**") != std::string_view::npos)
    return "";
  std::string_view longest;
  while (!name.empty()) {
    const std::string_view text = name.substr(0, name.find_first_of("*?"));
    if (text.size() > longest.size()) longest = text;
    name.remove_prefix(std::min(text.size() + 1, name.size()));
  }
  return longest;
}

bool contains_in_any_case(std::string_view name, std::string_view text) {
  return std::search(name.begin(), name.end(), text.begin(), text.end(),
                     [](char a, char b) { return a == b || other_case(a) == b; }) != name.end();
}

}  // namespace

NameFilter::NameFilter(const std::vector<std::string>& globs) {
  for (std::size_t i = 0; i < globs.size(); ++i) add(globs[i], Globs{1} << (i % 64));
  if (globs.size() > 64) inner_.clear();
}

void NameFilter::add(std::string_view glob, Globs bit) {
  const std::string_view name = last_name(glob);
  // What stands before a `**` that is no folder of its own may be in a folder's name.
  const bool begins =
      !name.empty() && is_literal(name.front()) && name.find("**") == std::string_view::npos;
  if (begins)
    set(first_, name.front(), bit);
  else
    set_all(first_, bit);
  bool literal = true;
  for (std::size_t i = 0; i < kTail; ++i) {
    literal = literal && i < name.size() && is_literal(name[name.size() - 1 - i]);
    if (literal)
      set(tail_[i], name[name.size() - 1 - i], bit);
    else
      set_all(tail_[i], bit);
  }
  const bool is_open = !begins && (name.empty() || !is_literal(name.back()));
  if (is_open && !inner_text(name).empty()) inner_.push_back({bit, std::string(inner_text(name))});
}

bool NameFilter::name_may_match(std::string_view name) const {
  Globs left = name.empty() ? ~Globs{0} : first_[byte_of(name.front())];
  for (std::size_t i = 0; i < kTail && left != 0; ++i)
    left &= tail_[i][i < name.size() ? byte_of(name[name.size() - 1 - i]) : kNoByte];
  for (const Inner& inner : inner_)
    if ((left & inner.glob) != 0 && !contains_in_any_case(name, inner.text)) left &= ~inner.glob;
  return left != 0;
}

bool NameFilter::may_match(std::string_view path) const {
  for (;;) {
    const std::size_t slash = path.find('/');
    if (name_may_match(path.substr(0, slash))) return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace sortie
