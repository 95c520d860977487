/* The program without shared libraries loads none at run time either: a module of the machine would
   bring the machine's own C library and libcrypto into a process that has others. These functions
   replace libc's, and OpenSSL, which calls them for providers, is kept from openssl.cnf, which may
   name some. */
#include <dlfcn.h>
#include <openssl/crypto.h>
#include <stddef.h>

void* dlopen(const char* file, int mode) {
  (void)file;
  (void)mode;
  return NULL;
}

void* dlsym(void* restrict handle, const char* restrict name) {
  (void)handle;
  (void)name;
  return NULL;
}

int dlclose(void* handle) {
  (void)handle;
  return -1;
}

char* dlerror(void) { return "this program loads no libraries"; }

__attribute__((constructor)) static void keep_from_configuration(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
}
