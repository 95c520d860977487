#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/json.h"
#include "core/record/record_line.h"
#include "core/record/run_events.h"
#include "core/record/verify_result.h"

namespace sortie {

/// Checks the records of a transcript in their order: their numbers, their hash chain, and the blobs that
/// they name.
class ChainCheck {
 public:
  /// @param blobs  their folder; empty: they are not to be checked
  explicit ChainCheck(std::filesystem::path blobs) : blobs_(std::move(blobs)) {}

  /// False once something does not fit; finish() says what.
  /// @param bytes  of the line, without its newline
  bool take(RecordLine& line, std::uint64_t bytes);
  /// @param line  without its newline
  bool take(std::string_view line);
  VerifyResult finish(std::uint64_t torn_bytes);

  /// The last record, where that is run.completed.
  const RunEnd& completed() const { return completed_; }
  /// The version in run.started.
  const std::string& version() const { return version_; }
  /// Names in blobs/ that records name.
  const std::set<std::string>& named_blobs() const { return named_blobs_; }

 private:
  std::string check(const RecordLine& line);
  std::string check_data(const RecordLine& line);
  std::string check_event(const Envelope& envelope, const Json& data);
  std::string check_blobs(const Json& value);
  std::string check_blob(const std::string& name, const Json& reference);

  std::filesystem::path blobs_;
  VerifyResult result_;
  RunEnd completed_;
  std::string version_;
  std::set<std::string> named_blobs_;
};

}  // namespace sortie
