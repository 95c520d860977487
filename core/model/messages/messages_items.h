#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/model.h"

namespace sortie {

/// A content block of a response, as its events brought it.
struct ContentBlock {
  Json start{};             ///< as its start had it; null where none came
  std::string text{};       ///< what deltas added to each member, as JSON strings are escaped
  std::string thinking{};   ///< likewise
  std::string signature{};  ///< likewise
  std::string input{};      ///< likewise
  std::vector<Json> citations{};
  bool has_input = false;  ///< a delta of the input came, be it an empty one
  bool ended = false;
};

/// How a response ended.
enum class ContentEnd {
  whole,
  cut,     ///< at its length limit: the last block may lack its end
  paused,  ///< the provider goes on with what it does by itself
};

/// Sorts a response's blocks into items to be used and findings, as read_output_items() does.
///
/// @param free_text  of free_text_functions()
/// @throws JsonError  where the pieces of a block make no JSON string
void read_content_blocks(std::vector<ContentBlock> blocks, const std::set<std::string>& free_text,
                         ContentEnd end, Response& response);

}  // namespace sortie
