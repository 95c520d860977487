#include "core/base/path_error.h"

#include <cerrno>

namespace sortie {

Error path_error(const std::string& what, int number) {
  const bool named_wrongly = number == ENOENT || number == ENOTDIR || number == EISDIR ||
                             number == EEXIST || number == EACCES || number == EPERM ||
                             number == EROFS || number == ENAMETOOLONG || number == ELOOP ||
                             number == EINVAL || number == EILSEQ;
  return Error(what + ": " + errno_text(number),
               named_wrongly ? ExitCode::usage : ExitCode::environment);
}

}  // namespace sortie
