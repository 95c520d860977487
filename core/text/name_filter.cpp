#include "core/text/name_filter.h"

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

}  // namespace

NameFilter::NameFilter(const std::vector<std::string>& globs) {
  for (std::size_t i = 0; i < globs.size(); ++i) add(globs[i], Globs{1} << (i % 64));
}

/// A set and a word of `!(…)` hold no slash, so that the last name begins behind the last slash.
void NameFilter::add(std::string_view glob, Globs bit) {
  const std::string_view name = glob.substr(glob.rfind('/') + 1);
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
}

bool NameFilter::name_may_match(std::string_view name) const {
  Globs left = name.empty() ? ~Globs{0} : first_[byte_of(name.front())];
  for (std::size_t i = 0; i < kTail && left != 0; ++i)
    left &= tail_[i][i < name.size() ? byte_of(name[name.size() - 1 - i]) : kNoByte];
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
