/* libc looks names of hosts, users and services up by modules that nsswitch.conf(5) names: files of
   the machine's C library, which need not be the one that is linked in. core/names asks c-ares in
   the program without shared libraries; these replace what libraries refer to and nothing calls:
   libcrypto's connections, libgit2's home folder of another user, c-ares's names of services. */
#include <netdb.h>
#include <pwd.h>
#include <stddef.h>

int getaddrinfo(const char* restrict host, const char* restrict service,
                const struct addrinfo* restrict hints, struct addrinfo** restrict list) {
  (void)host;
  (void)service;
  (void)hints;
  (void)list;
  return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo* list) { (void)list; }

int getnameinfo(const struct sockaddr* restrict address, socklen_t size, char* restrict host,
                socklen_t host_size, char* restrict service, socklen_t service_size, int flags) {
  (void)address;
  (void)size;
  (void)host;
  (void)host_size;
  (void)service;
  (void)service_size;
  (void)flags;
  return EAI_FAIL;
}

struct hostent* gethostbyname(const char* name) {
  (void)name;
  return NULL;
}

struct servent* getservbyname(const char* name, const char* protocol) {
  (void)name;
  (void)protocol;
  return NULL;
}

int getservbyport_r(int port, const char* restrict protocol, struct servent* restrict entry,
                    char* restrict bytes, size_t size, struct servent** restrict result) {
  (void)port;
  (void)protocol;
  (void)entry;
  (void)bytes;
  (void)size;
  *result = NULL;
  return 0;
}

int getpwuid_r(uid_t user, struct passwd* restrict entry, char* restrict bytes, size_t size,
               struct passwd** restrict result) {
  (void)user;
  (void)entry;
  (void)bytes;
  (void)size;
  *result = NULL;
  return 0;
}
