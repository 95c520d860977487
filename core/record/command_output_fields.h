#pragma once

#include "core/record/command_output.h"
#include "core/record/object_fields.h"

namespace sortie {

inline const RecordFields<ExitStatus>& fields_of(const ExitStatus*) {
  using O = ExitStatus;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::ending>("ending", "ending"),
      F::always<&O::code>("code", "integer"),
      F::always<&O::duration>("duration_ms", "count"),
      F::if_set<&O::detail>("detail", "string"),
      F::if_set<&O::ended_background>("ended_background", "boolean"),
  };
  return list;
}

}  // namespace sortie
