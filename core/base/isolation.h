#pragma once

#include <array>

#include "core/base/spelling.h"

namespace sortie {

/// How a run's tree is isolated from the user's.
enum class Isolation { automatic, overlay, copy, none };
template <>
inline constexpr auto kSpelling<Isolation> =
    std::to_array<Spelled<Isolation>>({{Isolation::automatic, "auto"},
                                       {Isolation::overlay, "overlay"},
                                       {Isolation::copy, "copy"},
                                       {Isolation::none, "none"}});

/// The tree that a run's diff is made against.
enum class DiffBase { automatic, start, head };
template <>
inline constexpr auto kSpelling<DiffBase> = std::to_array<Spelled<DiffBase>>(
    {{DiffBase::automatic, "auto"}, {DiffBase::start, "start"}, {DiffBase::head, "head"}});

/// What becomes of new files that by their signs a build made.
enum class Products { leave_out, include };
template <>
inline constexpr auto kSpelling<Products> = std::to_array<Spelled<Products>>(
    {{Products::leave_out, "leave_out"}, {Products::include, "include"}});

}  // namespace sortie
