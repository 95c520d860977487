#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "core/agent/earlier_work.h"
#include "core/files/files.h"
#include "core/record/run_history.h"
#include "core/secrets/redact.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// A file as the records of a run leave it.
struct RecordedFile {
  bool is_there = true;
  bool is_link = false;
  unsigned mode = 0644;
  std::string sha256{};  ///< hex; "" if it is not recorded, or there is no file
};

/// The files that the recorded calls changed, by path.
std::map<std::string, RecordedFile> recorded_files(const RunHistory& history);

/// Finds what differs between the tree as the record of an earlier process leaves it and the tree as
/// it is. Where digests are not known, the kernel's time of the last change decides.
///
/// Reads at most 32 MiB, and returns at most 1,000 changes, those first that git does not ignore; the
/// lines then end with "… N more".
/// @param view      as commands see the tree
/// @param root      the user's own tree
/// @param since     when that process began what is not recorded
/// @param redactor  contents with secrets are left out
CutOffEffects find_cut_off_effects(const Workspace& workspace, const DiskFiles& view,
                                   const std::filesystem::path& root, const RunHistory& history,
                                   std::chrono::system_clock::time_point since,
                                   const Redactor& redactor);

}  // namespace sortie
