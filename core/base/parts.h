#pragma once

#include <cstddef>
#include <functional>

namespace sortie {

/// Called again and again in the midst of long work; what it throws ends the work.
using Pace = std::function<void()>;

/// Does [0, size) in a few parts at the same time, each in a thread, and comes back when all are
/// done. One after the other where there is too little for that to be worth a thread's start, or no
/// thread is to be had.
/// @param may_begin  whether a part may begin at an index; it begins at the next one that may
/// @param part       does [first, last); throws nothing
void in_parts(std::size_t size, const std::function<bool(std::size_t index)>& may_begin,
              const std::function<void(std::size_t first, std::size_t last)>& part);

}  // namespace sortie
