#pragma once

#include <string>

namespace sortie {

/// The model of a first task, as the flags of `sortie init` name it.
struct FirstModel {
  std::string provider;      ///< of the catalog
  std::string name;          ///< "": the task's own default
  std::string base_url;      ///< "": the provider's own
  std::string key_variable;  ///< "ANTHROPIC_API_KEY"; "": it needs no key
};

/// @param provider, name, base_url  "" where the flag was not given
/// @throws InputError  an unknown provider; a name or an address is missing, or is none
FirstModel first_model(const std::string& provider, const std::string& name,
                       const std::string& base_url);

/// The lines of the task that name the model; as a comment where it is the default one.
std::string model_lines(const FirstModel& model);

/// The lines of the policy that let the key, or the requests without one, go to the model's
/// address; "" where every policy does.
std::string model_bounds(const FirstModel& model);

}  // namespace sortie
