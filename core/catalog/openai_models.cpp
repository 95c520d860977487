#include "core/catalog/openai_models.h"

namespace sortie {

bool is_openai_plain_model(std::string_view model) noexcept {
  return model.starts_with("gpt-5-chat") || model.starts_with("gpt-4") ||
         model.starts_with("gpt-3") || model.starts_with("chatgpt-");
}

bool is_openai_reasoning_model(std::string_view model) noexcept {
  if (is_openai_plain_model(model)) return false;
  const bool o_series = model.size() >= 2 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9';
  // gpt-5, gpt-6 …; not gpt-oss, which other servers run.
  const bool gpt =
      model.size() > 4 && model.starts_with("gpt-") && model[4] >= '5' && model[4] <= '9';
  return o_series || gpt || model.starts_with("codex");
}

bool knows_local_shell(std::string_view model) noexcept { return model.starts_with("codex-mini"); }

std::string data_url(const Image& image) {
  return "data:" + image.media_type + ";base64," + image.base64;
}

}  // namespace sortie
