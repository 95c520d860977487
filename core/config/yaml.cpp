#include "core/config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Thrown through the parser to end it early, after a finding.
struct Ended {};

/// Byte offsets → places. Offsets mostly grow, so each byte is counted about once even where the
/// whole file is one line.
class PlaceCursor {
 public:
  PlaceCursor(std::string_view text, std::size_t source) : text_(text), source_(source) {}

  TextPlace place(std::size_t offset, std::size_t length) {
    offset = std::min(offset, text_.size());
    if (offset < offset_) rewind(offset);
    for (; offset_ < offset; ++offset_) step(text_[offset_]);
    return {.source = source_, .line = line_, .column = column_, .length = shown(offset, length)};
  }

 private:
  void step(char c) {
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++column_;
    }
  }
  void rewind(std::size_t offset) {
    const TextPlace place = place_at(text_, source_, offset);
    offset_ = offset;
    line_ = place.line;
    column_ = place.column;
  }
  int shown(std::size_t offset, std::size_t length) const {
    std::string_view part = text_.substr(offset, length);
    part = part.substr(0, part.find_first_of("\r\n"));
    while (part.ends_with(' ')) part.remove_suffix(1);
    const auto characters = std::count_if(part.begin(), part.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    return std::max(1, static_cast<int>(characters));
  }

  std::string_view text_;
  std::size_t source_;
  std::size_t offset_ = 0;
  int line_ = 1;
  int column_ = 1;
};

/// Offset behind the closing quote of the scalar that opens at `offset`, or npos.
std::size_t end_of_quoted(std::string_view text, std::size_t offset) noexcept {
  const char quote = text[offset];
  for (std::size_t i = offset + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != quote) return i + 1;
      ++i;  // '' is an escaped quote
    }
  }
  return std::string_view::npos;
}

