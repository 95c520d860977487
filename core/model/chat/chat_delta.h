#pragma once

#include <string>
#include <string_view>

#include "core/model/wire.h"

namespace sortie {

/// The text in a chunk.
struct ChatText {
  std::string content{};
  std::string reasoning{};
  bool goes_back = false;  ///< the reasoning came as `reasoning_content`
};

/// Reads chunks without building their trees.
///
/// Nearly all chunks contain only text, and differ only in that text: the bytes around it are
/// remembered, and if they match, the text is taken without parsing.
class ChatTextReader {
 public:
  /// @return  false: the chunk has more than text of the first choice, or is not JSON; `to` is
  ///          undefined then
  bool read(std::string_view chunk, ChatText& to);

 private:
  bool fits(std::string_view chunk, ChatText& to) const;
  void remember(std::string_view chunk, const ChatText& text);

  std::string before_;  ///< the content string, with its opening quote
  std::string after_;   ///< from its closing quote on
};

}  // namespace sortie
