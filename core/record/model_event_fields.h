#pragma once

#include "core/record/model_events.h"
#include "core/record/object_fields.h"

namespace sortie {

inline const RecordFields<Usage>& fields_of(const Usage*) {
  using O = Usage;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::input_tokens>("input_tokens", "integer"),
      F::always<&O::cached_input_tokens>("cached_input_tokens", "integer"),
      F::always<&O::output_tokens>("output_tokens", "integer"),
      F::always<&O::reasoning_output_tokens>("reasoning_output_tokens", "integer"),
      F::later<&O::cache_write_input_tokens>("cache_write_input_tokens", "integer"),
  };
  return list;
}

inline EventRow row_of(const TurnStarted*) { return {"turn.started", false, ""}; }
inline const RecordFields<TurnStarted>& fields_of(const TurnStarted*) {
  using O = TurnStarted;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::items>("items", "count", "in the history"),
      F::always<&O::estimated_tokens>("estimated_tokens", "count"),
      F::always<&O::budget_left>("budget_left", "object"),
  };
  return list;
}

inline EventRow row_of(const ModelRequested*) { return {"model.request", false, ""}; }
inline const RecordFields<ModelRequested>& fields_of(const ModelRequested*) {
  using O = ModelRequested;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::provider>("provider", "text"),
      F::always<&O::wire>("wire", "text"),
      F::always<&O::attempt>("attempt", "count"),
      F::always<&O::bytes>("bytes", "count", "and"),
      F::always<&O::sha256>("sha256", "text", "of the body"),
      F::always<&O::prefix_bytes>("prefix_bytes", "count", "shared with the request before"),
      F::always<&O::first_new_item>("first_new_item", "count"),
      F::always<&O::items>("items", "list", "from there on"),
  };
  return list;
}

inline EventRow row_of(const ModelCutOff*) {
  return {"model.cut_off", false, ": of an answer that had begun and broke off"};
}
inline const RecordFields<ModelCutOff>& fields_of(const ModelCutOff*) {
  using O = ModelCutOff;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::attempt>("attempt", "count"),
      F::always<&O::model>("model", "text", "of the run, that gave it"),
      F::always<&O::tokens>("tokens", "tokens_or_null", "and"),
      F::always<&O::cost>("cost_usd", "any", "by estimate"),
  };
  return list;
}

inline EventRow row_of(const RetryRecord*) { return {"model.retry", false, ""}; }
inline const RecordFields<RetryRecord>& fields_of(const RetryRecord*) {
  using O = RetryRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::attempt>("attempt", "count"),
      {"failure", "failure", "(`status`, `kind`, `message`)", true,
       [](const O& from, const char* name, Json& to) {
         to.members().emplace_back(
             name, Json::object(
                       {{"status", from.status}, {"kind", from.kind}, {"message", from.message}}));
       },
       [](Json& from, O& to) {
         read_value(from["status"], to.status);
         read_value(from["kind"], to.kind);
         read_value(from["message"], to.message);
       }},
      F::always<&O::delay>("delay_ms", "count"),
      F::always<&O::retry_after>("retry_after_ms", "count_or_null"),
  };
  return list;
}

inline EventRow row_of(const PacedWait*) {
  return {"model.wait", false, ": for the limits of a provider that runs share (`--rate-limits`)"};
}
inline const RecordFields<PacedWait>& fields_of(const PacedWait*) {
  using O = PacedWait;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::limit>("limit", "text", "(a provider, or a server's address)"),
      F::always<&O::cause>("cause", "text",
                           "(`requests`, `tokens`, `paused`: the provider asked, `queue`)"),
      F::always<&O::ahead>("ahead", "count", ": requests whose turn was before"),
      F::always<&O::expected>("expected_ms", "count"),
      F::or_null<&O::waited>("waited_ms", "count_or_null", "(`null`: it begins)"),
  };
  return list;
}

