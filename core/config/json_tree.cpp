#include "core/config/json_tree.h"

#include <string>
#include <string_view>
#include <utility>

namespace sortie {
namespace {

bool begins_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Walks through a text that is known to be JSON, to find the places of its values.
class Walker {
 public:
  Walker(std::string_view text, std::size_t source, Diagnostics& findings)
      : text_(text), source_(source), findings_(findings) {}

  /// @param depth  levels that the tree may still have; deeper ones are skipped
  YamlNode node(const Json& value, int depth) {
    skip_blanks();
    YamlNode node;
    node.place = here();
    const std::size_t begin = at_;
    switch (value.type()) {
      case Json::Type::array:
        node.kind = YamlNode::Kind::list;
        walk_list(value, depth, node);
        break;
      case Json::Type::object:
        node.kind = YamlNode::Kind::mapping;
        walk_mapping(value, depth, node);
        break;
      default:
        node = scalar(value, depth >= 0);
        break;
    }
    if (node.kind == YamlNode::Kind::list || node.kind == YamlNode::Kind::mapping)
      node.place.length = length_of(text_.substr(begin, at_ - begin));
    return node;
  }

 private:
  TextPlace here() const { return {.source = source_, .line = line_, .column = column_}; }

  /// Characters up to the line's end.
  static int length_of(std::string_view token) {
    int length = 0;
    for (const char c : token.substr(0, token.find_first_of("\r\n")))
      length += begins_character(c) ? 1 : 0;
    return length > 0 ? length : 1;
  }

  void advance(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        column_ = 1;
      } else if (begins_character(text_[at_])) {
        ++column_;
      }
    }
  }

  void skip_blanks() {
    const std::size_t next = text_.find_first_not_of(" \t\r\n", at_);
    advance(next == std::string_view::npos ? text_.size() : next);
  }

  /// Past one of `[]{},:`.
  void punctuation() {
    skip_blanks();
    advance(at_ + 1);
  }

  std::size_t end_of_token() const {
    if (text_[at_] != '"') {
      const std::size_t end = text_.find_first_of(" \t\r\n,:]}", at_);
      return end == std::string_view::npos ? text_.size() : end;
    }
    std::size_t end = at_ + 1;
    while (text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  YamlNode scalar(const Json& value, bool kept) {
    YamlNode node;
    node.kind = value.is_null() ? YamlNode::Kind::null : YamlNode::Kind::scalar;
    node.plain = !value.is_string();
    node.text = value.is_boolean() ? (value.boolean() ? "true" : "false") : value.text();
    return placed(std::move(node), kept);
  }

  YamlNode placed(YamlNode node, bool kept) {
    node.place = here();
    const std::size_t end = end_of_token();
    node.place.length = length_of(text_.substr(at_, end - at_));
    advance(end);
    if (kept && node.text.find('\0') != std::string::npos) {
      findings_.error(node.place, "a NUL character in a text");
      node.kind = YamlNode::Kind::refused;
    }
    return node;
  }

  void walk_list(const Json& value, int depth, YamlNode& list) {
    punctuation();
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) punctuation();
      YamlNode item = node(value.items()[i], depth - 1);
      if (depth > 0) list.items.push_back(std::move(item));
    }
    punctuation();
  }

  void walk_mapping(const Json& value, int depth, YamlNode& mapping) {
    punctuation();
    bool first = true;
    for (const auto& [name, member] : value.members()) {
      if (!std::exchange(first, false)) punctuation();
      skip_blanks();
      YamlNode key = scalar(Json(name), depth > 0);
      punctuation();
      YamlNode item = node(member, depth - 1);
      if (depth > 0) mapping.members.push_back({std::move(key), std::move(item)});
    }
    punctuation();
  }

  std::string_view text_;
  std::size_t source_;
  Diagnostics& findings_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace

PlacedJson read_json(std::size_t source, Diagnostics& findings, int max_depth) {
  const std::string& text = findings.text(source);
  PlacedJson read;
  try {
    read.value = parse_json(text);
    read.tree = Walker(text, source, findings).node(read.value, max_depth);
  } catch (const JsonError& error) {
    findings.error(place_at(text, source, error.offset()), error.what());
    read.tree.kind = YamlNode::Kind::refused;
  }
  return read;
}

}  // namespace sortie
