#include "core/git/git_handle.h"

#include <iterator>
#include <mutex>

/// Debian's libgit2 reads all trusted certificates in git_libgit2_init(), which costs 9 ms at each
/// start, for connections that are never made here. This function replaces the one that it calls: a
/// program's own symbols take precedence over those of its libraries.
extern "C" int mbedtls_x509_crt_parse_file(void* /*chain*/, const char* /*path*/) { return 0; }

namespace sortie {

void start_libgit2() {
  static std::once_flag once;
  std::call_once(once, [] {
    git_libgit2_init();
    for (const int level : {GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL,
                            GIT_CONFIG_LEVEL_PROGRAMDATA}) {
      git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "/dev/null");
    }
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    // Harmless for reading; unsupported_format() has checked the values of the last two.
    const char* extensions[] = {"partialclone",      "worktreeconfig", "preciousobjects",
                                "relativeworktrees", "objectformat",   "refstorage"};
    git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, std::size(extensions));
  });
}

void check_git(int result, const std::string& step, ExitCode code) {
  if (result >= 0) return;
  const git_error* error = git_error_last();
  const std::string cause = error != nullptr && error->message != nullptr
                                ? error->message
                                : "libgit2 error " + std::to_string(result);
  throw Error(step + ": " + cause, code);
}

std::string id_text(const git_oid& id) {
  char text[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(text, sizeof text, &id);
}

}  // namespace sortie
