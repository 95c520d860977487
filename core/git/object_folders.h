#pragma once

#include <filesystem>

#include "core/git/config/git_place.h"
#include "core/git/git_handle.h"

namespace sortie {

/// An object database of a repository that was looked at (git_place.h): its own objects and those
/// that it borrows. Nothing but regular files is read as a loose object: what is a pipe or a device,
/// on which libgit2 would block, counts as missing.
/// @param synced  whether objects that are written are synced to disk
/// @throws Error  ExitCode::environment
GitOdb open_objects(const GitPlace& place, bool synced);

/// The loose file of an object, in one of the repository's folders, that is there but can't be read to
/// its end; "" for none.
std::filesystem::path blocking_object(const GitPlace& place, const git_oid& id);

/// Adds an object folder that is only read, likewise guarded. What it borrows is not read: the
/// folders of GitPlace::alternates have to be added by themselves.
/// @throws Error  ExitCode::environment, "STEP: …"
void add_objects(git_odb& objects, const std::filesystem::path& folder, const std::string& step);

}  // namespace sortie
