#include "core/workspace/diff/patch_text.h"

#include <git2/sys/mempack.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "core/files/file_name.h"
#include "core/git/git_repository.h"
#include "core/text/text.h"
#include "core/workspace/diff/patch_header.h"
#include "core/workspace/diff/renames.h"

namespace sortie {
namespace {

/// An object database in memory and a repository on it: no disk, no configuration, no attributes.
class Scratch {
 public:
  Scratch() {
    start_libgit2();
    check_git(git_odb_new(GitOut(odb_)), "diff");
    git_odb_backend* memory = nullptr;
    check_git(git_mempack_new(&memory), "diff");
    check_git(git_odb_add_backend(odb_.get(), memory, 1), "diff");  // owned by the odb from here
    check_git(git_repository_wrap_odb(GitOut(repository_), odb_.get()), "diff");
  }

  /// @param left_out  paths that the tree is made without
  GitTree tree(const TouchedFiles& files, const CancelCheck& check_cancel = {},
               const std::set<std::string>& left_out = {}) {
    GitIndex index;
    check_git(git_index_new(GitOut(index)), "diff");
    for (const auto& [path, file] : files) {
      if (left_out.contains(path)) continue;
      if (check_cancel) check_cancel();
      git_index_entry entry{};
      entry.path = path.c_str();
      entry.mode = file.mode;
      check_git(git_blob_create_from_buffer(&entry.id, repository_.get(), file.content.data(),
                                            file.content.size()),
                "diff: " + path_text(path));
      check_git(git_index_add(index.get(), &entry), "diff: " + path_text(path));
    }
    git_oid id;
    check_git(git_index_write_tree_to(&id, index.get(), repository_.get()), "diff");
    GitTree tree;
    check_git(git_tree_lookup(GitOut(tree), repository_.get(), &id), "diff");
    return tree;
  }

  std::string content(const git_oid& id) {
    GitBlob blob;
    check_git(git_blob_lookup(GitOut(blob), repository_.get(), &id), "diff");
    return blob_text(blob);
  }

  git_repository* repository() { return repository_.get(); }

