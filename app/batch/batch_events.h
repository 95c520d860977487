#pragma once

#include "core/json/json.h"

namespace sortie {

/// The events of a batch on stdout, one JSON object a line (docs/batch.md).
class BatchEvents {
 public:
  explicit BatchEvents(bool wanted) : wanted_(wanted) {}
  /// Prints it, if events are wanted and somebody still reads.
  void print(const Json& event);

 private:
  bool wanted_;
};

}  // namespace sortie