/// Builds the tree from the parser's events and refuses what is outside the subset.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, std::size_t source, Diagnostics& findings)
      : text_(text), findings_(findings), cursor_(text, source) {}

  YamlNode take_root() { return std::move(root_); }
  TextPlace place(const YAML::Mark& mark, std::size_t length = 1) {
    return cursor_.place(mark.is_null() ? text_.size() : static_cast<std::size_t>(mark.pos),
                         length);
  }

  /// Whether the line has a tab in its indentation; if so, adds a finding.
  bool finds_tab(const YAML::Mark& mark) {
    if (mark.is_null()) return false;
    const std::size_t offset = std::min(static_cast<std::size_t>(mark.pos), text_.size());
    const std::size_t newline =
        offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    const std::size_t end = text_.find_first_not_of(" \t", start);
    return check_blanks(start, std::min(end, text_.size()));
  }

  /// Adds the finding of a text that can't be read. A list or mapping in brackets that has no end is
  /// shown where it begins, since the parser only notices at the file's end or far below.
  void refuse(const YAML::Exception& error) {
    const TextPlace noticed = place(error.mark);
    const TextPlace* const bracket = open_bracket();
    const bool at_end = ends_at(error.mark);
    const bool misses_end = error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW ||
                            error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW;
    // On the bracket's own line, what the parser stumbles over says more.
    const bool unclosed =
        bracket != nullptr && misses_end && (at_end || noticed.line > bracket->line);
    if (unclosed) {
      const char opening = bracket_at_;
      findings_.add({.place = *bracket,
                     .message = std::string("'") + opening + "' is not closed: expected '" +
                                (opening == '[' ? ']' : '}') + "' before " +
                                (at_end ? "the end of the file"
                                        : "line " + std::to_string(noticed.line) + ", column " +
                                              std::to_string(noticed.column))});
      return;
    }
    Finding finding{.place = noticed, .message = "can't be read as YAML: " + error.msg};
    if (error.msg == YAML::ErrorMsg::FLOW_END && !at_end) {
      const char closing = text_[static_cast<std::size_t>(error.mark.pos)];
      finding.message = std::string("'") + closing + "' closes nothing here: the last bracket " +
                        "that is open, if any, is no '" + (closing == ']' ? '[' : '{') + "'";
    }
    if (bracket != nullptr && bracket->line != noticed.line)
      finding.notes.push_back(
          {.place = *bracket,
           .severity = Severity::note,
           .message = std::string("inside the '") + bracket_at_ + "' that is opened here"});
    findings_.add(std::move(finding));
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    findings_.error(place(mark, 3), "a second document: expected a single one");
    throw Ended{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(begin(mark, anchor, YamlNode::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    YamlNode node = begin(mark, 0, YamlNode::Kind::refused);
    findings_.error(node.place, "aliases are not supported; write the value out");
    add(std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = begin(mark, anchor, YamlNode::Kind::scalar);
    node.text = value;
    node.plain = tag == "?";
    if (node.kind == YamlNode::Kind::scalar) {
      const std::size_t offset = static_cast<std::size_t>(std::max(0, mark.pos));
      // A bare "!" has the tag of a quoted scalar.
      if ((tag != "?" && tag != "!") || text_.substr(offset, 1) == "!") refuse_tag(node);
      measure(node, offset);
    }
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(begin(mark, anchor, YamlNode::Kind::list), mark, tag);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(begin(mark, anchor, YamlNode::Kind::mapping), mark, tag);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    std::size_t offset = 0;                 // where it begins
    std::optional<YamlNode> key;            // read, its value not yet
    std::map<std::string, TextPlace> keys;  // of the mapping so far
  };

  YamlNode begin(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    YamlNode node{.kind = kind, .place = place(mark)};
    if (++events_ > kMaxYamlEvents) {
      findings_.error(node.place,
                      "more than " + std::to_string(kMaxYamlEvents) + " values in one file");
      throw Ended{};
    }
    const std::size_t offset = static_cast<std::size_t>(std::max(0, mark.pos));
    if (anchor != 0) {
      findings_.error(node.place, "anchors are not supported; write the value out");
      if (kind == YamlNode::Kind::scalar) node.kind = YamlNode::Kind::refused;
    }
    check_indentation(node.place, offset);
    return node;
  }

  /// The innermost list or mapping in brackets that has no end yet; its bracket is in bracket_at_.
  const TextPlace* open_bracket() {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      bracket_at_ = open->offset < text_.size() ? text_[open->offset] : '\0';
      if (bracket_at_ == '[' || bracket_at_ == '{') return &open->node.place;
    }
    return nullptr;
  }

  bool ends_at(const YAML::Mark& mark) const {
    return mark.is_null() ||
           text_.find_first_not_of(" \t\r\n", static_cast<std::size_t>(mark.pos)) == text_.npos;
  }

  void refuse_tag(YamlNode& node) {
    findings_.error(node.place, "tags are not supported; leave it out");
    if (node.is_scalar()) node.kind = YamlNode::Kind::refused;
  }

  void check_indentation(const TextPlace& place, std::size_t offset) {
    const std::size_t newline =
        offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    if (place.line == last_indentation_ || offset - start > 4096) return;
    const std::string_view before = text_.substr(start, offset - start);
    if (before.find_first_not_of(" \t") != std::string_view::npos) return;
    last_indentation_ = place.line;
    check_blanks(start, offset);
  }

  /// Whether there is a tab among the blanks; if so, adds a finding.
  bool check_blanks(std::size_t start, std::size_t end) {
    const std::size_t tab = text_.substr(start, end - start).find('\t');
    if (tab == std::string_view::npos) return false;
    const TextPlace place = cursor_.place(start + tab, 1);
    if (place.line != last_tab_) findings_.error(place, "a tab as indentation; use spaces");
    last_tab_ = place.line;
    return true;
  }

  /// Sets how much of the scalar is underlined, and checks what the parser lets pass.
  void measure(YamlNode& node, std::size_t offset) {
    if (node.text.find('\0') != std::string::npos) {
      findings_.error(node.place, "a NUL character in a value");
      node.kind = YamlNode::Kind::refused;
    }
    if (offset >= text_.size()) return;
    const char first = text_[offset];
    if (node.plain) {
      const bool one_line = text_.compare(offset, node.text.size(), node.text) == 0;
      node.place = cursor_.place(offset, one_line ? node.text.size() : std::string_view::npos);
    } else if (first == '"' || first == '\'') {
      measure_quoted(node, offset);
    }
  }

  void measure_quoted(YamlNode& node, std::size_t offset) {
    const std::size_t end = end_of_quoted(text_, offset);
    if (end == std::string_view::npos) {
      // The parser takes the file's end for the closing quote.
      findings_.error(node.place, "the closing quote is missing");
      throw Ended{};
    }
    node.place = cursor_.place(offset, end - offset);
    const char next = end < text_.size() ? text_[end] : '\n';
    if (std::string_view(" \t\r\n,]}:").find(next) != std::string_view::npos) return;
    const TextPlace behind = cursor_.place(end, 1);
    // A quote that is missing makes one of the quote that opens a later text.
    if (behind.line == node.place.line)
      findings_.error(behind, "unexpected text behind the closing quote");
    else
      findings_.add({.place = node.place,
                     .message = "the closing quote is missing, or there is text behind it",
                     .notes = {{.place = behind,
                                .severity = Severity::note,
                                .message = "the next quote is taken for it, before this"}}});
  }

  void open(YamlNode node, const YAML::Mark& mark, const std::string& tag) {
    if (tag != "?" && !tag.empty()) refuse_tag(node);
    if (static_cast<int>(open_.size()) >= kMaxYamlDepth) {
      findings_.error(node.place,
                      "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
      throw Ended{};
    }
    open_.push_back(
        {.node = std::move(node), .offset = static_cast<std::size_t>(std::max(0, mark.pos))});
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_list()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      check_key(node, parent.keys);
      node.plain = false;  // a key is text whatever it looks like
      parent.key = std::move(node);
    } else {
      if (parent.key->is_scalar())
        parent.node.members.push_back({std::move(*parent.key), std::move(node)});
      parent.key.reset();
    }
  }

  /// Adds findings about a key; an unusable one becomes refused, and its value is left out.
  void check_key(YamlNode& key, std::map<std::string, TextPlace>& keys) {
    if (key.kind == YamlNode::Kind::refused) return;
    if (!key.is_scalar()) {
      findings_.error(key.place, "a key must be a word");
    } else if (key.plain && key.text == "<<") {
      findings_.error(key.place, "merge keys are not supported; write the keys out");
    } else {
      const auto [first, is_new] = keys.emplace(key.text, key.place);
      if (is_new) return;
      const std::string name = "'" + one_line(key.text, 60) + "'";
      findings_.add({.place = key.place,
                     .message = "duplicate key " + name,
                     .notes = {{.place = first->second,
                                .severity = Severity::note,
                                .message = "the first " + name + " is here"}}});
    }
    key.kind = YamlNode::Kind::refused;
  }

  std::string_view text_;
  Diagnostics& findings_;
  PlaceCursor cursor_;
  std::vector<Open> open_;
  YamlNode root_;
  int documents_ = 0;
  int events_ = 0;
  int last_indentation_ = 0;
  int last_tab_ = 0;
  char bracket_at_ = '\0';
};

/// Whether the text can be given to the parser; otherwise adds a finding.
bool check_characters(std::string_view text, std::size_t source, Diagnostics& findings) {
  if (text.size() > kMaxYamlBytes) {
    findings.error({.source = source}, "larger than " + std::to_string(kMaxYamlBytes) + " bytes");
    return false;
  }
  if (!is_utf8(text)) {
    std::size_t good = 0;  // lines that are UTF-8
    for (const std::string_view line : split_lines(text)) {
      if (!is_utf8(line)) break;
      good += line.size() + 1;
    }
    const TextPlace line = place_at(text, source, good);
    findings.error({.source = source}, "not UTF-8, first in line " + std::to_string(line.line));
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool line_end = c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    if ((c >= 0x20 && c != 0x7F) || c == '\t' || line_end) continue;
    static constexpr char kHex[] = "0123456789ABCDEF";
    findings.error(place_at(text, source, i),
                   std::string("control character U+00") + kHex[c >> 4] + kHex[c & 15]);
    return false;
  }
  return true;
}

}  // namespace

const YamlNode* YamlNode::find(const std::string& key) const noexcept {
  for (const auto& member : members)
    if (member.key.text == key) return &member.value;
  return nullptr;
}

YamlNode read_yaml(std::size_t source, Diagnostics& findings) {
  const YamlNode refused{.kind = YamlNode::Kind::refused, .place = {.source = source}};
  std::string text = findings.text(source);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (!check_characters(text, source, findings)) return refused;

  TreeBuilder builder(text, source, findings);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Ended&) {
    return refused;
  } catch (const YAML::Exception& error) {
    // A tab as indentation leads the parser astray in several ways, none of which names the tab.
    if (!builder.finds_tab(error.mark)) builder.refuse(error);
    return refused;
  }
  YamlNode root = builder.take_root();
  root.place.source = source;
  return root;
}

std::string flow_text(const YamlNode& node) {
  std::string text;
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "null";
    case YamlNode::Kind::refused:
      return "?";
    case YamlNode::Kind::scalar:
      return node.plain ? node.text : "\"" + node.text + "\"";
    case YamlNode::Kind::list:
      for (const auto& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(item);
      return "[" + text + "]";
    case YamlNode::Kind::mapping:
      for (const auto& member : node.members)
        text += (text.empty() ? "" : ", ") + member.key.text + ": " + flow_text(member.value);
      return "{" + text + "}";
  }
  return text;
}

}  // namespace sortie
