#pragma once

namespace sortie {

/// The name of the folder with the journal of a diff that is being applied (ApplyFolder), in the root
/// of the tree that is written to: on its file system, so that files go in and out by rename(2), and
/// where every later start on this tree finds it, and obeys it. So no command or tool may make one.
inline constexpr const char* kApplyFolder = ".sortie-apply";

}  // namespace sortie
