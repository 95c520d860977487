#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/config/fields.h"
#include "policies/file/rule_examples.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A policy while its files are read, the extended ones first.
struct PolicyDraft {
  Policy policy{};
  /// Lists that a file has set: the first file replaces the default, later ones append.
  std::set<std::string> given{};
  std::filesystem::path folder{};  ///< of the current file: absolute, or empty
  std::string shown{};             ///< the current file's name in messages
  std::string protecting{};        ///< FILE:LINE of the last file that protects paths
  Examples examples = Examples::checked;
};

inline constexpr std::uint64_t kLargestSize = 1ull << 50;  ///< of a limit, in bytes

inline constexpr TextLimits kEnvironmentName = {.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                                .meaning = "the name of an environment variable"};

inline constexpr TextLimits kPlainFileName = {.pattern = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
                                              .meaning = "a file name without folders"};

/// A bool that is written as one of two words.
FieldValue two_words_value(bool& target, const char* when_false, const char* when_true);

/// A list whose default the first file with this key replaces.
template <typename Container>
FieldValue first_replaces(PolicyDraft& draft, const std::string& key, Container& target,
                          FieldValue appended) {
  appended.read = [&draft, key, &target, read = std::move(appended.read)](
                      const YamlNode& node, const std::string& name, Diagnostics& findings) {
    if (draft.given.insert(key).second) target.clear();
    read(node, name, findings);
  };
  return appended;
}

/// A list of globs, which is appended; each must be valid.
enum class Globs { words, paths };
FieldValue globs_value(std::vector<std::string>& target, Globs kind, Lists lists = Lists::appended);

/// `protect`: appended to the default. An empty list removes the default, unless a file of the chain
/// protects something: what an extended policy protects stays protected.
FieldValue protect_value(PolicyDraft& draft);
/// `bounds.credentials`: variables, each with the hosts that may get its value.
FieldValue credentials_value(PolicyDraft& draft);
/// `bounds.mcp`: programs and addresses (policies/bounds/mcp_bounds.h).
FieldValue mcp_bounds_value(PolicyDraft& draft);
/// `bounds.workspace`: absolute paths, or ones that begin with "~".
FieldValue bounded_folders_value(PolicyDraft& draft);
/// `bounds.model_hosts`: hosts.
FieldValue model_hosts_value(PolicyDraft& draft);
/// `network.allow`: hosts.
FieldValue hosts_value(PolicyDraft& draft);
/// `redact.patterns`: RE2 expressions that don't match the empty text.
FieldValue expressions_value(PolicyDraft& draft);
FieldValue guarantee_value(PolicyDraft& draft);
/// A size, or a share of the machine's memory.
FieldValue memory_value(PolicyLimits& limits);
/// `approver`; a later file's replaces an earlier one's.
FieldValue approver_value(PolicyDraft& draft);
/// `extends`, which is only checked here: the loader reads those policies before the rest of the
/// file.
FieldValue extends_value();

}  // namespace sortie
