#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie::test {

/// Builds a cassette, one response after the other: calls are collected until next() or message().
class CassetteWriter {
 public:
  CassetteWriter& call(const std::string& tool, Json arguments);
  CassetteWriter& shell(const std::vector<std::string>& argv);
  CassetteWriter& patch(const std::string& text);
  /// Ends the response that the calls so far are part of.
  CassetteWriter& next();
  /// A response with this message, and with the calls so far; without calls it ends the turn.
  CassetteWriter& message(const std::string& text);
  /// The whole cassette.
  std::string text() const;
  /// The event streams of its responses, as a server would send them.
  const std::vector<std::string>& streams() const { return streams_; }
  void save(const std::filesystem::path& file) const;

 private:
  Json items_ = Json::array();
  std::vector<std::string> streams_;
  int calls_ = 0;
};

}  // namespace sortie::test
