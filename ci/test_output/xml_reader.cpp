#include "ci/test_output/xml_reader.h"

#include <charconv>
#include <cstdint>
#include <vector>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostOpen = 64;
constexpr std::string_view kBlanks = " \t\r\n";

class XmlReader {
 public:
  XmlReader(std::string_view text, const XmlSink& sink) : text_(text), sink_(sink) {}

  std::string read() {
    while (problem_.empty() && at_ < text_.size()) {
      const std::size_t open = std::min(text_.find('<', at_), text_.size());
      const std::string_view between = text_.substr(at_, open - at_);
      if (open_.empty() && between.find_first_not_of(kBlanks) != std::string_view::npos)
        problem_ = "text beside its root";
      at_ = open;
      if (problem_.empty() && at_ < text_.size()) read_markup();
    }
    if (problem_.empty() && (!open_.empty() || !rooted_)) problem_ = "it ends early";
    return problem_;
  }

 private:
  bool take(std::string_view begin) {
    if (!text_.substr(at_).starts_with(begin)) return false;
    at_ += begin.size();
    return true;
  }
  void pass(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) problem_ = "it ends early";
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }
  std::string take_name() {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n=/><\"'&", at_), text_.size());
    std::string name(text_.substr(at_, end - at_));
    if (name.empty()) problem_ = "a name is missing";
    at_ = end;
    return name;
  }

  void read_markup() {
    if (take("<?")) return pass("?>");
    if (take("<!--")) return pass("-->");
    if (!open_.empty() && take("<![CDATA[")) return pass("]]>");
    if (take("<!")) {
      problem_ = "a document type";
    } else if (take("</")) {
      const std::string name = take_name();
      skip_blanks();
      if (open_.empty() || open_.back() != name || !take(">")) problem_ = "tags that do not match";
      if (!problem_.empty()) return;
      open_.pop_back();
      sink_.end(name);
    } else if (take("<")) {
      read_element();
    }
  }

  void read_element() {
    const std::string name = take_name();
    std::map<std::string, std::string> attributes;
    for (skip_blanks(); problem_.empty() && at_ < text_.size(); skip_blanks()) {
      const bool is_empty = take("/>");
      if (!is_empty && !take(">")) {
        read_attribute(attributes);
        continue;
      }
      if (open_.empty() && rooted_) problem_ = "a second root";
      if (open_.size() >= kMostOpen) problem_ = "it is too deep";
      if (!problem_.empty()) return;
      rooted_ = true;
      sink_.begin(name, attributes);
      if (is_empty)
        sink_.end(name);
      else
        open_.push_back(name);
      return;
    }
    if (problem_.empty()) problem_ = "it ends early";
  }

  void read_attribute(std::map<std::string, std::string>& attributes) {
    const std::string name = take_name();
    skip_blanks();
    if (!take("=")) problem_ = "an attribute without a value";
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    const std::size_t end = text_.find(quote, at_ + 1);
    if ((quote != '"' && quote != '\'') || end == std::string_view::npos)
      problem_ = "an attribute without a value";
    if (!problem_.empty()) return;
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (value.find('<') != std::string_view::npos) problem_ = "'<' in an attribute";
    if (!attributes.emplace(name, decoded(value)).second) problem_ = "an attribute twice";
  }

  std::string decoded(std::string_view value) {
    std::string text;
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (value[at] != '&') {
        text += value[at];
        continue;
      }
      const std::size_t end = std::min(value.find(';', at), value.size());
      const std::string_view entity = value.substr(at + 1, end - at - 1);
      at = end;
      if (entity == "lt")
        text += '<';
      else if (entity == "gt")
        text += '>';
      else if (entity == "amp")
        text += '&';
      else if (entity == "quot")
        text += '"';
      else if (entity == "apos")
        text += '\'';
      else if (entity.starts_with('#'))
        text += "&" + std::string(entity) + ";";  // names only differ
      else
        problem_ = "an unknown entity";
    }
    return text;
  }

  std::string_view text_;
  const XmlSink& sink_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  bool rooted_ = false;
  std::string problem_;
};

}  // namespace

std::string read_xml(std::string_view text, const XmlSink& sink) {
  return is_utf8(text) ? XmlReader(text, sink).read() : "it is not UTF-8";
}

}  // namespace sortie
