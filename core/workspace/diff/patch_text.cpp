#include "core/workspace/diff/patch_text.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/files/file_name.h"
#include "core/git/git_repository.h"
#include "core/text/text.h"
#include "core/workspace/diff/patch_header.h"
#include "core/workspace/diff/renames.h"
#include "core/workspace/diff/scratch_trees.h"
#include "core/workspace/diff/text_hunks.h"

namespace sortie {
namespace {

constexpr const char* kNoId = "0000000000000000000000000000000000000000";

/// Up to this many pairs are all compared, regardless of their paths, to find the best.
constexpr std::size_t kFewPairs = 10'000;

/// @param least_similarity  per cent, for renames; 0: no rename detection
GitDiff diff_trees(ScratchTrees& scratch, git_tree* before, git_tree* after, int context_lines,
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

/// The text of a patch, as libgit2 writes it.
class PatchBytes {
 public:
  PatchBytes(git_patch* patch, const std::string& path) {
    check_git(git_patch_to_buf(&buffer_, patch), "diff: " + path_text(path));
  }
  PatchBytes(const PatchBytes&) = delete;
  PatchBytes& operator=(const PatchBytes&) = delete;
  ~PatchBytes() { git_buf_dispose(&buffer_); }

  /// The part after the header: hunks, or a binary patch, or nothing.
  std::string_view body() const {
    const std::string_view text(buffer_.ptr, buffer_.size);
    const auto hunk = text.find("\n@@ -");
    // No need to search all of the text: a binary patch has no hunk, and begins after the header.
    const auto begin = hunk != text.npos ? hunk : text.find("\nGIT binary patch\n");
    return begin == text.npos ? std::string_view() : text.substr(begin + 1);
  }

 private:
  git_buf buffer_ = GIT_BUF_INIT;
};

Piece read_piece(git_diff* diff, std::size_t index) {
  GitPatch patch;
  check_git(git_patch_from_diff(GitOut(patch), diff, index), "diff");
  const git_diff_delta* delta = git_patch_get_delta(patch.get());
  PatchHeader header = header_of(*delta);
  const PatchBytes bytes(patch.get(), header.new_path);
  const std::string_view body = bytes.body();
  header.text = body.starts_with("@@");
  Piece piece;
  piece.file.kind = kind_of(delta->status);
  piece.file.path = header.new_path;
  if (header.old_path != header.new_path) piece.file.old_path = header.old_path;
  std::size_t added = 0;
  std::size_t removed = 0;
  check_git(git_patch_line_stats(nullptr, &added, &removed, patch.get()), "diff");
  piece.file.added_lines = static_cast<int>(added);
  piece.file.deleted_lines = static_cast<int>(removed);
  piece.text = write_header(header);
  piece.text += body;
  return piece;
}

/// The patches of renamed files, and the paths of both sides.
class MovedFiles {
 public:
  MovedFiles(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
             const CancelCheck& check_cancel)
      : before_(before),
        after_(after),
        context_lines_(context_lines),
        check_cancel_(check_cancel),
        rest_(find_moves(before, after)) {
    for (const Rename& rename : exact_renames(before, after, rest_, check_cancel))
      add(rename, whole(rename));
    if (pairs() > kFewPairs) look_at(likely_renames(rest_));
  }

  /// How many pairs remain to compare.
  std::size_t pairs() const { return rest_.deleted.size() * rest_.added.size(); }
  const Moves& rest() const { return rest_; }
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

  /// Compares each pair alone, in two trees of one file.
  void look_at(const std::vector<Rename>& pairs) {
    std::vector<Rename> found;
    for (const Rename& rename : pairs) {
      if (check_cancel_) check_cancel_();
      ScratchTrees scratch;
      const GitTree from = scratch.tree({*before_.find(rename.from)});
      const GitTree to = scratch.tree({*after_.find(rename.to)});
      const GitDiff diff =
          diff_trees(scratch, from.get(), to.get(), context_lines_, rename.least_similarity);
      if (git_diff_num_deltas(diff.get()) != 1) continue;
      add(rename, read_piece(diff.get(), 0));
      found.push_back(rename);
    }
    subtract(rest_, found);
  }

  const TouchedFiles& before_;
  const TouchedFiles& after_;
  int context_lines_;
  const CancelCheck& check_cancel_;
  Moves rest_;
  std::set<std::string> paths_;
  std::vector<Piece> pieces_;
};

void add_pieces(std::vector<Piece>& pieces, git_diff* diff, const CancelCheck& check_cancel) {
  for (std::size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    if (check_cancel) check_cancel();
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

/// Whether libgit2 has to compare the trees as a whole, to find renames.
bool has_similar_files(const MovedFiles& moved, std::size_t most_pairs) {
  return moved.pairs() > 0 && moved.pairs() <= most_pairs;
}

PatchHeader header_of(const std::string& path, const TreeEntry* old, const TreeEntry* now) {
  PatchHeader header{.old_path = path, .new_path = path};
  header.old_mode = old != nullptr ? old->mode : 0;
  header.new_mode = now != nullptr ? now->mode : 0;
  const std::string old_id = old != nullptr ? id_text(blob_id(old->content)) : kNoId;
  const std::string new_id = now != nullptr ? id_text(blob_id(now->content)) : kNoId;
  if (old_id != new_id) {
    header.old_id = old_id;
    header.new_id = new_id;
  }
  return header;
}

/// libgit2's own patch of two contents, of which one is binary.
std::string binary_body(const std::string& path, const std::string& old, const std::string& now) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_SHOW_BINARY | GIT_DIFF_FORCE_BINARY;
  GitPatch patch;
  check_git(git_patch_from_buffers(GitOut(patch), old.data(), old.size(), "f", now.data(),
                                   now.size(), "f", &options),
            "diff: " + path_text(path));
  return std::string(PatchBytes(patch.get(), path).body());
}

/// Writes the patch of a file that is added, deleted, or of one kind on both sides. No content is
/// copied.
DiffFile write_patch(const std::string& path, const TreeEntry* old, const TreeEntry* now,
                     int context_lines, DiffTextWriter& text) {
  static const TreeEntry kNone;
  DiffFile file;
  file.path = path;
  file.kind = old == nullptr   ? ChangedPath::Kind::added
              : now == nullptr ? ChangedPath::Kind::deleted
                               : ChangedPath::Kind::modified;
  PatchHeader header = header_of(path, old, now);
  const std::string& before = (old != nullptr ? *old : kNone).content;
  const std::string& after = (now != nullptr ? *now : kNone).content;
  if (before != after && (is_binary_content(before) || is_binary_content(after))) {
    text.add(write_header(header));
    text.add(binary_body(path, before, after));
    return file;
  }
  header.text = before != after;
  text.add(write_header(header));
  const HunkCounts counts = make_hunks(before, after, context_lines, text);
  file.added_lines = counts.added;
  file.deleted_lines = counts.removed;
  return file;
}

/// Appends the patches of the files of both sides, one file at a time.
class PatchWriter {
 public:
  PatchWriter(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
              const CancelCheck& check_cancel, const std::filesystem::path& scratch)
      : before_(before),
        after_(after),
        context_lines_(context_lines),
        check_cancel_(check_cancel),
        text_(scratch) {}

  /// Patches of all paths but these.
  void add_each(std::vector<Piece> others, const std::set<std::string>& but) {
    sort(others);
    std::set<std::string_view> paths;
    for (const auto* side : {&before_, &after_})
      for (const auto& file : *side)
        if (!but.contains(file.first)) paths.insert(file.first);
    auto other = others.begin();
    for (const std::string_view path : paths) {
      for (; other != others.end() && other->file.path < path; ++other) add(*other);
      add_one(std::string(path));
    }
    for (; other != others.end(); ++other) add(*other);
  }

  PatchText take() { return {text_.take(), std::move(files_)}; }

 private:
  void add(Piece& piece) {
    text_.add(std::exchange(piece.text, {}));
    add_file(files_, piece.file);
  }

  void write(const std::string& path, const TreeEntry* old, const TreeEntry* now) {
    add_file(files_, write_patch(path, old, now, context_lines_, text_));
  }

  void add_one(const std::string& path) {
    if (check_cancel_) check_cancel_();
    const auto entry_of = [&](const TouchedFiles& side) {
      const auto found = side.find(path);
      return found == side.end() ? nullptr : &found->second;
    };
    const TreeEntry* const old = entry_of(before_);
    const TreeEntry* const now = entry_of(after_);
    if (old != nullptr && now != nullptr && *old == *now) return;
    const bool other_kind = old != nullptr && now != nullptr && kind_bits(*old) != kind_bits(*now);
    if (!other_kind) return write(path, old, now);
    write(path, old, nullptr);
    write(path, nullptr, now);
  }

  static unsigned kind_bits(const TreeEntry& entry) { return entry.mode & 0170000; }

  const TouchedFiles& before_;
  const TouchedFiles& after_;
  int context_lines_;
  const CancelCheck& check_cancel_;
  DiffTextWriter text_;
  std::vector<DiffFile> files_;
};

/// The pieces of files that may be renames of each other, compared in two trees.
std::vector<Piece> similar_pieces(const TouchedFiles& before, const TouchedFiles& after,
                                  const MovedFiles& moved, int context_lines,
                                  const CancelCheck& check_cancel, std::set<std::string>& taken) {
  constexpr int kLeastSimilarity = 50;
  const Moves& rest = moved.rest();
  ScratchTrees scratch;
  const GitTree old_tree = scratch.tree(before, rest.deleted, check_cancel);
  const GitTree new_tree = scratch.tree(after, rest.added, check_cancel);
  const GitDiff diff =
      diff_trees(scratch, old_tree.get(), new_tree.get(), context_lines, kLeastSimilarity);
  std::vector<Piece> pieces;
  add_pieces(pieces, diff.get(), check_cancel);
  taken.insert(rest.deleted.begin(), rest.deleted.end());
  taken.insert(rest.added.begin(), rest.added.end());
  return pieces;
}

}  // namespace

PatchText make_patch(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
                     bool renames, const CancelCheck& check_cancel, std::size_t most_pairs,
                     const std::filesystem::path& scratch) {
  std::vector<Piece> pieces;
  std::set<std::string> taken;
  if (renames) {
    MovedFiles moved(before, after, context_lines, check_cancel);
    taken = moved.paths();
    if (has_similar_files(moved, most_pairs))
      pieces = similar_pieces(before, after, moved, context_lines, check_cancel, taken);
    for (Piece& piece : moved.take_pieces()) pieces.push_back(std::move(piece));
  }
  PatchWriter writer(before, after, context_lines, check_cancel, scratch);
  writer.add_each(std::move(pieces), taken);
  return writer.take();
}

}  // namespace sortie
