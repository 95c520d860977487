#pragma once

namespace sortie {

/// The permissions of a new file for the user: 0644 without what the umask takes. For AtomicFile and
/// write_file(), which set a mode exactly.
unsigned new_file_mode() noexcept;

}  // namespace sortie
