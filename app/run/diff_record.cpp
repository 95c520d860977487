#include "app/run/diff_record.h"

#include "core/base/hash.h"
#include "core/text/base64.h"

namespace sortie {
namespace {

std::optional<RecordedSide> side_record(const std::optional<DiffSide>& side) {
  if (!side) return std::nullopt;
  std::string mode;
  for (int shift = 15; shift >= 0; shift -= 3)
    mode += static_cast<char>('0' + (side->mode >> shift & 7));
  return RecordedSide{mode, side->sha256, side->bytes};
}

}  // namespace

DiffWritten diff_record(const Diff& diff, const std::string& name, const Redactor& redactor) {
  DiffWritten record{.name = name,
                     .submodule = diff.submodule,
                     .sha256 = sha256_hex(diff.text),
                     .base = diff.base,
                     .base_commit = diff.head_commit,
                     .prefix = diff.prefix,
                     .files = {}};
  for (const DiffFile& file : diff.files) {
    DiffedFile one{.path = file.path,
                   .old_path = file.old_path,
                   .before = side_record(file.before),
                   .after = side_record(file.after),
                   .in_commit = file.in_head,
                   .base_content = {}};
    if (file.base_content && redactor.find(*file.base_content, Audience::tools).empty())
      one.base_content = base64_encoded(*file.base_content);
    record.files.push_back(std::move(one));
  }
  return record;
}

}  // namespace sortie
