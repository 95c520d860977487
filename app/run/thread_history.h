#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/earlier_work.h"
#include "core/model/model.h"
#include "core/record/run_history.h"
#include "core/task/task.h"

namespace sortie {

/// The conversation of a run up to its last record, with an output for each call: one that was cut off
/// is answered as interrupted. Nothing if it sent no request.
/// @param older     the responses of earlier runs, whose items stand in its requests
/// @param settings  of the requests to come
/// @param model     that gets them: what another provider sent is handed on as text alone
/// @throws Error  ExitCode::integrity: a response can't be read
std::optional<EarlierConversation> conversation_of(const RunHistory& history,
                                                   const std::vector<Response>& older,
                                                   const ModelSettings& settings,
                                                   const TaskModel& model);

/// What a thread's earlier runs leave to the next one.
struct ThreadConversation {
  std::optional<EarlierConversation> sent{};  ///< of the newest run that sent a request
  std::vector<std::string> unsent{};          ///< the prompts of the runs after it, oldest first
};

/// @param transcripts  of the thread's runs, the newest first
/// @throws Error  ExitCode::integrity: a transcript was changed
ThreadConversation thread_conversation(const std::vector<std::filesystem::path>& transcripts,
                                       const ModelSettings& settings, const TaskModel& model);

}  // namespace sortie
