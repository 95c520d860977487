#pragma once

#include <cstddef>
#include <functional>

namespace sortie {

/// Does [0, middle) and [middle, size) at the same time, each in a thread, and comes back when both
/// are done. One after the other where there is too little for that to be worth a thread's start,
/// or no thread is to be had.
/// @param part  does [first, last); throws nothing
void in_halves(std::size_t size, std::size_t middle,
               const std::function<void(std::size_t first, std::size_t last)>& part);

}  // namespace sortie
