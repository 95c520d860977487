#include "app/run/later_secrets.h"

#include <string_view>
#include <system_error>

#include "app/inputs/provider_choice.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/git/config/git_secrets.h"
#include "core/json/json.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/provider/sign_in/credentials.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/workspace/tree_search.h"
#include "policies/environment/known_secrets.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// What the recorded policy counts as a secret, and nothing else of it.
Policy recorded_policy(const fs::path& run) {
  std::error_code error;
  const fs::path transcript = fs::is_directory(run, error) ? run / kTranscriptName : run;
  Policy policy;
  try {
    each_record_line(transcript, [&policy](std::string_view line) {
      const Json text = parse_json(parse_record(line).data["policy"].string_at("text"));
      for (const Json& name : text["environment"]["exclude"].items())
        if (name.is_string()) policy.environment_exclude.push_back(name.text());
      for (const auto& [name, value] : text["environment"]["set"].members())
        if (value.is_string()) policy.environment_set[name] = value.text();
      for (const Json& pattern : text["redact"]["patterns"].items())
        if (pattern.is_string()) policy.redact_patterns.push_back(pattern.text());
      return false;
    });
  } catch (const std::exception&) {
    // Whoever reads the run for its story says what is wrong with it.
  }
  return policy;
}

void learn_policy(Redactor& redactor, const Policy& policy) {
  const Environment own = own_environment();
  redactor.add_all(known_secrets(Policy{}, own).values);
  try {
    learn(redactor, policy, known_secrets(policy, own).values);
  } catch (const std::exception&) {
    // A pattern that no run can have begun with: the record is forged.
  }
}

}  // namespace

LaterSecrets later_secrets_of(const RunInputs& inputs, const RunOptions& options) {
  return {.api_key_file = options.api_key_file,
          .api_key_fd = options.api_key_fd,
          .auth_file = options.auth_file,
          .key_variables = key_variables(inputs),
          .folders = {inputs.workspace},
          .searches_folders = true};
}

void learn_later(Redactor& redactor, const LaterSecrets& sources) {
  const Environment own = own_environment();
  const auto add_key = [&](const std::string& name, const std::string& value) {
    if (is_looked_for(value, own)) redactor.add({name, value});
  };
  for (const std::string& name : sources.key_variables) add_key(name, own_variable(name.c_str()));
  const std::string key_name =
      sources.key_variables.empty() ? KeySources{}.variable : sources.key_variables.front();
  if (const auto key =
          read_given_key({.file = sources.api_key_file, .descriptor = sources.api_key_fd}))
    add_key(key_name, *key);
  if (!sources.auth_file.empty())
    redactor.add_all(
        read_auth_file(open_auth_file(sources.auth_file), sources.auth_file).secrets());
  for (const fs::path& folder : sources.folders)
    redactor.add_all(git_config_secrets(folder, sources.searches_folders
                                                    ? search_tree(folder).git_files
                                                    : std::vector<fs::path>()));
}

void learn_of_recorded_run(Redactor& redactor, const fs::path& run, LaterSecrets sources) {
  std::error_code error;
  learn_policy(redactor, recorded_policy(run));
  sources.folders.push_back(fs::current_path(error));
  const fs::path place = fs::absolute(run, error);
  sources.folders.push_back(fs::is_directory(place, error) ? place : place.parent_path());
  learn_later(redactor, sources);
}

}  // namespace sortie