inline EventRow row_of(const FallbackRecord*) { return {"model.fallback", false, ""}; }
inline const RecordFields<FallbackRecord>& fields_of(const FallbackRecord*) {
  using O = FallbackRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::from>("from", "text"),
      F::always<&O::to>("to", "text", "(provider and model)"),
      F::always<&O::reason>("reason", "text"),
      F::always<&O::dropped>("dropped_items", "count", ": how many could not be carried over"),
      F::if_set<&O::dropped_images>("dropped_images", "count", "among them"),
  };
  return list;
}

inline EventRow row_of(const ModelAnswered*) { return {"model.response", false, ""}; }
inline const RecordFields<ModelAnswered>& fields_of(const ModelAnswered*) {
  using O = ModelAnswered;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::id>("id", "text"),
      F::always<&O::served_model>("served_model", "text"),
      F::always<&O::items>(
          "items", "list",
          "as received (`chat`: the one assistant message, put together from its deltas)"),
      F::always<&O::usage>("usage", "any", "as the provider gave it"),
      F::always<&O::tokens>("tokens", "tokens_or_null"),
      F::always<&O::cost>("cost_usd", "any", "(`null`: the price is not known)"),
      F::always<&O::incomplete>("incomplete", "boolean"),
      F::always<&O::stop_reason>("stop_reason", "text"),
      F::always<&O::first_event>("first_event_ms", "count"),
      F::always<&O::duration>("duration_ms", "count"),
      F::if_set<&O::model>("model", "text", "of the run, that answered (\"openai gpt-5-codex\")"),
      F::later<&O::source>("source", "count",
                           "is its place (0: the task's own, n: the nth of `fallback`)"),
      F::if_set<&O::tokens_estimated>("tokens_estimated", "boolean",
                                      "where the provider gave no usage"),
      F::if_set<&O::repeated>(
          "repeated", "text",
          ": the passage that ended it by being repeated (`items` has its text then, with the passage once)"),
      F::if_set<&O::output>("output", "list", ": all items, where one could not be used"),
      F::if_set<&O::aside>("aside", "boolean",
                           "where it is no part of the conversation (a summary, notes)"),
      F::if_set<&O::rate_limits>("rate_limits", "any", ": the provider's headers on its limits"),
  };
  return list;
}

inline EventRow row_of(const CheckRecord*) { return {"check.hit", false, ""}; }
inline const RecordFields<CheckRecord>& fields_of(const CheckRecord*) {
  using O = CheckRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::check>(
          "check", "text",
          "(`unusable_item`, `unknown_tool`, `unusable_arguments`, `output_cut`, `images_left_out`, `image_refused`, `leaked_call`, `repeated_call_ids`, `bad_summary`, `secret_in_message`, `protected_path_made`: what a command or another program made under a protected name, and was removed, …)"),
      F::always<&O::saw>("saw", "text"),
      F::or_null<&O::sent>("sent", "text_or_null", "back"),
      F::if_set<&O::calls>("calls", "list", "whose images were taken out of the history"),
  };
  return list;
}

inline EventRow row_of(const CompactionRecord*) { return {"context.compacted", true, ""}; }
inline const RecordFields<CompactionRecord>& fields_of(const CompactionRecord*) {
  using O = CompactionRecord;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::cause>("cause", "text", "(compact_at, context_length)"),
      F::always<&O::method>("method", "compaction", "(`summary`, `cut`)"),
      F::always<&O::turns_before>("turns_before", "count"),
      F::always<&O::turns_after>("turns_after", "count"),
      F::always<&O::tokens_before>("tokens_before", "count"),
      F::always<&O::tokens_after>("tokens_after", "count"),
      F::or_null<&O::summary>("summary", "text_or_null"),
      {"reason", "text", "where there is none", false,
       [](const O& from, const char* name, Json& to) {
         if (from.summary.empty()) to.members().emplace_back(name, from.reason);
       },
       [](Json& from, O& to) { read_value(from, to.reason); }},
  };
  return list;
}

}  // namespace sortie
