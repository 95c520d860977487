#pragma once

#include <array>

#include "core/base/spelling.h"

namespace sortie {

/// The tree that a run's diff is made against.
enum class DiffBase { automatic, start, head };
template <>
inline constexpr auto kSpelling<DiffBase> = std::to_array<Spelled<DiffBase>>(
    {{DiffBase::automatic, "auto"}, {DiffBase::start, "start"}, {DiffBase::head, "head"}});

}  // namespace sortie
