#include "core/catalog/model_family.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(model_family)

BOOST_AUTO_TEST_CASE(a_family_is_told_by_the_name_and_else_by_the_provider) {
  using Family = ModelFamily;
  const struct {
    const char* provider;
    const char* model;
    Family family;
    bool free_text;
  } rows[] = {
      {"openai", "gpt-5-codex", Family::codex, true},
      {"openai", "gpt-5", Family::codex, true},
      {"openai", "GPT-5.1-mini", Family::codex, true},
      {"openai", "codex-mini-latest", Family::codex, true},
      {"azure", "gpt-5", Family::codex, true},
      {"replay", "gpt-5-codex", Family::codex, true},
      {"openai-chat", "gpt-5", Family::codex, false},
      {"openai-chat", "openai/gpt-5", Family::codex, false},
      {"openai", "gpt-4.1", Family::openai, false},
      {"openai", "o3", Family::openai, false},
      {"openai", "o4-mini", Family::openai, false},
      {"openai", "a-name-of-tomorrow", Family::openai, false},
      {"azure", "our-deployment", Family::openai, false},
      {"local", "gpt-oss:20b", Family::openai, false},
      {"anthropic", "claude-sonnet-4-5", Family::claude, false},
      {"anthropic", "a-name-of-tomorrow", Family::claude, false},
      {"openai-chat", "anthropic/claude-opus-4", Family::claude, false},
      {"openai-chat", "us.anthropic.claude-haiku", Family::claude, false},
      {"local", "qwen3-coder:30b", Family::other, false},
      {"local", "", Family::other, false},
      {"openai-chat", "mistralai/devstral", Family::other, false},
      {"openai-chat", "gpt5-lookalike", Family::other, false},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.provider << ' ' << row.model) {
      BOOST_TEST((family_of(row.provider, row.model) == row.family));
      BOOST_TEST(takes_free_text_tools(row.provider, row.model) == row.free_text);
    }
}

BOOST_AUTO_TEST_CASE(what_is_known_of_a_models_taking_images) {
  const struct {
    TakesImages takes;
    const char* provider;
    const char* model;
  } rows[] = {
      {TakesImages::yes, "openai", "gpt-5-codex"},
      {TakesImages::yes, "openai", "codex-mini-latest"},
      {TakesImages::yes, "openai", "gpt-4o-mini"},
      {TakesImages::yes, "openai", "gpt-4.1"},
      {TakesImages::yes, "openai", "gpt-4-turbo"},
      {TakesImages::yes, "openai", "o3"},
      {TakesImages::yes, "openai", "o4-mini"},
      {TakesImages::no, "openai", "gpt-4"},
      {TakesImages::no, "openai", "gpt-4-0613"},
      {TakesImages::no, "openai", "gpt-3.5-turbo"},
      {TakesImages::no, "openai", "o3-mini"},
      {TakesImages::no, "openai", "o1-mini-2024-09-12"},
      {TakesImages::no, "local", "gpt-oss:20b"},
      {TakesImages::no, "openai-chat", "openai/GPT-OSS-120b"},
      {TakesImages::no, "openai-chat", "deepseek/deepseek-chat"},
      {TakesImages::no, "local", "qwen2.5-coder:32b"},
      {TakesImages::yes, "local", "qwen2.5-vl"},
      {TakesImages::yes, "local", "llama3.2-vision"},
      {TakesImages::yes, "openai-chat", "google/gemini-2.5-pro"},
      {TakesImages::unknown, "local", "llama3"},
      {TakesImages::unknown, "openai-chat", "house"},
      {TakesImages::yes, "azure", "our-deployment"},
      {TakesImages::yes, "anthropic", "claude-sonnet-4-5"},
      {TakesImages::yes, "openai-chat", "us.anthropic.claude-3-7-sonnet"},
      {TakesImages::no, "anthropic", "claude-2.1"},
      {TakesImages::yes, "replay", "gpt-oss:20b"},
  };
  for (const auto& row : rows)
    BOOST_TEST((takes_images(row.provider, row.model) == row.takes),
               row.provider << " " << row.model);
}

BOOST_AUTO_TEST_SUITE_END()
