#include "core/workspace/diff/diff_proof.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/workspace/diff/file_patch.h"

namespace sortie {
namespace diff_proof {

std::string octal(unsigned mode) {
  std::string digits;
  for (int shift = 15; shift >= 0; shift -= 3)
    digits += static_cast<char>('0' + (mode >> shift & 7));
  return digits;
}

/// "has 12 bytes with the SHA-256 ab…"
std::string described(const std::string& content) {
  return std::to_string(content.size()) + " bytes with the SHA-256 " +
         sha256_hex(content).substr(0, 12) + "…";
}

bool is(const std::string& content, const DiffSide& side) {
  return content.size() == side.bytes && sha256_hex(content) == side.sha256;
}

/// Compares the header of a patch with the record.
std::string header_problem(const FilePatch& patch, const DiffFile& file) {
  const PatchHeader& header = patch.header;
  const auto mode_of = [](const std::optional<DiffSide>& side) { return side ? side->mode : 0; };
  const unsigned before = mode_of(file.before);
  const unsigned after = mode_of(file.after);
  if (patch.moves_only()) return before == after && before != 0 ? "" : "the record has other modes";
  if (header.old_mode != before)
    return "changes mode " + octal(header.old_mode) + ", the record has " + octal(before);
  if (header.new_mode != after)
    return "gives mode " + octal(header.new_mode) + ", the record has " + octal(after);
  return "";
}

/// Proves one file. @return  what is wrong, or ""
std::string prove(const FilePatch& patch, const DiffFile& file, const BaseContents& base,
                  DiffProof& proof) {
  if (auto problem = header_problem(patch, file); !problem.empty()) return problem;
  std::string before;
  if (file.before) {
    std::optional<std::string> found = base(file);
    if (!found) {
      proof.unproved.push_back(file.path);
      return "";
    }
    if (!is(*found, *file.before))
      return "its base here has " + described(*found) + ", the record says " +
             std::to_string(file.before->bytes) + " bytes and " +
             file.before->sha256.substr(0, 12) + "…";
    before = std::move(*found);
  }
  if (file.after && file.after->bytes > proof.bytes_left)
    return "all files of the diff together have more than " + std::to_string(kMostProved >> 30) +
           " GiB";
  const std::string made = patched_content(patch, before);
  proof.bytes_left -= std::min<std::uint64_t>(made.size(), proof.bytes_left);
  const bool fits = file.after ? is(made, *file.after) : made.empty();
  if (!fits)
    return "applied to its base it gives " + described(made) + ", the record has " +
           (file.after ? std::to_string(file.after->bytes) + " bytes and " +
                             file.after->sha256.substr(0, 12) + "…"
                       : std::string("no such file"));
  ++proof.proved;
  return "";
}

}  // namespace diff_proof

DiffProof prove_diff(const std::string& text, const std::vector<DiffFile>& files,
                     const std::string& prefix, const BaseContents& base) {
  DiffProof proof;
  std::map<std::string, const DiffFile*> left;
  for (const DiffFile& file : files) left.emplace(prefix + file.path, &file);
  try {
    for (std::string_view rest = text; !rest.empty();) {
      const FilePatch patch = take_patch(rest);
      const auto found = left.find(patch.path());
      const DiffFile* file = found == left.end() ? nullptr : found->second;
      if (file == nullptr ||
          (!file->old_path.empty() && prefix + file->old_path != patch.header.old_path))
        throw Error(path_text(patch.path()) + ": the record of the run's changes does not have it");
      left.erase(found);
      if (auto problem = diff_proof::prove(patch, *file, base, proof); !problem.empty())
        throw Error(path_text(patch.path()) + ": " + problem);
    }
  } catch (const Error& error) {
    proof.problem = error.what();
    return proof;
  }
  if (!left.empty())
    proof.problem = path_text(left.begin()->first) + ": the run changed it, and the diff lacks it";
  return proof;
}

}  // namespace sortie
