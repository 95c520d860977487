// What looking for known secrets costs: `redact_bench` prints a JSON line a text, the best of three
// passes over 50 MB in CPU seconds, beside a search for the values as they stand.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "core/secrets/needle_search.h"
#include "core/secrets/redact.h"

using namespace sortie;

namespace {

constexpr std::size_t kBytes = 50'000'000;
constexpr std::size_t kChunk = 65536;

template <typename Pass>
double best_seconds(Pass pass) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    pass();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main() {
  const std::vector<Secret> secrets = {{"ONE", "sk-proj-Te5tK_y0123456789abcdefGHIJKLMN"},
                                       {"TWO", "ghp_0a1b2c3d4e5f6g7h8i9jABCDEFGHIJ"}};
  const struct {
    const char* name;
    std::string unit;
  } texts[] = {
      {"a line of output", "a line of output, as a test runner prints it\n"},
      {"JSON", R"({"type":"item","text":"say \"no\" to \\n","path":"src/main.cpp"},)"},
      {"escapes", R"(\x61\x62\x63\x64\x65\x66\x67\x68)"},
      {"percent, twice", "%25"},
      {"backslashes", "\\"},
      {"quotes", "\""},
      {"a hex dump", "00000010: 6c69 6e65 206f 6620 6f75 7470 7574 2c20  line of output, \n"}};
  const Redactor redactor(secrets);
  NeedleSearch plain;
  for (const Secret& secret : secrets) plain.add(secret.value);
  plain.build();
  for (const auto& [name, unit] : texts) {
    std::string text;
    while (text.size() < kBytes) text += unit;
    const double ours = best_seconds([&] {
      StreamRedactor stream(redactor);
      for (std::size_t at = 0; at < text.size(); at += kChunk)
        stream.feed(std::string_view(text).substr(at, kChunk));
      stream.finish();
    });
    const double theirs = best_seconds([&] {
      NeedleSearch::Position position;
      std::vector<NeedleSearch::Hit> hits;
      plain.scan(text, position, hits);
    });
    std::printf("{\"work\": \"%s\", \"value\": %.3f, \"yardstick\": %.3f, \"unit\": \"s\"}\n", name,
                ours, theirs);
  }
}
