#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/catalog/item.h"
#include "core/catalog/model_family.h"
#include "core/files/files.h"
#include "core/secrets/redact.h"

namespace sortie {

/// A document of the repository for agents, such as AGENTS.md: context, never configuration.
struct ProjectDoc {
  std::string path;  ///< relative to the repository's root
  std::string text;  ///< valid UTF-8
  bool operator==(const ProjectDoc&) const = default;
};

struct ProjectDocs {
  std::vector<ProjectDoc> docs;      ///< outermost first
  std::vector<std::string> notes{};  ///< for the operator: what was cut or could not be read
};

/// Reads the documents with these names in every folder from the repository's root down to the
/// workspace.
/// @param repository  rooted at the repository's root; without a repository, at the workspace
/// @param workspace   relative to that root; "." if they are the same
/// @param hidden      whether a path, links resolved, must not be read: `paths.hide`
/// @param max_bytes   of all texts together; the text that crosses it is cut, the rest left out
ProjectDocs read_project_docs(const Files& repository, const std::filesystem::path& workspace,
                              const std::vector<std::string>& names, std::uint64_t max_bytes,
                              const std::function<bool(const std::filesystem::path&)>& hidden = {});

/// The `instructions` of an MCP server.
struct ServerWords {
  std::string server;
  std::string text;  ///< plain text, UTF-8
};

/// What the system prompt says about this run.
struct Briefing {
  std::vector<ToolSpec> tools;      ///< the tools that the model is shown
  std::vector<std::string> verify;  ///< verification commands as written; empty: none
  std::string policy_summary;       ///< under deny-by-default: what is allowed; else ""
  bool read_only = false;           ///< the workspace is read-only
  bool sandboxed = true;            ///< commands run in a sandbox
  std::string network = "none";     ///< what it lets them reach: "none", "allow-list", "full"
  bool escalation = false;          ///< a rule may give a command more permissions
  std::string output_schema;        ///< JSON Schema of the final message; "": free text
  bool staged = false;              ///< the task comes in stages
  bool verify_stage = false;        ///< one of them runs the verification
  std::string instructions;         ///< the task's own, added at the end
  bool replace = false;             ///< use these instructions only
  /// What servers of tools say about their use, in their own, untrusted words.
  std::vector<ServerWords> servers{};
};

/// The system prompt for a model of the family. Depends on its arguments only, so that the requests
/// of a stage keep their bytes.
std::string system_prompt(const Briefing& briefing, ModelFamily family);

/// The environment that the model is told about.
struct EnvironmentContext {
  std::string cwd;
  std::string approval_mode;   ///< "deny-by-default" | "full-auto"
  std::string sandbox_mode;    ///< "read-only" | "workspace-write" | "none"
  std::string network_access;  ///< "none" | "allow-list" | "full"
  std::string shell;           ///< "bash"
  std::vector<std::string> writable_roots;
  std::string date;  ///< "2026-11-21"
};

/// <environment_context>…</environment_context>, its values escaped as XML text.
std::string environment_context(const EnvironmentContext& environment);

/// The same with what a stage has changed: sandbox and writable roots.
std::string sandbox_context(const EnvironmentContext& environment);

/// <user_instructions>…</user_instructions>; "" without documents.
std::string user_instructions(const ProjectDocs& docs);

/// The first items of a run: project docs, environment, prompt. Known secrets are redacted.
/// @param images  attached to the prompt
std::vector<Item> first_items(const ProjectDocs& docs, const EnvironmentContext& environment,
                              const std::string& prompt, const Redactor& redactor,
                              std::vector<Image> images = {});

}  // namespace sortie
