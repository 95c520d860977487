#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/doctor.h"
#include "app/commands/doctor_task.h"
#include "app/confinement/confinement.h"
#include "app/show/credential_report.h"
#include "app/show/failure.h"
#include "app/show/standard_output.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/catalog/providers.h"
#include "core/files/file_name.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "core/workspace/open_workspace.h"
#include "core/workspace/own_tree.h"
#include "core/workspace/tree.h"
#include "core/workspace/workspace.h"
#include "core/workspace/workspace_options.h"
#include "policies/egress/gate/connect_gate.h"
#include "policies/file/policy_loader.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/support.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// A temporary folder for trying things out.
class TryFolder {
 public:
  TryFolder() {
    path_ = make_temporary_folder("sortie-doctor");
    fs::create_directories(path_ / "workspace/.git");
    fs::create_directories(path_ / "state");
  }
  TryFolder(const TryFolder&) = delete;
  TryFolder& operator=(const TryFolder&) = delete;
  ~TryFolder() { remove_tree(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Json remedies_json(const SandboxLayers& layers, const std::string& no_namespaces) {
  Json list = Json::array();
  for (const Remedy& one : find_remedies(layers, no_namespaces, read_machine_settings()))
    list.push_back(Json::object({{"layer", one.layer}, {"why", one.why}, {"remedy", one.remedy}}));
  return list;
}

/// Tries isolation, sandbox layers and canary as a run does, and reports the results.
/// @param no_namespaces  why there are none; "" if there are
void try_confinement(const fs::path& folder, const std::string& no_namespaces, Json& report) {
  const bool namespaces = no_namespaces.empty();
  WorkspaceOptions options;
  options.root = folder / "workspace";
  options.out = folder / "out";
  options.state = folder / "state";
  options.namespaces = namespaces;
  options.probe_overlay = [](const MountPlan& plan) { return probe_overlay(plan); };
  const std::string no_own_tree = why_not_own_tree(options);
  report.set("own_tree",
             Json::object({{"available", no_own_tree.empty()}, {"problem", no_own_tree}}));
  try {
    const auto workspace = open_workspace(options);
    report.set("isolation", Json::object({{"mode", name_of(workspace->isolation())},
                                          {"reason", workspace->reason()}}));
    const Policy policy = load_policy("strict");
    Confinement confinement(ConfinementInputs{policy,
                                              policy.approval,
                                              options.root,
                                              options.out,
                                              {},
                                              workspace->mount_plan(),
                                              namespaces,
                                              no_namespaces,
                                              options.state},
                            own_environment());
    report.set("layers", confinement.layers_json());
    report.set("remedies", remedies_json(confinement.keeper().layers(), no_namespaces));
    report.set("guarantees",
               guarantees_json(run_canary(confinement.launcher(), confinement.profile(),
                                          confinement.environment(), {})));
  } catch (const Error& error) {
    report.set("problem", error.what());
    if (report["remedies"].items().empty() && !namespaces)
      report.set("remedies", remedies_json({}, no_namespaces));
  }
}

/// Which variables for keys, addresses, proxies and certificates are set; never their values.
Json surroundings_json() {
  Json json = Json::object();
  const auto add = [&json](const std::string& name) {
    json.set(name, own_variable(name.c_str()).empty() ? "not set" : "set");
  };
  for (const ProviderInfo& provider : providers())
    if (!provider.key_variable.empty()) add(std::string(provider.key_variable));
  for (const char* name : {"SORTIE_BASE_URL", "SORTIE_AUTH_URL", "HTTPS_PROXY", "ALL_PROXY",
                           "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"})
    add(name);
  return json;
}

/// Which folders of this process's PATH commands in this folder would have.
CommandPath path_in(const fs::path& here, const Policy& policy) {
  MountPlan plan;
  plan.workspace = here;
  return path_of_commands({.policy = policy,
                           .approval = policy.approval,
                           .workspace = here,
                           .out = {},
                           .protected_files = {},
                           .mount = plan},
                          own_environment());
}

Json path_json(const CommandPath& path) {
  Json folders = Json::array();
  for (const fs::path& folder : path.folders) folders.push_back(folder.string());
  Json left_out = Json::array();
  for (const auto& one : path.left_out)
    left_out.push_back(
        Json::object({{"entry", one.entry}, {"why", one.why}, {"remedy", one.remedy}}));
  return Json::object({{"folders", std::move(folders)}, {"left_out", std::move(left_out)}});
}

std::string path_text_for_people(const Json& path) {
  std::string text = "\nPATH of commands in this folder\n";
  for (const Json& folder : path["folders"].items()) text += "  " + folder.text() + "\n";
  for (const Json& one : path["left_out"].items())
    text += "  left out: " + one.string_at("entry") + ": " + one.string_at("why") +
            (one.string_at("remedy").empty() ? "" : "; " + one.string_at("remedy")) + "\n";
  return text;
}

std::string policy_of(const RunOptions& options, const std::optional<LoadedTask>& task) {
  if (task) return chosen_policy(options.policy, task->task);
  return options.policy.empty() ? "strict" : options.policy;
}

Json examine(const RunOptions& options) {
  check_machine();
  // A task that is wrong is told before anything is tried.
  std::optional<LoadedTask> task;
  if (!options.task.empty()) task = load_task_and_policy(options, "");
  const Policy policy = task ? task->policy : load_policy(policy_of(options, task));
  const TryFolder folder;
  std::string why;
  namespaces_available(&why);
  Json report = Json::object({{"version", SORTIE_VERSION}});
  utsname system{};
  if (::uname(&system) == 0) report.set("kernel", system.release);
  report.set("user", ::getuid() == 0 ? "root" : "uid " + std::to_string(::getuid()));
  const std::string no_gate = probe_connect_gate(::getuid(), ::getgid());
  report.set("connect_gate", Json::object({{"available", no_gate.empty()}, {"problem", no_gate}}));
  report.set("isolation", Json());
  report.set("own_tree", Json());
  report.set("layers", Json());
  report.set("guarantees", Json());
  report.set("problem", Json());
  report.set("remedies", Json::array());
  try_confinement(folder.path(), why, report);
  report.set("credentials", credentials_json(options, policy, SystemClock().now()));
  std::error_code error;
  const fs::path here = task ? task->places.workspace : fs::canonical(".", error);
  const CommandPath path = error ? CommandPath{} : path_in(here, policy);
  report.set("path", path_json(path));
  report.set("task", task ? task_report(*task, policy_of(options, task), path,
                                        find_start_problems(*task, options))
                          : Json());
  report.set("surroundings", surroundings_json());
  report.set("remedy", why.empty() ? Json() : Json(why));
  return report;
}

std::string yes_no(const Json& value) { return value.boolean() ? "yes" : "no"; }

/// What makes commands use the proxy in network mode allow-list.
std::string allow_list_by(const Json& report) {
  if (report["layers"]["namespaces"].boolean()) return "by a network namespace";
  const std::string problem = report["connect_gate"].string_at("problem");
  return problem.empty() ? "by the connect gate" : "no: connect gate: " + problem;
}

/// A proved guarantee in a few words; one that is not proved, with all details.
std::string proof_text(const Json& proof) {
  if (!proof["proved"].boolean()) return "NOT proved: " + proof.string_at("detail");
  const auto attempts = proof.integer_at("attempts");
  return "proved by " + std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts");
}

std::string for_people(const Json& report) {
  const Json& layers = report["layers"];
  std::string text = "sortie " + report.string_at("version") + ", kernel " +
                     report.string_at("kernel") + ", " + report.string_at("user") + "\n\nlayers\n";
  text += "  namespaces  " + yes_no(layers["namespaces"]) + "\n";
  text += "  Landlock    " +
          (layers.integer_at("landlock_abi") == 0 ? std::string("no")
                                                  : "ABI " + layers["landlock_abi"].text()) +
          "\n";
  text += "  seccomp     " + yes_no(layers["seccomp"]) + "\n";
  text += "  allow-list  " + allow_list_by(report) + "\n";
  text += "  cgroup      " + yes_no(layers["cgroup"]) + "\n";
  for (const auto& missing : layers["missing"].items())
    text += "  missing     " + missing.text() + "\n";
  text += "\nguarantees (a canary command tried to break them; --json lists each attempt)\n";
  for (const auto& [name, proof] : report["guarantees"].members())
    text += "  " + name + std::string(name.size() < 11 ? 11 - name.size() : 1, ' ') +
            proof_text(proof) + "\n";
  const Json& isolation = report["isolation"];
  text += "\nisolation\n  ";
  text += isolation.is_null()
              ? "none works here"
              : isolation.string_at("mode") + " (" + isolation.string_at("reason") + ")";
  const Json& own_tree = report["own_tree"];
  text += "\n  --isolation none: " + (own_tree["available"].boolean()
                                          ? std::string("works")
                                          : "only under a policy with paths.protect: [], since " +
                                                own_tree.string_at("problem"));
  if (report["task"].is_object()) text += "\n\n" + task_report_text(report["task"]);
  text += "\n\ncredentials\n" + credentials_text(report["credentials"]);
  text += path_text_for_people(report["path"]);
  text += "\nsurroundings\n";
  for (const auto& [name, value] : report["surroundings"].members())
    text += "  " + name + ": " + value.text() + "\n";
  if (report["problem"].is_string()) text += "\nproblem\n  " + report["problem"].text() + "\n";
  for (const Json& one : report["remedies"].items())
    text += "\nremedy for " + one.string_at("layer") + "\n  why     " + one.string_at("why") +
            "\n  remedy  " + one.string_at("remedy") + "\n";
  return text;
}

/// Whether all is proved, and a task finds what it needs.
bool all_works(const Json& report) {
  bool all = report["problem"].is_null();
  for (const auto& [name, proof] : report["guarantees"].members())
    all = all && proof["proved"].boolean();
  return all && (!report["task"].is_object() || report["task"]["problems"].items().empty());
}

}  // namespace

DoctorBrief brief_doctor(const std::string& task) {
  RunOptions options;
  options.task = task;
  const Json report = examine(options);
  DoctorBrief brief{.works = all_works(report)};
  if (report["problem"].is_string()) brief.lines.push_back(report["problem"].text());
  for (const Json& one : report["task"]["problems"].items()) brief.lines.push_back(one.text());
  std::vector<std::string> proved;
  for (const auto& [name, proof] : report["guarantees"].members())
    if (proof["proved"].boolean())
      proved.push_back(name);
    else
      brief.lines.push_back("guarantee " + name + ": " + proof_text(proof));
  if (!proved.empty())
    brief.lines.push_back("the sandbox works: " + joined(proved, ", ") + " proved; isolation " +
                          report["isolation"].string_at("mode"));
  for (const Json& command : report["task"]["verification"].items())
    for (const Json& one : command["unchecked"].items()) {
      const std::string line = "not looked at: " + one_line(one.text(), 100);
      if (!is_one_of(line, brief.lines)) brief.lines.push_back(line);
      brief.looked_at_all = false;
    }
  for (const Json& one : report["task"]["notes"].items()) brief.lines.push_back(one.text());
  return brief;
}

void add_doctor(CommandTable& table) {
  auto options = std::make_shared<RunOptions>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App& app =
      add_command(table, table.root, "doctor",
                  "Show what works here: sandbox, isolation, credentials, what a task needs.",
                  "sortie doctor --task .sortie/task.yaml", [options, as_json] {
                    if (options->task == "-") throw InputError("--task - is not possible here");
                    const Json report = examine(*options);
                    if (*as_json)
                      print_document(write_json_pretty(report));
                    else
                      print_out(for_people(report));
                    return all_works(report) ? ExitCode::success : ExitCode::environment;
                  });
  app.add_flag("--json", *as_json, "as JSON");
  app.add_option("--policy", options->policy,
                 "policy file or preset: where credentials may go, what commands have on PATH");
  app.add_option("--task", options->task,
                 "check this task with its policy: files, key, programs of its verification");
  app.add_option("--api-key-file", options->api_key_file, "check this, as run would");
  app.add_option("--api-key-fd", options->api_key_fd, "check this, as run would");
  app.add_option("--auth-file", options->auth_file,
                 "check this sign-in: plan, age, whether it can be refreshed");
}

}  // namespace sortie
