#pragma once

#include <string>

#include "core/files/files.h"

namespace sortie {

/// The first link above a path that leads to itself, through others perhaps; "" for none. `git apply`
/// can't make a file below such a link, not even if the same diff removes the link: it looks at the
/// new path before (git: check_to_create in apply.c), and gets ELOOP.
std::string link_loop_above(const Files& files, const std::string& path);

}  // namespace sortie
