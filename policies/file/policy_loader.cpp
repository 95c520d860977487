#include "policies/file/policy_loader.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/config/yaml.h"
#include "core/files/files.h"
#include "core/text/text.h"
#include "policies/file/policy_fields.h"
#include "policies/file/presets.h"

namespace sortie {
namespace {

constexpr int kMaxFiles =
    64;  // in all: with two that extend the same two, each level doubles the number

/// The policies that are being read, one extending the next.
struct Link {
  std::string identity;  ///< the preset's name or the absolute path
  std::string shown;     ///< its name in messages and rules
  std::filesystem::path folder;
};

std::string default_name(const std::string& stem) {
  std::string name;
  for (const char c : stem.substr(0, 64)) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool allowed = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    name += allowed ? lower : '-';
  }
  return name.empty() ? "policy" : name;
}

/// Reads a policy and the ones that it extends into one draft, and collects all findings.
class Loader {
 public:
  explicit Loader(Examples examples = Examples::checked) { draft_.examples = examples; }

  void read(Link link, const std::string& text) {
    const std::size_t source = findings_.add_source(link.shown, text);
    const YamlNode root = read_yaml(source, findings_);
    if (root.kind == YamlNode::Kind::refused) return;
    if (root.kind == YamlNode::Kind::null) {
      findings_.error({.source = source}, "the policy is empty; it needs at least 'version: 1'");
      return;
    }
    chain_.push_back(link);
    read_extended(root);
    // The keys of this file override those of the files that it extends.
    draft_.policy.name.clear();
    draft_.folder = link.folder;
    draft_.shown = link.shown;
    remember_places(root, "", link.shown);
    policy_fields(draft_, link.shown).read(root, findings_);
    if (draft_.policy.name.empty())
      draft_.policy.name = default_name(std::filesystem::path(link.shown).stem().string());
    chain_.pop_back();
  }

  void remember_file(const std::filesystem::path& path) {
    auto& files = draft_.policy.files;
    std::error_code ignored;
    for (const auto& each : {path, std::filesystem::canonical(path, ignored)})
      if (!each.empty() && std::find(files.begin(), files.end(), each) == files.end())
        files.push_back(each);
  }

  Policy finish(const std::filesystem::path& file) {
    findings_.throw_if_any();
    remember_approver();
    Policy policy = std::move(draft_.policy);
    policy.file = file;
    return policy;
  }

 private:
  /// For later errors: a task may ask for more than a value allows.
  void remember_places(const YamlNode& node, const std::string& prefix, const std::string& file) {
    for (const auto& member : node.members) {
      const std::string key = prefix + member.key.text;
      draft_.policy.places[key] = {.file = file,
                                   .line = member.key.place.line,
                                   .text = one_line(key + ": " + flow_text(member.value))};
      if (std::count(key.begin(), key.end(), '.') < 2)
        remember_places(member.value, key + ".", file);
    }
  }

  /// The approver's program and the files in its arguments: the run must not change them.
  void remember_approver() {
    if (!draft_.policy.approver) return;
    const PolicyApprover approver = *draft_.policy.approver;
    for (const auto& word : approver.command) {
      const std::filesystem::path path = (approver.folder / word).lexically_normal();
      std::error_code error;
      if (path.is_absolute() && std::filesystem::is_regular_file(path, error)) remember_file(path);
    }
  }

  /// Errors of the key itself become findings when the whole table is read.
  void read_extended(const YamlNode& root) {
    const YamlNode* extends = root.is_mapping() ? root.find("extends") : nullptr;
    if (extends == nullptr) return;
    if (extends->is_scalar()) extend(*extends);
    for (const auto& item : extends->items)
      if (item.is_scalar()) extend(item);
  }

  void extend(const YamlNode& node) {
    if (node.text.empty()) return;
    if (++files_ > kMaxFiles) {
      if (files_ == kMaxFiles + 1)
        findings_.error(node.place,
                        "more than " + std::to_string(kMaxFiles) + " policies are extended");
    } else if (names_a_file(node.text)) {
      extend_file(node);
    } else if (const Preset* preset = find_preset(node.text)) {
      Link link{.identity = preset->name, .shown = preset->name};
      if (!closes_a_cycle(link, node.place)) read(std::move(link), preset->text);
    } else {
      findings_.error(node.place, preset_problem(node.text),
                      nearest_name(node.text, preset_names()));
    }
  }

  void extend_file(const YamlNode& node) {
    const Link& parent = chain_.back();
    const std::filesystem::path path = (parent.folder / node.text).lexically_normal();
    const std::filesystem::path written = node.text;
    const std::filesystem::path beside = std::filesystem::path(parent.shown).parent_path();
    Link link{
        .identity = path.string(),
        .shown = written.is_absolute() ? node.text : (beside / written).lexically_normal().string(),
        .folder = path.parent_path()};
    if (closes_a_cycle(link, node.place)) return;
    TextFile file = read_text_file(path, kMaxYamlBytes);
    if (!file.problem.empty()) {
      findings_.error(node.place, "policy '" + one_line(link.shown) + "': " + file.problem);
      return;
    }
    remember_file(path);
    read(std::move(link), file.text);
  }

  bool closes_a_cycle(const Link& link, const TextPlace& place) {
    const auto first = std::find_if(chain_.begin(), chain_.end(), [&](const Link& each) {
      return each.identity == link.identity;
    });
    if (first == chain_.end()) return false;
    std::string path;
    for (auto it = first; it != chain_.end(); ++it) path += it->shown + " → ";
    findings_.error(place, "a policy can't extend itself: " + path + link.shown);
    return true;
  }

  Diagnostics findings_;
  PolicyDraft draft_;
  std::vector<Link> chain_;
  int files_ = 0;
};

}  // namespace

Policy load_policy(const std::string& name_or_file, Examples examples) {
  Loader loader(examples);
  if (!names_a_file(name_or_file)) {
    std::error_code error;
    if (find_preset(name_or_file) == nullptr &&
        std::filesystem::is_regular_file(name_or_file, error))
      throw InputError(preset_problem(name_or_file) + "; for the file of that name write './" +
                       one_line(name_or_file, 60) + "'");
    loader.read({.identity = name_or_file, .shown = name_or_file}, preset_text(name_or_file));
    return loader.finish({});
  }
  const TextFile file = read_text_file(name_or_file, kMaxYamlBytes, Pipes::accepted);
  if (!file.problem.empty()) throw InputError(name_or_file + ": error: " + file.problem);
  const std::filesystem::path path = std::filesystem::absolute(name_or_file).lexically_normal();
  loader.remember_file(path);
  loader.read({.identity = path.string(), .shown = name_or_file, .folder = path.parent_path()},
              file.text);
  return loader.finish(path);
}

Policy parse_policy(const std::string& text, const std::string& name,
                    const std::filesystem::path& folder) {
  Loader loader;
  loader.read({.identity = "", .shown = name, .folder = std::filesystem::absolute(folder)}, text);
  return loader.finish({});
}

Json policy_json(const Policy& policy) {
  PolicyDraft draft{.policy = policy};
  return policy_fields(draft, "").write();
}

std::string policy_digest(const Policy& policy) {
  return "sha256:" + sha256_hex(write_json(policy_json(policy)));
}

Json policy_schema() {
  PolicyDraft draft;
  return file_schema(policy_fields(draft, ""), "sortie policy");
}

}  // namespace sortie
