# The libraries of the program without shared libraries, under the names that they have otherwise.
# Poco's is made by ci/release/libraries, since Debian has no static one; the others are Debian's.
set(SORTIE_LIBRARIES "${PROJECT_SOURCE_DIR}/build/libraries/${CMAKE_SYSTEM_PROCESSOR}" CACHE PATH
  "where ci/release/libraries has put what it made")

function(static_library target file)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  find_library(path_of_${file} NAMES lib${file}.a HINTS ${SORTIE_LIBRARIES}/lib)
  if(NOT path_of_${file})
    message(FATAL_ERROR "there is no lib${file}.a: ci/release/libraries installs and makes what is needed")
  endif()
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${path_of_${file}}
    INTERFACE_LINK_LIBRARIES "${ARG_USES}")
endfunction()

static_library(static_z z)
static_library(static_pcre2 pcre2-8)
static_library(static_http_parser http_parser)
static_library(static_mbedcrypto mbedcrypto)
static_library(OpenSSL::Crypto crypto USES Threads::Threads)
static_library(OpenSSL::SSL ssl USES OpenSSL::Crypto)
static_library(Poco::Foundation PocoFoundation
  USES static_z Threads::Threads)
set_target_properties(Poco::Foundation PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${SORTIE_LIBRARIES}/include
  INTERFACE_COMPILE_DEFINITIONS "POCO_STATIC;POCO_NO_AUTOMATIC_LIBRARIES;POCO_UNBUNDLED")
static_library(yaml-cpp yaml-cpp)
static_library(PkgConfig::RE2 re2 USES Threads::Threads)
static_library(PkgConfig::LIBSECCOMP seccomp)
static_library(PkgConfig::LIBGIT2 git2
  USES "static_pcre2;static_http_parser;static_mbedcrypto;static_z")
static_library(PkgConfig::CARES cares)
set(CARES_FOUND TRUE)
