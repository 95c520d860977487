#include "semver.h"

#include <cstdio>
#include <string>

namespace {

int failures = 0;

void check(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

int order(const char* a, const char* b) {
  const int result = semver::compare(*semver::parse(a), *semver::parse(b));
  return result < 0 ? -1 : result > 0 ? 1 : 0;
}

void parsing() {
  const auto version = semver::parse("1.4.0-rc.2+build.7");
  check(version && version->minor == 4, "the minor number is read");
  check(version && version->prerelease.size() == 2, "the pre-release has two identifiers");
  check(version && version->build == "build.7", "the build is read");
  for (const char* bad : {"", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3+"})
    check(!semver::parse(bad), std::string("not a version: '") + bad + "'");
}

// The chain of section 11.4 of the specification.
void precedence() {
  const char* chain[] = {"1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
                         "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0"};
  for (std::size_t i = 0; i + 1 < std::size(chain); ++i) {
    check(order(chain[i], chain[i + 1]) < 0, std::string(chain[i]) + " < " + chain[i + 1]);
    check(order(chain[i + 1], chain[i]) > 0, std::string(chain[i + 1]) + " > " + chain[i]);
  }
  check(order("1.0.0+a", "1.0.0+b") == 0, "the build takes no part in precedence");
  check(order("2.10.0", "2.9.9") > 0, "numbers are compared as numbers");
}

}  // namespace

int main() {
  parsing();
  precedence();
  std::printf(failures == 0 ? "all tests passed\n" : "%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
