# The toolchain for arm64 on another machine: Debian's cross compiler (`ci/setup release-arm64`), and
# the libraries that ci/release/sysroot has fetched.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

get_filename_component(sortie_libraries ${CMAKE_CURRENT_LIST_DIR}/../../build/libraries ABSOLUTE)
set(CMAKE_SYSROOT ${sortie_libraries}/sysroot-arm64)
# The compiler's packages bring a libc of their own, without the last security updates: the sysroot's
# comes before it. (Its headers are taken; they are those of the same version.)
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT
    "-B${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu -ffile-prefix-map=${CMAKE_SYSROOT}=")
endforeach()

# What ci/release/libraries has made comes before what Debian has.
set(CMAKE_FIND_ROOT_PATH ${sortie_libraries}/aarch64 ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
