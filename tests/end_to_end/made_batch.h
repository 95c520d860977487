#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/support/program.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

inline const std::string kMadeBatches = SORTIE_SOURCE_DIR "/tests/end_to_end/benchmarks";

/// A cassette for the requests that hold this text (tests/support/cassette_server.py).
inline std::string with_comment(const std::string& cassette, const std::string& text) {
  const Json head = Json::object({{"cassette", 1}, {"comment", text}});
  return write_json(head) + cassette.substr(cassette.find('\n'));
}

/// tests/support/cassette_server.py over FOLDER/cassettes, for any number of runs at once.
class CassetteServer {
 public:
  explicit CassetteServer(std::filesystem::path folder)
      : folder_(std::move(folder)),
        server_({.argv = {"python3", "-B", SORTIE_SOURCE_DIR "/tests/support/cassette_server.py",
                          (folder_ / "cassettes").string(), (folder_ / "port").string(),
                          (folder_ / "log.jsonl").string()}}) {
    BOOST_TEST_REQUIRE(wait_until([this] { return std::filesystem::exists(folder_ / "port"); }));
  }
  std::string url() const { return "http://127.0.0.1:" + read_file(folder_ / "port") + "/v1"; }
  /// What was sent to its end, a line of JSON each.
  std::string log() const { return read_file(folder_ / "log.jsonl"); }

 private:
  std::filesystem::path folder_;
  Program server_;
};

/// The responses in such a log, each with how often it was sent: "run-1 0" → 1.
inline std::map<std::string, int> sent_responses(const std::string& log) {
  std::map<std::string, int> sent;
  for (const auto line : split_lines(log)) {
    const Json row = parse_json(line);
    ++sent[row.string_at("cassette") + " " + std::to_string(row.integer_at("response", -1))];
  }
  return sent;
}

}  // namespace sortie::test
