#include "core/workspace/diff/patch_text.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/files/file_name.h"
#include "core/workspace/diff/git_scratch.h"
#include "core/workspace/diff/patch_header.h"
#include "core/workspace/diff/renames.h"

namespace sortie {
namespace {

constexpr const char* kNoId = "0000000000000000000000000000000000000000";

/// So many pairs are compared at once, without a look at their paths: the best one is found.
constexpr std::size_t kFewPairs = 10'000;

/// @param least_similarity  per cent, of renames; 0: none are looked for
GitDiff diff_trees(Scratch& scratch, git_tree* before, git_tree* after, int context_lines,
                   int least_similarity) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_SHOW_BINARY | GIT_DIFF_IGNORE_SUBMODULES;
  options.context_lines = static_cast<std::uint32_t>(context_lines);
  options.id_abbrev = GIT_OID_HEXSZ;
  GitDiff diff;
  check_git(git_diff_tree_to_tree(GitOut(diff), scratch.repository(), before, after, &options),
            "diff");
  if (least_similarity == 0) return diff;
  git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
  find.flags = GIT_DIFF_FIND_RENAMES;
  find.rename_threshold = static_cast<std::uint16_t>(least_similarity);
  find.rename_limit = git_diff_num_deltas(diff.get());  // the caller has counted the pairs
  check_git(git_diff_find_similar(diff.get(), &find), "diff: renames");
  return diff;
}

/// The patch of one file.
struct Piece {
  DiffFile file;
  std::string text;
};

ChangedPath::Kind kind_of(git_delta_t status) {
  if (status == GIT_DELTA_ADDED) return ChangedPath::Kind::added;
  if (status == GIT_DELTA_DELETED) return ChangedPath::Kind::deleted;
  return ChangedPath::Kind::modified;
}

PatchHeader header_of(const git_diff_delta& delta) {
  const bool added = delta.status == GIT_DELTA_ADDED;
  const bool deleted = delta.status == GIT_DELTA_DELETED;
  PatchHeader header;
  header.old_path = (added ? delta.new_file : delta.old_file).path;
  header.new_path = (deleted ? delta.old_file : delta.new_file).path;
  if (!added) header.old_mode = delta.old_file.mode;
  if (!deleted) header.new_mode = delta.new_file.mode;
  header.similarity = delta.similarity;
  const std::string old_id = added ? kNoId : id_text(delta.old_file.id);
  const std::string new_id = deleted ? kNoId : id_text(delta.new_file.id);
  if (old_id != new_id) {
    header.old_id = old_id;
    header.new_id = new_id;
  }
  return header;
}

/// What follows the header: hunks, or a binary patch, or nothing.
std::string read_body(git_patch* patch, const std::string& path) {
  git_buf buffer = GIT_BUF_INIT;
  const int result = git_patch_to_buf(&buffer, patch);
  const std::string text = result < 0 ? "" : std::string(buffer.ptr, buffer.size);
  git_buf_dispose(&buffer);
  check_git(result, "diff: " + path_text(path));
  const auto begin = std::min(text.find("\n@@ -"), text.find("\nGIT binary patch\n"));
  return begin == std::string::npos ? "" : text.substr(begin + 1);
}

Piece read_piece(git_diff* diff, std::size_t index) {
  GitPatch patch;
  check_git(git_patch_from_diff(GitOut(patch), diff, index), "diff");
  const git_diff_delta* delta = git_patch_get_delta(patch.get());
  PatchHeader header = header_of(*delta);
  const std::string body = read_body(patch.get(), header.new_path);
  header.text = body.compare(0, 2, "@@") == 0;
  Piece piece;
  piece.file.kind = kind_of(delta->status);
  piece.file.path = header.new_path;
  if (header.old_path != header.new_path) piece.file.old_path = header.old_path;
  std::size_t added = 0;
  std::size_t removed = 0;
  check_git(git_patch_line_stats(nullptr, &added, &removed, patch.get()), "diff");
  piece.file.added_lines = static_cast<int>(added);
  piece.file.deleted_lines = static_cast<int>(removed);
  piece.text = write_header(header) + body;
  return piece;
}

/// The pieces of files that moved, and the paths of both of their sides.
class MovedFiles {
 public:
  MovedFiles(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
             const CancelCheck& pace)
      : before_(before),
        after_(after),
        context_lines_(context_lines),
        pace_(pace),
        rest_(find_moves(before, after)) {
    for (const Rename& rename : exact_renames(before, after, rest_, pace))
      add(rename, whole(rename));
    if (pairs() > kFewPairs) look_at(likely_renames(rest_));
  }

