#include "app/batch/batch_events.h"

#include "app/show/standard_output.h"

namespace sortie {

void BatchEvents::print(const Json& event) {
  if (!wanted_) return;
  try {
    print_data(write_json(event) + "\n");
  } catch (const Error&) {
    wanted_ = false;  // the results are in the folder all the same
  }
}

}  // namespace sortie
