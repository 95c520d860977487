#include "app/commands/version_text.h"

namespace sortie {

std::string version_text() {
#ifdef SORTIE_COMMIT
  return "sortie " SORTIE_VERSION " (" SORTIE_COMMIT ")";
#else
  return "sortie " SORTIE_VERSION;
#endif
}

}  // namespace sortie
