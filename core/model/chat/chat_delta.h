#pragma once

#include <string>
#include <string_view>

#include "core/model/wire.h"

namespace sortie {

/// What a chunk adds to a response, where it adds text alone.
struct ChatText {
  std::string content{};
  std::string reasoning{};
  bool goes_back = false;  ///< the reasoning came as `reasoning_content`
};

/// Reads chunks without building their trees.
///
/// Nearly all chunks of a stream hold text alone, and mostly they differ in that text only: what
/// stands around it is remembered, and where it stands there again the text is taken as it is.
class ChatTextReader {
 public:
  /// @return  false: the chunk holds more than text of the first choice, or is no JSON; `to` is of
  ///          no use then
  bool read(std::string_view chunk, ChatText& to);

 private:
  bool fits(std::string_view chunk, ChatText& to) const;
  void remember(std::string_view chunk, const ChatText& text);

  std::string before_;  ///< the content string, with its opening quote
  std::string after_;   ///< from its closing quote on
};

}  // namespace sortie
