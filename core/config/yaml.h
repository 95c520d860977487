#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/config/diagnostic.h"

namespace sortie {

struct YamlMember;

/// One node of a YAML document, with its place in the text.
struct YamlNode {
  enum class Kind {
    null,
    scalar,
    list,
    mapping,
    refused,  ///< it has a finding already; readers skip it silently
  };
  Kind kind = Kind::null;
  std::string text;    ///< a scalar's text, decoded; UTF-8 without NUL
  bool plain = false;  ///< an unquoted scalar, not a block scalar or a key: `5`, `yes`, `a b`
  TextPlace place;
  std::vector<YamlNode> items;      ///< of a list
  std::vector<YamlMember> members;  ///< of a mapping, in order; keys are unique

  bool is_scalar() const noexcept { return kind == Kind::scalar; }
  bool is_list() const noexcept { return kind == Kind::list; }
  bool is_mapping() const noexcept { return kind == Kind::mapping; }
  /// The value of a member; null for none.
  const YamlNode* find(const std::string& key) const noexcept;
};

struct YamlMember {
  YamlNode key;
  YamlNode value;
};

inline constexpr std::size_t kMaxYamlBytes = 1u << 20;
inline constexpr int kMaxYamlDepth = 64;
inline constexpr int kMaxYamlEvents = 100'000;

/// Reads the YAML document of a source into a tree.
///
/// Accepts an unambiguous subset: no aliases, anchors, merge keys, tags, second documents, duplicate
/// or compound keys, tabs as indentation, control characters. Each of them becomes a finding at its
/// place. A text without a document gives a null node.
/// @param source  added to `findings` before, with its text
/// @return        the tree; of kind `refused` if the text can't be read at all
YamlNode read_yaml(std::size_t source, Diagnostics& findings);

/// The node on one line, in flow style: `[cargo, [build, test]]`.
std::string flow_text(const YamlNode& node);

}  // namespace sortie
