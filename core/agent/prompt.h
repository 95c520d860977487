#pragma once

#include <string>
#include <vector>

#include "core/agent/project_docs.h"
#include "core/catalog/item.h"
#include "core/catalog/model_family.h"
#include "core/secrets/redact.h"

namespace sortie {

/// What the system prompt says of this run.
struct Briefing {
  std::vector<ToolSpec> tools;      ///< those that the model is shown
  std::vector<std::string> verify;  ///< verification commands as written; empty: none
  std::string policy_summary;       ///< under deny-by-default: what is allowed, in words; else ""
  bool read_only = false;           ///< the workspace can't be written
  std::string output_schema;        ///< JSON Schema of the final message; "": free text
  bool staged = false;              ///< the task comes in stages
  bool verify_stage = false;        ///< one of them runs the verification
  std::string instructions;         ///< the task's own, added at the end
  bool replace = false;             ///< they stand instead of all that is sortie's own
};

/// The system prompt for a model of the family. It depends on nothing but its arguments, so that
/// the requests of a stage keep their bytes.
std::string system_prompt(const Briefing& briefing, ModelFamily family);

/// Where the agent works, as the model is told.
struct EnvironmentContext {
  std::string cwd;
  std::string approval_mode;   ///< "deny-by-default" | "full-auto"
  std::string sandbox_mode;    ///< "read-only" | "workspace-write" | "none"
  std::string network_access;  ///< "none" | "full"
  std::string shell;           ///< "sh"
  std::vector<std::string> writable_roots;
  std::string date;  ///< "2026-11-21"
};

/// <environment_context>…</environment_context>, its values escaped as XML text.
std::string environment_context(const EnvironmentContext& environment);

/// <user_instructions>…</user_instructions>; "" where there is no document.
std::string user_instructions(const ProjectDocs& docs);

/// The items a run begins with: project docs, environment, prompt. Known secrets are replaced.
/// @param images  attached to the prompt
std::vector<Item> first_items(const ProjectDocs& docs, const EnvironmentContext& environment,
                              const std::string& prompt, const Redactor& redactor,
                              std::vector<Image> images = {});

}  // namespace sortie
