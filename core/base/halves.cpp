#include "core/base/halves.h"

#include <system_error>
#include <thread>

namespace sortie {
namespace {

constexpr std::size_t kWorthAThread = 64;  ///< as many files: a start takes what one or two do

}  // namespace

void in_halves(std::size_t size, std::size_t middle,
               const std::function<void(std::size_t, std::size_t)>& part) {
  std::thread other;
  if (size >= kWorthAThread && middle < size) {
    try {
      other = std::thread(part, middle, size);
    } catch (const std::system_error&) {  // no more threads
    }
  }
  part(0, middle);
  if (other.joinable())
    other.join();
  else
    part(middle, size);
}

}  // namespace sortie
