#pragma once

namespace sortie {

/// How a run's tree is kept apart from the user's own.
enum class Isolation { automatic, overlay, copy, none };
/// "overlay", "copy", …
const char* name_of(Isolation isolation) noexcept;

}  // namespace sortie
