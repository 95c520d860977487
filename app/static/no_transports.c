/* Debian's libgit2.a refers to libraries of ssh, TLS and GSS for connections that are never made
   here. In the program without shared libraries these functions stand in for libgit2's own, so that
   its linker takes neither those files of the archive nor the libraries: each transport is one that
   libgit2 was built without, and starting it costs no reading of certificates.

   The names and types are those of libgit2 1.5 (src/libgit2/transports, src/libgit2/streams): with
   another version the linker says what is missing, or defined twice. */
#include <git2.h>
#include <git2/sys/stream.h>
#include <git2/sys/transport.h>
#include <stdbool.h>

bool git_http__expect_continue = false;

int git_transport_ssh_global_init(void) { return 0; }
int git_mbedtls_stream_global_init(void) { return 0; }

static int refuse(void) {
  git_error_set_str(GIT_ERROR_NET, "this program makes no connections for git");
  return GIT_ERROR;
}

int git_mbedtls__set_cert_location(const char* file, const char* path) {
  (void)file;
  (void)path;
  return refuse();
}

int git_mbedtls_stream_new(git_stream** out, const char* host, const char* port) {
  (void)out;
  (void)host;
  (void)port;
  return refuse();
}

int git_mbedtls_stream_wrap(git_stream** out, git_stream* in, const char* host) {
  (void)out;
  (void)in;
  (void)host;
  return refuse();
}

#define NO_TRANSPORT(name)                                                        \
  int name(git_smart_subtransport** out, git_transport* owner, void* parameter) { \
    (void)out;                                                                    \
    (void)owner;                                                                  \
    (void)parameter;                                                              \
    return refuse();                                                              \
  }

NO_TRANSPORT(git_smart_subtransport_git)
NO_TRANSPORT(git_smart_subtransport_http)
NO_TRANSPORT(git_smart_subtransport_ssh)
