#include "app/artifacts/artifacts.h"

#include "core/base/hash.h"

namespace sortie {

std::string digest_of(const std::string& content) { return "sha256:" + sha256_hex(content); }

}  // namespace sortie
