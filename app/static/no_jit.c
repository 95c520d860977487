/* libgit2 has PCRE2 for patterns in git's configuration, and never asks it to compile them to machine
   code. These functions stand for that compiler: 0.2 MB less, and nothing in the program that needs a
   page both writable and executable. PCRE2 calls them for patterns that were compiled so, of which
   there are none. A version of PCRE2 that needs more of them fails to link, which says so. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* As in pcre2_intmodedep.h and pcre2.h, of whose types only pointers are needed. */
void _pcre2_jit_free_8(void* code, void* memory);
size_t _pcre2_jit_get_size_8(void* code);
const char* _pcre2_jit_get_target_8(void);
int _pcre2_jit_check_exec_8(void* code, uint32_t options); /* Debian's own */
int pcre2_jit_match_8(const void* code, const uint8_t* subject, size_t length, size_t start,
                      uint32_t options, void* match, void* context);

void _pcre2_jit_free_8(void* code, void* memory) {
  (void)code;
  (void)memory;
  abort();
}

size_t _pcre2_jit_get_size_8(void* code) {
  (void)code;
  return 0;
}

const char* _pcre2_jit_get_target_8(void) { return "none"; }

int _pcre2_jit_check_exec_8(void* code, uint32_t options) {
  (void)code;
  (void)options;
  return 0;
}

int pcre2_jit_match_8(const void* code, const uint8_t* subject, size_t length, size_t start,
                      uint32_t options, void* match, void* context) {
  (void)code;
  (void)subject;
  (void)length;
  (void)start;
  (void)options;
  (void)match;
  (void)context;
  abort();
}
