#pragma once

#include <string>
#include <vector>

#include "tests/support/model_server.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

/// A run whose model is a server of the test on loopback.
class ProviderRun : public RunFolder {
 public:
  ProviderRun();
  /// A task under the preset auto. `model` is YAML in the braces of its model, `more` at its end.
  void write_task(const std::string& model = {}, const std::string& more = {}) const;
  /// The same with all that the task says of its model.
  void write_model(const std::string& model) const;
  /// `sortie run` with SORTIE_BASE_URL, without a key, out of reach of the machine's own settings,
  /// and with an empty HOME.
  ProgramStart start(const std::string& url, const std::vector<std::string>& flags = {}) const;
  ProgramEnd run(const ModelServer& server, const std::vector<std::string>& flags = {}) const;
  /// Everything that the run wrote, in one string: all files of --out and what it printed.
  std::string all_written(const ProgramEnd& end) const;
};

/// Where the server of the test has its interface.
std::string base_url(const ModelServer& server);

/// The cassette's responses as a server sends them.
std::vector<ServedResponse> served(const CassetteWriter& cassette);

/// The texts of a request's messages, in their order.
std::vector<std::string> message_texts(const ReceivedRequest& request);

/// Checks what holds of every end: exit code, last line, result.json, transcript.
void check_end(const ProviderRun& run, const ProgramEnd& end, int code, const std::string& status);

}  // namespace sortie::test
