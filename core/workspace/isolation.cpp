#include "core/workspace/isolation.h"

namespace sortie {

const char* name_of(Isolation isolation) noexcept {
  switch (isolation) {
    case Isolation::automatic:
      return "auto";
    case Isolation::overlay:
      return "overlay";
    case Isolation::copy:
      return "copy";
    case Isolation::none:
      return "none";
  }
  return "auto";
}

}  // namespace sortie