  /// What would be compared if all that is left was compared with each other.
  std::size_t pairs() const { return rest_.gone.size() * rest_.came.size(); }
  const std::set<std::string>& paths() const { return paths_; }
  std::vector<Piece> take_pieces() { return std::move(pieces_); }

 private:
  void add(const Rename& rename, Piece piece) {
    pieces_.push_back(std::move(piece));
    paths_.insert(rename.from);
    paths_.insert(rename.to);
  }

  Piece whole(const Rename& rename) const {
    Piece piece;
    piece.file.path = rename.to;
    piece.file.old_path = rename.from;
    piece.text = write_header({.old_path = rename.from,
                               .new_path = rename.to,
                               .old_mode = before_.at(rename.from).mode,
                               .new_mode = after_.at(rename.to).mode,
                               .similarity = 100});
    return piece;
  }

  /// Each pair by itself, in two trees of one file.
  void look_at(const std::vector<Rename>& pairs) {
    std::vector<Rename> found;
    for (const Rename& rename : pairs) {
      if (pace_) pace_();
      Scratch scratch;
      const GitTree from = scratch.tree({*before_.find(rename.from)});
      const GitTree to = scratch.tree({*after_.find(rename.to)});
      const GitDiff diff =
          diff_trees(scratch, from.get(), to.get(), context_lines_, rename.least_similarity);
      if (git_diff_num_deltas(diff.get()) != 1) continue;
      add(rename, read_piece(diff.get(), 0));
      found.push_back(rename);
    }
    take_off(rest_, found);
  }

  const TouchedFiles& before_;
  const TouchedFiles& after_;
  int context_lines_;
  const CancelCheck& pace_;
  Moves rest_;
  std::set<std::string> paths_;
  std::vector<Piece> pieces_;
};

void add_pieces(std::vector<Piece>& pieces, git_diff* diff, const CancelCheck& pace) {
  for (std::size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    if (pace) pace();
    pieces.push_back(read_piece(diff, i));
  }
}

void sort(std::vector<Piece>& pieces) {
  // A type change is a deletion and then an addition of the same path.
  const auto key = [](const Piece& piece) {
    return std::tuple(std::string_view(piece.file.path),
                      piece.file.kind != ChangedPath::Kind::deleted);
  };
  std::stable_sort(pieces.begin(), pieces.end(),
                   [&](const Piece& a, const Piece& b) { return key(a) < key(b); });
}

void add_file(std::vector<DiffFile>& files, const DiffFile& file) {
  if (files.empty() || files.back().path != file.path) {
    files.push_back(file);
    return;
  }
  files.back().kind = ChangedPath::Kind::modified;
  files.back().old_path = file.old_path;
  files.back().added_lines += file.added_lines;
  files.back().deleted_lines += file.deleted_lines;
}

}  // namespace

PatchText make_patch(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
                     bool renames, const CancelCheck& pace, std::size_t most_pairs) {
  constexpr int kLeastSimilarity = 50;
  std::vector<Piece> pieces;
  std::set<std::string> moved;
  int least_similarity = 0;
  if (renames) {
    MovedFiles files(before, after, context_lines, pace);
    if (files.pairs() > 0 && files.pairs() <= most_pairs) least_similarity = kLeastSimilarity;
    moved = files.paths();
    pieces = files.take_pieces();
  }
  Scratch scratch;
  const GitTree old_tree = scratch.tree(before, pace, moved);
  const GitTree new_tree = scratch.tree(after, pace, moved);
  const GitDiff diff =
      diff_trees(scratch, old_tree.get(), new_tree.get(), context_lines, least_similarity);
  add_pieces(pieces, diff.get(), pace);
  sort(pieces);
  PatchText patch;
  for (const Piece& piece : pieces) {
    patch.text += piece.text;
    add_file(patch.files, piece.file);
  }
  return patch;
}

}  // namespace sortie