 private:
  GitOdb odb_;
  GitRepository repository_;
};

constexpr const char* kNoId = "0000000000000000000000000000000000000000";

/// Up to this many pairs are all compared, regardless of their paths, to find the best.
constexpr std::size_t kFewPairs = 10'000;

/// @param least_similarity  per cent, for renames; 0: no rename detection
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

/// The part after the header: hunks, or a binary patch, or nothing.
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
      Scratch scratch;
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

/// The text split before each "diff --git ". No other line begins so: content lines begin with one
/// of " +-\\", and lines of binary patches contain no space.
std::vector<std::string> split_patches(const std::string& text) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto next = text.find("\ndiff --git ", begin);
    const auto end = next == std::string::npos ? text.size() : next + 1;
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

/// The effect of one patch, parsed from its text.
struct Effect {
  std::optional<std::string> removes;
  std::optional<std::pair<std::string, TreeEntry>> makes;
};

/// Lets libgit2 apply the content of a patch to a file with a plain name.
std::string apply_body(Scratch& scratch, const PatchHeader& header, const std::string& before,
                       std::string_view body) {
  if (body.empty()) return header.new_mode == 0 && header.old_mode != 0 ? "" : before;
  const PatchHeader plain{.old_path = "f",
                          .new_path = "f",
                          .old_mode = 0100644,
                          .new_mode = 0100644,
                          .old_id = header.old_mode == 0 ? id_text(blob_id("")) : header.old_id,
                          .new_id = header.new_mode == 0 ? id_text(blob_id("")) : header.new_id,
                          .text = header.text};
  const std::string text = write_header(plain) + std::string(body);
  GitDiff diff;
  check_git(git_diff_from_buffer(GitOut(diff), text.data(), text.size()), "can't be read back");
  const GitTree tree = scratch.tree({{"f", {0100644, before}}});
  GitIndex index;
  check_git(git_apply_to_tree(GitOut(index), scratch.repository(), tree.get(), diff.get(), nullptr),
            "can't be applied");
  const git_index_entry* entry = git_index_get_bypath(index.get(), "f", 0);
  if (entry == nullptr) throw Error("makes no file");
  return scratch.content(entry->id);
}

Effect apply_piece(Scratch& scratch, std::string_view text, const TouchedFiles& before) {
  PatchHeader header = read_header(text);
  const bool stays = header.old_mode == 0 && header.new_mode == 0;  // a pure rename
  const bool adds = header.old_mode == 0 && !stays;
  const bool deletes = header.new_mode == 0 && !stays;
  TreeEntry old;
  Effect effect;
  if (!adds) {
    const auto found = before.find(header.old_path);
    if (found == before.end()) throw Error("changes a file that is not there");
    old = found->second;
    effect.removes = header.old_path;
    if (!stays && old.mode != header.old_mode) throw Error("names another mode");
  }
  if (!adds && !header.old_id.empty() && id_text(blob_id(old.content)) != header.old_id) {
    throw Error("names another content");
  }
  const std::string made = apply_body(scratch, header, old.content, text);
  if (deletes) {
    if (!made.empty()) throw Error("deletes a part of a file");
    return effect;
  }
  if (!header.new_id.empty() && id_text(blob_id(made)) != header.new_id)
    throw Error("gives other bytes");
  effect.makes = {header.new_path, {stays ? old.mode : header.new_mode, made}};
  return effect;
}

std::string first_difference(const TouchedFiles& made, const TouchedFiles& wanted) {
  for (const auto& [path, entry] : wanted) {
    const auto found = made.find(path);
    if (found == made.end()) return path_text(path) + ": the diff does not make it";
    if (found->second.mode != entry.mode) return path_text(path) + ": another mode";
    if (found->second.content != entry.content) return path_text(path) + ": other bytes";
  }
  for (const auto& [path, entry] : made) {
    if (wanted.count(path) == 0) return path_text(path) + ": the diff leaves it behind";
  }
  return "";
}

}  // namespace

PatchText make_patch(const TouchedFiles& before, const TouchedFiles& after, int context_lines,
                     bool renames, const CancelCheck& check_cancel, std::size_t most_pairs) {
  constexpr int kLeastSimilarity = 50;
  std::vector<Piece> pieces;
  std::set<std::string> moved;
  int least_similarity = 0;
  if (renames) {
    MovedFiles files(before, after, context_lines, check_cancel);
    if (files.pairs() > 0 && files.pairs() <= most_pairs) least_similarity = kLeastSimilarity;
    moved = files.paths();
    pieces = files.take_pieces();
  }
  Scratch scratch;
  const GitTree old_tree = scratch.tree(before, check_cancel, moved);
  const GitTree new_tree = scratch.tree(after, check_cancel, moved);
  const GitDiff diff =
      diff_trees(scratch, old_tree.get(), new_tree.get(), context_lines, least_similarity);
  add_pieces(pieces, diff.get(), check_cancel);
  sort(pieces);
  PatchText patch;
  for (const Piece& piece : pieces) {
    patch.text += piece.text;
    add_file(patch.files, piece.file);
  }
  return patch;
}

std::string check_patch(const std::string& text, const TouchedFiles& before,
                        const TouchedFiles& after, const CancelCheck& check_cancel) {
  TouchedFiles made = before;
  std::vector<Effect> effects;
  Scratch scratch;
  for (const std::string& piece : split_patches(text)) {
    if (check_cancel) check_cancel();
    try {
      effects.push_back(apply_piece(scratch, piece, before));
    } catch (const Error& error) {
      return one_line(repair_utf8(piece.substr(0, piece.find('\n')))) + ": " + error.what();
    }
  }
  // Like git: all files are removed before any are created.
  for (const Effect& effect : effects) {
    if (effect.removes && made.erase(*effect.removes) == 0) {
      return path_text(*effect.removes) + ": removed twice";
    }
  }
  for (const Effect& effect : effects) {
    if (effect.makes && !made.insert(*effect.makes).second) {
      return path_text(effect.makes->first) + ": made twice";
    }
  }
  return first_difference(made, after);
}

}  // namespace sortie
