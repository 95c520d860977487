#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/config/yaml.h"

using namespace sortie;

namespace {

/// Every node of a tree that was read without a finding has its place in the text.
void check(const YamlNode& node, int depth) {
  if (depth > kMaxYamlDepth || node.kind == YamlNode::Kind::refused) std::abort();
  if (depth > 0 && (node.place.line < 1 || node.place.column < 1 || node.place.length < 1))
    std::abort();
  for (const auto& item : node.items) check(item, depth + 1);
  for (const auto& member : node.members) {
    check(member.key, depth + 1);
    check(member.value, depth + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics findings;
  const std::size_t source =
      findings.add_source("t", std::string(reinterpret_cast<const char*>(data), size));
  const YamlNode root = read_yaml(source, findings);
  if (findings.empty()) {
    check(root, 0);
    flow_text(root);
  } else if (findings.render().empty()) {
    std::abort();
  }
  return 0;
}
