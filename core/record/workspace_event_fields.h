#pragma once

#include <string>

#include "core/record/command_output_fields.h"
#include "core/record/object_fields.h"
#include "core/record/workspace_events.h"

namespace sortie {

inline EventRow row_of(const NetworkRecord*) { return {"network.connection", false, ""}; }
inline const RecordFields<NetworkRecord>& fields_of(const NetworkRecord*) {
  using O = NetworkRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::id>("id", "count", ", the same for an opened connection and its end"),
      F::always<&O::state>("state", "connection_state", "(denied, opened, closed)"),
      {"allowed", "boolean", "", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(name, from.state != ConnectionState::denied);
       },
       [](Json&, O&) {}},
      F::always<&O::host>("host", "text"),
      F::always<&O::port>("port", "count", "(0: unknown)"),
      F::always<&O::method>("method", "text"),
      F::or_null<&O::address>("address", "text_or_null", "connected to"),
      F::or_null<&O::rule>("rule", "text_or_null", "that allowed it"),
      F::or_null<&O::reason>("reason", "text_or_null", "why not or what failed"),
      F::if_set<&O::would_allow>("would_allow", "text",
                                 ": the entry of `network.allow` that would allow it"),
      F::always<&O::sent>("sent_bytes", "count", "and"),
      F::always<&O::received>("received_bytes", "count", "by the command"),
      F::always<&O::duration>("duration_ms", "count"),
  };
  return list;
}

inline EventRow row_of(const VerificationRecord*) { return {"verification.started", true, ""}; }
inline const RecordFields<VerificationRecord>& fields_of(const VerificationRecord*) {
  using O = VerificationRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::phase>("phase", "phase", "(before, after, run_tests)"),
      F::always<&O::round>("round", "count"),
      F::always<&O::command>("command", "text"),
      F::always<&O::argv>("argv", "list"),
      F::if_set<&O::setup>("setup", "boolean", ": it is one of verify.setup"),
      F::if_set<&O::tree>("tree", "text", "(fresh, run)"),
      F::if_set<&O::diff>("diff", "text", ": the digest of the diff in a fresh tree"),
  };
  return list;
}

inline EventRow row_of(const VerificationCompleted*) {
  return {"verification.completed", true, ""};
}
inline const RecordFields<VerificationCompleted>& fields_of(const VerificationCompleted*) {
  using O = VerificationCompleted;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::phase>("phase", "phase"),
      F::always<&O::round>("round", "count"),
      F::always<&O::command>("command", "text"),
      F::always<&O::argv>("argv", "list"),
      F::if_set<&O::setup>("setup", "boolean"),
      F::if_set<&O::tree>("tree", "text"),
      F::if_set<&O::diff>("diff", "text"),
      F::always<&O::exit>("exit", "exit"),
      F::always<&O::output>("output", "text"),
      F::always<&O::dropped_bytes>("dropped_bytes", "count"),
      F::always<&O::passed>("passed", "boolean"),
      F::if_set<&O::compared>("compared", "text", "under verify.baseline"),
      F::if_set<&O::shown>("shown", "text", "where it differs"),
      F::if_set<&O::cut>("cut", "boolean"),
  };
  return list;
}

}  // namespace sortie
