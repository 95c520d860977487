#include "core/catalog/known_models.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "core/catalog/providers.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(known_model_table)

BOOST_AUTO_TEST_CASE(a_name_stands_for_its_dated_snapshots_and_for_nothing_else) {
  const struct {
    const char* vendor;
    const char* name;
    std::optional<double> input;
  } rows[] = {
      {"openai", "gpt-5", 1.25},
      {"openai", "gpt-5-2025-08-07", 1.25},
      {"openai", "gpt-5-codex", 1.25},
      {"openai", "gpt-5-mini-2025-08-07", 0.25},
      {"openai", "codex-mini-latest", 1.5},
      {"openai", "gpt-4o-2024-05-13", 5},
      {"openai", "gpt-4o-2024-08-06", 2.5},
      {"openai", "gpt-5-pro", {}},
      {"openai", "gpt-5-codex-turbo", {}},
      {"openai", "gpt-5-2025-08-7x", {}},
      {"openai", "gpt-5-", {}},
      {"openai", "gpt-", {}},
      {"openai", "", {}},
      {"anthropic", "gpt-5", {}},
      {"", "gpt-5", 1.25},
      {"anthropic", "claude-sonnet-4-20250514", 3},
      {"anthropic", "claude-sonnet-4-5-20250929", 3},
      {"anthropic", "claude-3-7-sonnet-latest", 3},
      {"anthropic", "claude-opus-4-1-20250805", 15},
      {"anthropic", "claude-opus-4-5", 5},
      {"openai", "claude-opus-4-5", {}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const KnownModel* found = known_models().find(row.vendor, row.name);
      BOOST_TEST((found != nullptr) == row.input.has_value());
      if (found && row.input) BOOST_TEST(found->price.input == *row.input);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_row_can_be_meant) {
  const KnownModels& table = known_models();
  BOOST_TEST(table.version == 1);
  BOOST_TEST(table.date.size() == 10u);
  std::set<std::string> names;
  for (const auto& row : table.rows) {
    BOOST_TEST(!row.names.empty());
    for (const auto& name : row.names) {
      BOOST_TEST_CONTEXT(name) {
        BOOST_TEST(names.insert(name).second);
        BOOST_TEST(std::any_of(providers().begin(), providers().end(), [&](const auto& provider) {
          return provider.vendor == row.vendor;
        }));
        const KnownModel& model = row.model;
        BOOST_TEST(model.context_window >= 100'000);
        BOOST_TEST(model.max_output >= 4'000);
        BOOST_TEST(model.max_output < model.context_window);
        BOOST_TEST(model.price.input > 0);
        BOOST_TEST(model.price.output > model.price.input);
        if (model.price.cached_input) BOOST_TEST(*model.price.cached_input < model.price.input);
        if (model.price.cache_write) BOOST_TEST(*model.price.cache_write > model.price.input);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(images_count_by_the_providers_rule) {
  const ImageRule tiles{ImageRule::Kind::tiles, 85, 170};
  const ImageRule patches{.kind = ImageRule::Kind::patches, .factor = 1.62};
  const ImageRule area{};
  const struct {
    const char* name;
    ImageRule rule;
    int width;
    int height;
    std::int64_t tokens;
  } rows[] = {
      {"tiles, one", tiles, 512, 512, 255},
      {"tiles, the provider's example", tiles, 1024, 1024, 765},
      {"tiles, the provider's other example", tiles, 2048, 4096, 1105},
      {"tiles, tiny", tiles, 1, 1, 255},
      {"patches", patches, 1024, 1024, 1659},
      {"patches, capped", patches, 4000, 4000, 2489},
      {"area", area, 750, 750, 750},
      {"area, capped", area, 8000, 8000, 1600},
      {"area, long and thin", area, 15680, 100, 21},
      {"unknown size, tiles", tiles, 0, 0, 1445},
      {"unknown size, patches", patches, 0, 0, 2489},
      {"unknown size, area", area, 0, 0, 1600},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Image image{"image/png", std::string(100'000, 'A'), row.width, row.height};
      BOOST_TEST(image_tokens(image, row.rule) == row.tokens);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_text_that_is_no_table_is_refused) {
  BOOST_CHECK_THROW(read_known_models("nothing"), std::exception);
  BOOST_CHECK_THROW(read_known_models(R"({"models":[{"names":["a"],"price":{"input":"1"}}]})"),
                    std::exception);
}

BOOST_AUTO_TEST_SUITE_END()
