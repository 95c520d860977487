#pragma once

#include <string>

#include "core/workspace/mount_plan.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

/// Whether a run's namespaces and view can be had here: the whole sequence is performed in a
/// throw-away child (namespaces, id maps, loopback, mounts, a command's /proc), since some
/// systems grant the namespace and refuse what it is for. Call it while single-threaded.
/// @param why  set to the step that failed and its cause; may be null
bool namespaces_available(std::string* why);

/// Tries an overlay plan in a throw-away keeper: mounts it, lists the top levels, writes and
/// removes a file through it. Nothing is left in the upper folder. For
/// WorkspaceOptions::probe_overlay; call it while single-threaded.
/// @return "" when it works, else why not
std::string probe_overlay(const MountPlan& plan);

}  // namespace sortie
