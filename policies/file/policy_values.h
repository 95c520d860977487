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
  /// Lists that a file has named: the first takes the place of the default, later ones add to it.
  std::set<std::string> given{};
  std::filesystem::path folder{};  ///< of the file that is being read: absolute, or empty
  std::string shown{};             ///< that file, as messages call it
  std::string protecting{};        ///< FILE:LINE of the last file that names protected paths
  Examples examples = Examples::checked;
};

inline constexpr std::uint64_t kLargestSize = 1ull << 50;  ///< that a limit may be, in bytes

inline constexpr TextLimits kEnvironmentName = {.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                                .meaning = "the name of an environment variable"};

inline constexpr TextLimits kPlainFileName = {.pattern = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
                                              .meaning = "a file name without folders"};

/// A key whose two words stand for a bool.
FieldValue two_words_value(bool& target, const char* when_false, const char* when_true);

/// A list whose default is replaced by the first file that names it.
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

/// A list of globs, added to what is there; each has to compile.
enum class Globs { words, paths };
FieldValue globs_value(std::vector<std::string>& target, Globs kind, Lists lists = Lists::appended);

/// `protect`: added to the default. An empty list gives the default up, as long as no file of the
/// chain protects anything: what an extended policy protects can't be taken back.
FieldValue protect_value(PolicyDraft& draft);
/// `bounds.credentials`: variables, each with the hosts that may get its value.
FieldValue credentials_value(PolicyDraft& draft);
/// `bounds.mcp`: programs and addresses (policies/bounds/mcp_bounds.h).
FieldValue mcp_bounds_value(PolicyDraft& draft);
/// `bounds.workspace`: absolute paths, and such from "~".
FieldValue bounded_folders_value(PolicyDraft& draft);
/// `bounds.model_hosts`: hosts.
FieldValue model_hosts_value(PolicyDraft& draft);
/// `network.allow`: hosts.
FieldValue hosts_value(PolicyDraft& draft);
/// `redact.patterns`: each has to be an RE2 expression that matches no empty text.
FieldValue expressions_value(PolicyDraft& draft);
FieldValue guarantee_value(PolicyDraft& draft);
/// A size, or a share of the machine's memory.
FieldValue memory_value(PolicyLimits& limits);
/// The program that is asked; a later file's takes the place of an earlier one's.
FieldValue approver_value(PolicyDraft& draft);
/// Checked here; the loader reads what it names before the rest of the file.
FieldValue extends_value();

}  // namespace sortie
