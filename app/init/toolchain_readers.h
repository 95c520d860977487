#pragma once

#include "app/init/project.h"
#include "app/init/toolchain.h"

// One reader a toolchain: its `sign` is "" where the project has none of its files, and the rest
// is then what is usual for it.

namespace sortie {

Toolchain read_node(const Project& project);
Toolchain read_python(const Project& project);
Toolchain read_go(const Project& project);
Toolchain read_rust(const Project& project);
Toolchain read_jvm(const Project& project);
Toolchain read_cpp(const Project& project);
Toolchain read_ruby(const Project& project);
Toolchain read_php(const Project& project);
Toolchain read_dotnet(const Project& project);

}  // namespace sortie
