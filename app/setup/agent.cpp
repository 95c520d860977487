#include "app/setup/agent.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "app/inputs/provider_choice.h"
#include "app/inputs/tool_choice.h"
#include "app/setup/mcp_servers.h"
#include "app/setup/tool_set.h"
#include "core/agent/answer.h"
#include "core/agent/checks/mentioned_paths.h"
#include "core/agent/prompt.h"
#include "core/base/error.h"
#include "core/catalog/model_family.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/images/image_file.h"
#include "core/task/tool_names.h"
#include "core/text/base64.h"
#include "core/text/text.h"
#include "policies/engine/approver.h"
#include "policies/engine/explain.h"
#include "policies/environment/command_path.h"
#include "tools/recorded_calls.h"
#include "tools/tool_runner.h"

namespace sortie {
std::vector<Image> task_images(const std::vector<TaskImage>& images, const Redactor& redactor) {
  std::vector<Image> shown;
  for (const TaskImage& image : images) {
    if (const std::string name = redactor.find(image.content); !name.empty())
      throw Error("images: " + path_text(image.path) + " holds the known secret " + name +
                      " in its bytes, and would take it to the model: write the image without it",
                  ExitCode::usage);
    shown.push_back({.media_type = image.header.media_type,
                     .base64 = base64_encoded(image.content),
                     .width = image.header.width,
                     .height = image.header.height});
  }
  return shown;
}

namespace fs = std::filesystem;

struct Agent::State : public ConcurrentCommandSource {
  explicit State(Parts given)
      : parts(std::move(given)),
        redactor(parts.secrets.redactor()),
        beside(parts.confinement, *this) {}

  void make_model();
  void make_tools();
  void answer_from_record(ToolRunnerOptions& options);
  ApprovalOptions approval_options();
  void make_loop();
  void read_docs();
  void check_stage_tools() const;
  void set_stage(const TaskStage* stage, int turns_used = 0);
  void limit_to_stage();
  std::string tool_choice() const;
  ToolSource* start_servers();
  ConcurrentCommands concurrent_commands() const override;
  std::optional<std::string> renew_tools(std::stop_token stop);
  bool asks_for_answer() const;
  void brief();
  std::string instructions(const TaskModel& model) const;
  SandboxMode sandbox() const;
  EnvironmentContext environment() const;
  std::vector<Item> opening(const std::string& prompt, std::vector<Image> images);
  std::vector<Item> prompt(const std::string& text, std::vector<Image> images = {});

