#include "core/names/ares_resolver.h"

namespace sortie {

std::shared_ptr<HostResolver> system_resolver() { return ares_resolver(); }

}  // namespace sortie
