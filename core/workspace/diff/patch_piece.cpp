#include "core/workspace/diff/patch_piece.h"

#include "core/text/text.h"
#include "core/workspace/diff/patch_body.h"

namespace sortie {

PatchPiece::PatchPiece(std::string_view& rest) : text_(take_patch(rest)) {}

PatchHeader PatchPiece::header() const {
  std::string_view text = text_;
  return read_header(text);
}

std::string PatchPiece::apply(const std::string& before) const {
  std::string_view body = text_;
  const PatchHeader header = read_header(body);
  return apply_body(header, before, body);
}

bool PatchPiece::gives(const std::string& before, const std::string& after) const {
  std::string_view body = text_;
  const PatchHeader header = read_header(body);
  return body_gives(header, before, body, after);
}

std::string PatchPiece::title() const {
  return one_line(repair_utf8(text_.substr(0, text_.find('\n'))));
}

}  // namespace sortie
