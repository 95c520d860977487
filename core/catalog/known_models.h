#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/cost.h"
#include "core/catalog/item.h"

namespace sortie {

/// How a provider counts the tokens of an image.
struct ImageRule {
  enum class Kind {
    tiles,  ///< OpenAI: fitted into 2048 x 2048, the short side to 768, then `base` and `each` for
            ///< each square of 512 pixels
    patches,  ///< OpenAI: squares of 32 pixels, at most 1536, times `factor`
    area,     ///< Anthropic: width * height / 750, the long side at most `base`, at most `each`
  };
  Kind kind = Kind::area;
  int base = 1568;
  int each = 1600;
  double factor = 1;
  bool operator==(const ImageRule&) const = default;
};

/// Tokens of an image; if its size is unknown, those of the largest.
std::int64_t image_tokens(const Image& image, const ImageRule& rule) noexcept;

/// The published limits and prices of a model.
struct KnownModel {
  std::int64_t context_window = 0;  ///< tokens of input and output
  std::int64_t max_output = 0;      ///< tokens of one response
  ModelPrice price;
  std::optional<ImageRule> images{};
};

/// The shipped table, core/catalog/models.json.
struct KnownModels {
  struct Row {
    std::string vendor;  ///< "openai", "anthropic"
    std::vector<std::string> names;
    KnownModel model;
  };
  int version = 0;
  std::string date;  ///< "2026-11-21": when its numbers were checked
  std::vector<Row> rows;

  /// Finds a model by its exact name, NAME-latest, or the name of a dated snapshot.
  /// @param vendor  "": any
  const KnownModel* find(std::string_view vendor, std::string_view name) const;
};

/// @throws std::exception  if the text is not such a table
KnownModels read_known_models(std::string_view json);
/// The table that is compiled in.
const KnownModels& known_models();

/// models.json, compiled in.
extern const std::string_view kModelsJson;

}  // namespace sortie
