#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// A tool of the task's own: a program with a name, a description and arguments.
struct TaskFunction {
  enum class Input {
    none,  ///< its stdin is empty
    json,  ///< the arguments of the call, as one JSON object
  };
  enum class Output {
    text,  ///< stdout and stderr, as of a command
    json,  ///< stdout has to be one JSON value
  };

  std::string name;
  std::string description;
  Json parameters;  ///< JSON Schema of an object, with `properties`
  /// The argv with its placeholders: see argv_template.h.
  std::vector<std::string> run;
  Input input = Input::none;
  Output output = Output::text;
  std::chrono::milliseconds timeout{0};  ///< 0: as long as the policy lets a command run
  bool read_only = false;                ///< runs without a right to write
  std::string place;                     ///< "functions.json:3:5": for what is found later
};

}  // namespace sortie
