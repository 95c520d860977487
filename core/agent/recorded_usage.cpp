#include "core/agent/recorded_usage.h"

namespace sortie {

Usage recorded_usage(const Json& tokens) {
  return {.input_tokens = tokens.integer_at("input_tokens"),
          .cached_input_tokens = tokens.integer_at("cached_input_tokens"),
          .output_tokens = tokens.integer_at("output_tokens"),
          .reasoning_output_tokens = tokens.integer_at("reasoning_output_tokens"),
          .cache_write_input_tokens = tokens.integer_at("cache_write_input_tokens")};
}

}  // namespace sortie
