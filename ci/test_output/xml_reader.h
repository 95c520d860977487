#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sortie {

/// Gets the elements of a document.
struct XmlSink {
  std::function<void(const std::string& name, const std::map<std::string, std::string>&)> begin;
  std::function<void(const std::string& name)> end;
};

/// Reads an XML document without a document type (XML 1.0, UTF-8): one root, every element closed.
/// Texts are passed over.
/// @return  "", or why it is no such document; the sink has got what came before
std::string read_xml(std::string_view text, const XmlSink& sink);

}  // namespace sortie
