#pragma once

#include <filesystem>
#include <optional>

#include "core/net/http.h"

namespace sortie {

/// Where the machine keeps the certificates of authorities to trust: the first of the places that
/// distributions have; else the file `ca-certificates.crt` beside the program, for machines and
/// containers that have none. Nothing where there is neither.
///
/// @param root     of the machine's file system
/// @param program  this program's own file; "" if it can't be told
std::optional<TrustedCertificates> trusted_certificates(const std::filesystem::path& root,
                                                        const std::filesystem::path& program);

/// Those of this machine and program. Throws Error (code 7) where there are none.
TrustedCertificates own_trusted_certificates();

}  // namespace sortie