  Parts parts;
  const Redactor& redactor;
  std::unique_ptr<RunModels> models;
  std::unique_ptr<Launcher> launcher;
  std::unique_ptr<ExecSessions> sessions;
  std::unique_ptr<Approver> approver;
  std::unique_ptr<RecordedCalls> recorded_calls;  ///< of a replay: what it does not do again
  std::unique_ptr<mcp::Servers> servers;          ///< of tools; before the runner, which has those
  std::unique_ptr<ToolRunner> tool_runner;
  std::unique_ptr<ResponseChecks> checks;
  std::unique_ptr<Loop> loop;
  ProjectDocs docs;
  std::vector<std::string> notes;
  const TaskStage* stage = nullptr;  ///< the one that is under way
  Briefing briefing;
  std::string told_sandbox;       ///< the mode that the model was told last
  bool prompted = false;          ///< the first message of this run was made
  ConcurrentCommandWatch beside;  ///< ends first
};

void Agent::State::make_model() {
  models = std::make_unique<RunModels>(
      RunModels::Parts{parts.inputs, parts.options, parts.secrets.keys(), parts.secrets.proxy(),
                       redactor, parts.clock, parts.secrets.sign_in(), parts.connected, parts.stop,
                       [this](const std::string& line) { parts.notices.warn(line); },
                       [this](const TaskModel& model) { return instructions(model); }});
  notes.insert(notes.end(), models->notes().begin(), models->notes().end());
}

void Agent::State::make_tools() {
  const RunInputs& inputs = parts.inputs;
  if (!parts.options.replay_calls.empty())
    recorded_calls = std::make_unique<RecordedCalls>(parts.options.replay_calls);
  launcher = std::make_unique<BudgetedLauncher>(parts.confinement.launcher(), parts.budget);
  sessions = std::make_unique<ExecSessions>(
      *launcher, SessionOutputs{redactor, inputs.task.context.shown_output, &parts.outputs});
  ToolSetParts set{
      .inputs = inputs,
      .confinement = parts.confinement,
      .launcher = *launcher,
      .redactor = redactor,
      .clock = parts.clock,
      .git = parts.git,
      .diff = [&work = parts.work](
                  const std::string& only,
                  const CancelCheck& check_cancel) { return work.draft(only, check_cancel); },
      .sessions = *sessions,
      .outputs = &parts.outputs,
      .run_tests = [&tests = parts.tests](std::stop_token stop) { return tests.run_tests(stop); }};
  // Nothing knows what the run has changed.
  if (inputs.thread != nullptr && !inputs.thread->keeps_start) set.diff = {};
  auto tools = sortie::make_tools(set, notes);

  ToolRunnerOptions options;
  options.shown_output = inputs.task.context.shown_output;
  options.max_denials = inputs.policy.max_denials;
  options.abort_on_denied = inputs.policy.abort_on_denied;
  options.approval = approval_options();
  options.offer.absent = absent_tools(set);
  options.offer.source = start_servers();
  options.outputs = &parts.outputs;
  if (recorded_calls) answer_from_record(options);
  options.paths.touched_paths = [&work = parts.work] { return work.touched_paths(); };
  options.paths.file_changes = [&work = parts.work](const std::vector<std::string>& touched,
                                                    bool by_other_program) {
    return work.file_changes(touched, by_other_program);
  };
  options.paths.files_at_limit = [&work = parts.work] { return work.files_at_limit(); };
  options.offer.keeps = [this](const std::string& name) {
    return enables_tool(parts.inputs.task.tools, name);
  };
  options.paths.protected_changes = [&work = parts.work] { return work.restore_protected(); };
  if (auto* made = parts.confinement.made_paths())
    options.paths.made_paths = [made] { return made->take(); };
  options.paths.repository_is_read_only = inputs.policy.sandbox == SandboxMode::workspace_write &&
                                          parts.confinement.engine().is_protected(".git/index");
  options.paths.led_elsewhere = [&work = parts.work] { return work.led_elsewhere(); };
  tool_runner =
      std::make_unique<ToolRunner>(std::move(tools), parts.confinement.engine(), parts.events,
                                   redactor, parts.clock, std::move(options));
  check_stage_tools();
}

/// Has a replay take from the record what it can't do again.
void Agent::State::answer_from_record(ToolRunnerOptions& options) {
  const auto tree = [this] {
    return RecordedCalls::Tree{parts.confinement.view(), parts.confinement.engine()};
  };
  options.recorded = [this, tree](const ToolCall& call) {
    return recorded_calls->answer(call, tree());
  };
  options.recorded_actions = [this](const ToolCall& call) { return recorded_calls->actions(call); };
  options.later_changes = [this, tree](const ToolCall& call, std::vector<FileChange>& changes) {
    // They are not the doing of the next call.
    if (recorded_calls->add_later_changes(call, changes, tree()))
      parts.work.file_changes(parts.work.touched_paths(), false);
  };
}

/// Starts the task's MCP servers.
/// @throws Error  ExitCode::environment: a required one does not start, or differs from its pin
ToolSource* Agent::State::start_servers() {
  if (recorded_calls) return recorded_calls->source();
  servers =
      make_mcp_servers({.inputs = parts.inputs,
                        .confinement = parts.confinement,
                        .budget = parts.budget,
                        .events = parts.events,
                        .proxy = parts.secrets.proxy(),
                        .redactor = redactor,
                        .own = parts.secrets.own(),
                        .changed_paths = [&work = parts.work] { return work.changed_paths(); },
                        .turn = [this] { return loop ? loop->turn() : 0; }});
  if (!servers) return nullptr;
  for (auto& line : servers->start(parts.stop)) notes.push_back(std::move(line));
  for (auto& line : notes_on_server_tools(parts.inputs.task, servers->tools()))
    notes.push_back(std::move(line));
  if (auto note = script_rules_note(parts.inputs, *servers); !note.empty())
    notes.push_back(std::move(note));
  return servers.get();
}

/// The model's sessions and the MCP servers, which would run concurrently with a command.
ConcurrentCommands Agent::State::concurrent_commands() const {
  ConcurrentCommands now;
  now.unguarded = !parts.confinement.keeper().layers().namespaces;
  // Read-only commands change nothing, but a rule may let one write.
  const bool may_write = sandbox() != SandboxMode::read_only;
  if (may_write || parts.inputs.policy.escalation)
    for (auto& one : sessions->open_sessions())
      now.sessions.push_back(
          {.name = "session " + std::to_string(one.id),
           .command = {.argv = std::move(one.argv), .workdir = std::move(one.workdir)},
           .may_write = may_write});
  if (servers)
    for (const auto& name : servers->writing()) now.writers.push_back("the MCP server " + name);
  return now;
}

/// New instructions, if the servers' tools have changed.
std::optional<std::string> Agent::State::renew_tools(std::stop_token stop) {
  if (!tool_runner->renew(stop)) return {};
  limit_to_stage();
  brief();
  return instructions(parts.inputs.task.model);
}

/// Refuses a stage that names a tool which the run lacks, if the loader could not know.
void Agent::State::check_stage_tools() const {
  const Task& task = parts.inputs.task;
  const auto names = tool_runner->names();
  for (const TaskStage& one : task.stages)
    for (const auto& tool : one.tools) {
      if (tool == kNoTools) continue;
      const auto is = [&](const std::string& name) { return means_tool(tool, name); };
      if (std::any_of(names.begin(), names.end(), is)) continue;
      // Left out of the run with a note, where the provider has none.
      if (tool == "web_search" && !task.tools.empty()) continue;
      if (tool == "view_image" && !offers_view_image(task)) continue;
      // Its server was not started, which is reported already, or may list it later.
      if (is_mcp_tool(tool)) continue;
      const std::string nearest = nearest_name(tool, names);
      throw Error(one.place + ": error: the run does not have the tool '" + one_line(tool, 60) +
                      "' of the stage '" + one.name + "'" +
                      (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"),
                  ExitCode::usage);
    }
}

/// Makes the approver, which decides if no rule matches.
ApprovalOptions Agent::State::approval_options() {
  const RunInputs& inputs = parts.inputs;
  ApprovalOptions options;
  options.run_id = inputs.run_id;
  options.time_left = [&budget = parts.budget] { return budget.time_left(); };
  if (!inputs.policy.approver) return options;
  if (recorded_calls) {
    options.approver = &recorded_calls->approver();
    return options;
  }
  const Environment own = own_environment();
  CommandPathPlaces places;
  places.workspace = parts.confinement.workspace();
  approver = std::make_unique<ProgramApprover>(
      inputs.policy, own, find_command_path(own, places).folders, redactor,
      [&notices = parts.notices](const std::string& line) { notices.say(line); });
  options.approver = approver.get();
  return options;
}

/// The mode in force: the policy's, or a stage's stricter one.
SandboxMode Agent::State::sandbox() const {
  return parts.confinement.engine().limits().read_only ? SandboxMode::read_only
                                                       : parts.inputs.policy.sandbox;
}

/// Whether the last message of this stage is the run's final one: no prompt follows.
bool Agent::State::asks_for_answer() const {
  if (stage == nullptr) return true;
  const auto& stages = parts.inputs.task.stages;
  return std::none_of(stages.data() + (stage - stages.data()) + 1, stages.data() + stages.size(),
                      [](const TaskStage& later) { return !later.verify; });
}

/// Collects the contents of the system prompt, for any model.
void Agent::State::brief() {
  const Task& task = parts.inputs.task;
  briefing = {};
  briefing.tools = tool_runner->specs();
  for (const auto& command : task.verify.commands) briefing.verify.push_back(command.text);
  if (parts.inputs.approval == Approval::deny_by_default)
    briefing.policy_summary = policy_summary(parts.inputs.policy, parts.inputs.approval);
  briefing.read_only = sandbox() == SandboxMode::read_only;
  briefing.sandboxed = sandbox() != SandboxMode::none;
  briefing.network = name_of(parts.inputs.policy.network);
  briefing.escalation = parts.inputs.policy.escalation;
  if (servers)
    for (auto& [server, text] : servers->instructions())
      briefing.servers.push_back({server, std::move(text)});
  if (task.output.schema && asks_for_answer())
    briefing.output_schema = write_json(*task.output.schema);
  briefing.staged = !task.stages.empty();
  briefing.verify_stage = std::any_of(task.stages.begin(), task.stages.end(),
                                      [](const TaskStage& one) { return one.verify; });
  briefing.instructions = task.instructions;
  briefing.replace = task.instructions_replace;
}

std::string Agent::State::instructions(const TaskModel& model) const {
  return redactor.text(system_prompt(briefing, family_of(model.provider, model.name)));
}

/// The choice of the stage, or the task's. Nothing has to be called once all stages have ended, nor
/// in the stage `verify`: a message is then about what has been done.
/// @throws Error  usage: the tool that has to be called is not offered
std::string Agent::State::tool_choice() const {
  const Task& task = parts.inputs.task;
  const bool of_stage = stage != nullptr && !stage->tool_choice.empty();
  const std::string& choice = of_stage ? stage->tool_choice : task.tool_choice;
  if (choice == "auto" || choice == "none") return choice;
  if (stage == nullptr ? !task.stages.empty() : stage->verify) return "auto";
  const auto specs = tool_runner->specs();
  std::string found = choice == "required" && !specs.empty() ? choice : "";
  for (const ToolSpec& spec : specs)
    if (found.empty() && means_tool(choice, spec.name)) found = spec.name;
  if (!found.empty()) return found;
  const auto place = task.places.find("tools.choice");
  throw Error((of_stage                     ? stage->place
               : place == task.places.end() ? "tools.choice"
                                            : place->second) +
                  ": error: 'choice' is '" + choice + "', but the model is offered no such tool" +
                  (stage == nullptr ? "" : " in the stage '" + stage->name + "'") +
                  ": see the policy's `tools` and the task's tools.enable",
              ExitCode::usage);
}

/// @param next        null: no stage
/// @param turns_used  by an earlier process of the run
void Agent::State::set_stage(const TaskStage* next, int turns_used) {
  stage = next;
  limit_to_stage();
  brief();
  StageSettings settings{.instructions = instructions(parts.inputs.task.model)};
  settings.ends_run = asks_for_answer();
  if (asks_for_answer()) settings.output_schema = output_schema_of(parts.inputs.task);
  // Gateways and mock servers for codex know the request by it.
  if (settings.output_schema && parts.inputs.thread != nullptr)
    settings.output_schema->name = "codex_output_schema";
  if (stage != nullptr) {
    settings.name = stage->name;
    settings.max_turns = stage->max_turns;
    settings.turns_used = turns_used;
  }
  settings.tool_choice = tool_choice();
  loop->begin_stage(std::move(settings));
}

void Agent::State::limit_to_stage() {
  StageLimits limits;
  if (stage != nullptr)
    limits = {.stage = stage->name,
              .read_only = stage->sandbox == StageSandbox::read_only,
              .tools = stage->tools};
  // Running sessions were confined for the stage before.
  if (parts.confinement.engine().limits().read_only != limits.read_only ||
      (stage != nullptr && !stage->tools.empty() && !enables_tool(stage->tools, "write_stdin")))
    sessions->end_all("with the stage");
  if (servers) servers->hold(limits.read_only);
  // The model may know a tool by another name.
  if (!limits.tools.empty())
    for (const auto& name : tool_runner->names())
      if (enables_tool(stage->tools, name)) limits.tools.push_back(name);
  parts.confinement.limit_to(std::move(limits));
}

void Agent::State::make_loop() {
  ModelSettings settings;
  apply_model(parts.inputs.task.model, settings);
  settings.run_id = conversation_id(parts.inputs);
  checks = std::make_unique<ResponseChecks>(parts.inputs.task.checks, [this] {
    Confinement& confinement = parts.confinement;
    const auto lookup = std::make_shared<PathLookup>(
        confinement.view(), confinement.workspace(),
        [&engine = confinement.engine()](const fs::path& path) { return engine.is_hidden(path); });
    return [lookup](const std::string& path) { return lookup->may_exist(path); };
  });
  loop = std::make_unique<Loop>(
      Loop::Parts{models->model(), *tool_runner, parts.events, parts.budget, checks.get(),
                  servers ? [this](std::stop_token stop) { return renew_tools(stop); }
                          : std::function<std::optional<std::string>(std::stop_token)>(),
                  &redactor},
      std::move(settings),
      ContextSettings{.models = parts.inputs.terms,
                      .compact_at = parts.inputs.task.context.compact_at,
                      .keep_last_turns = parts.inputs.task.context.keep_last_turns});
  set_stage(nullptr);
}

/// Documents are read from the start state: what the agent writes never becomes instructions.
void Agent::State::read_docs() {
  const TaskWorkspace& task = parts.inputs.task.workspace;
  const fs::path& workspace = parts.inputs.workspace;
  fs::path root = parts.git.toplevel.empty() ? workspace : fs::path(parts.git.toplevel);
  if (!is_below(workspace, root)) root = workspace;
  Fd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw system_error(root.string(), ExitCode::usage);
  const DiskFiles files(std::move(folder));
  const Engine& engine = parts.confinement.engine();
  docs = read_project_docs(files, workspace.lexically_relative(root), task.project_docs,
                           task.project_docs_max_bytes, [&engine, &root](const fs::path& path) {
                             const fs::path first = *path.begin();
                             return first == ".git" || engine.is_hidden(root / path);
                           });
  notes.insert(notes.end(), docs.notes.begin(), docs.notes.end());
}

Agent::Agent(Parts parts) : state_(std::make_unique<State>(std::move(parts))) {
  state_->make_model();
  state_->make_tools();
  state_->make_loop();
  // A replay sends no requests.
  if (const auto note = not_strict_note(state_->parts.inputs.task);
      !note.empty() && !replays(state_->parts.inputs))
    state_->notes.push_back(note);
  state_->read_docs();
}

Agent::~Agent() = default;

Loop& Agent::loop() { return *state_->loop; }

const std::vector<std::string>& Agent::notes() const { return state_->notes; }

std::vector<Item> Agent::message(const std::string& text) {
  const RunInputs& inputs = state_->parts.inputs;
  const bool empty = state_->loop->history().items().empty();
  const bool first = !std::exchange(state_->prompted, true);
  if (!empty && (!first || inputs.thread == nullptr)) return state_->prompt(text);
  auto images = task_images(inputs.task.images, state_->redactor);
  return empty ? state_->opening(text, std::move(images)) : state_->prompt(text, std::move(images));
}

int Agent::end_background() {
  if (state_->recorded_calls)
    for (std::string& gap : state_->recorded_calls->take_gaps())
      state_->parts.events.on({0, CheckRecord{.check = kReplayGap, .saw = std::move(gap)}});
  const int sessions = state_->sessions->end_all("when you ended your turn");
  return sessions + (state_->servers ? state_->servers->suspend() : 0);
}

void Agent::take_up(EarlierConversation earlier, const RunHistory& history) {
  state_->tool_runner->take_up_denials(history.denials_in_a_row);
  std::int64_t session = 0;
  for (const RecordedTurn& turn : history.turns)
    for (const TurnCall& call : turn.calls)
      if (call.output) session = std::max(session, call.output->details.session_id.value_or(0));
  state_->sessions->lose(static_cast<int>(session));
  state_->loop->restore(std::move(earlier));
}

bool Agent::asks_for_answer() const { return state_->asks_for_answer(); }

void Agent::enter_stage(const TaskStage& stage, int turns_used) {
  state_->set_stage(&stage, turns_used);
  if (turns_used > 0) state_->told_sandbox = name_of(state_->sandbox());
}

void Agent::leave_stage() { state_->set_stage(nullptr); }

StageRecord Agent::stage_record(const std::string& prompt) const {
  StageRecord record{
      .name = state_->stage->name, .prompt = prompt, .sandbox = name_of(state_->sandbox())};
  for (const ToolSpec& tool : state_->briefing.tools) record.tools.push_back(tool.name);
  return record;
}

/// By the sandbox that is in force.
EnvironmentContext Agent::State::environment() const {
  const RunInputs& inputs = parts.inputs;
  EnvironmentContext context;
  Confinement& confinement = parts.confinement;
  context.cwd = confinement.workspace();
  context.approval_mode = name_of(inputs.approval);
  context.sandbox_mode = name_of(sandbox());
  context.network_access = name_of(inputs.policy.network);
  context.shell = "bash";
  if (sandbox() != SandboxMode::read_only) {
    context.writable_roots = {context.cwd, confinement.environment().at("TMPDIR")};
    for (const auto& path : confinement.profile().writable) context.writable_roots.push_back(path);
  }
  context.date = utc_timestamp(parts.clock.now()).substr(0, 10);
  return context;
}

std::vector<Item> Agent::State::opening(const std::string& text, std::vector<Image> images) {
  const EnvironmentContext context = environment();
  told_sandbox = context.sandbox_mode;
  return first_items(docs, context, text, redactor, std::move(images));
}

/// A later message; after the sandbox that is in force, where a stage has changed it.
std::vector<Item> Agent::State::prompt(const std::string& text, std::vector<Image> images) {
  std::vector<Item> items;
  const EnvironmentContext context = environment();
  if (std::exchange(told_sandbox, context.sandbox_mode) != context.sandbox_mode)
    items.push_back({Message{Message::Role::user, redactor.text(sandbox_context(context))}});
  items.push_back({Message{Message::Role::user, redactor.text(text), std::move(images)}});
  return items;
}

}  // namespace sortie
