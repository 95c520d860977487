#pragma once

#include <string>

namespace sortie {

/// "sha256:…"
std::string digest_of(const std::string& content);

}  // namespace sortie
