#include "core/workspace/patch_text.h"

#include <git2/sys/mempack.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/base/file_name.h"
#include "core/base/text.h"
#include "core/workspace/git_handle.h"
#include "core/workspace/patch_header.h"

namespace sortie {
namespace {

constexpr const char* kNoId = "0000000000000000000000000000000000000000";

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

  GitTree tree(const TouchedFiles& files, const Pace& pace = {}) {
    GitIndex index;
    check_git(git_index_new(GitOut(index)), "diff");
    for (const auto& [path, file] : files) {
      if (pace) pace();
      git_index_entry entry{};
      entry.path = path.c_str();
      entry.mode = file.mode;
      check_git(git_blob_create_from_buffer(&entry.id, repository_.get(), file.content.data(),
                                            file.content.size()),
                "diff: " + path_text(path));
      // What git itself refuses as a path (".git", "git~1") is the task's failure, not ours.
      check_git(git_index_add(index.get(), &entry), "diff: " + path_text(path),
                ExitCode::task_failed);
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
    const auto size = static_cast<std::size_t>(git_blob_rawsize(blob.get()));
    return {static_cast<const char*>(git_blob_rawcontent(blob.get())), size};
  }

  git_repository* repository() { return repository_.get(); }

 private:
  GitOdb odb_;
  GitRepository repository_;
};

GitDiff diff_trees(Scratch& scratch, git_tree* before, git_tree* after, int context_lines,
                   bool renames) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_SHOW_BINARY | GIT_DIFF_IGNORE_SUBMODULES;
  options.context_lines = static_cast<std::uint32_t>(context_lines);
  options.id_abbrev = GIT_OID_HEXSZ;
  GitDiff diff;
  check_git(git_diff_tree_to_tree(GitOut(diff), scratch.repository(), before, after, &options),
            "diff");
  if (!renames) return diff;
  git_diff_find_options find = GIT_DIFF_FIND_OPTIONS_INIT;
  find.flags = GIT_DIFF_FIND_RENAMES;
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

std::vector<Piece> sorted_pieces(git_diff* diff, const Pace& pace) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    if (pace) pace();
    pieces.push_back(read_piece(diff, i));
  }
  // A type change is a deletion and then an addition of the same path.
  const auto key = [](const Piece& piece) {
    return std::tuple(std::string_view(piece.file.path),
                      piece.file.kind != ChangedPath::Kind::deleted);
  };
  std::stable_sort(pieces.begin(), pieces.end(),
                   [&](const Piece& a, const Piece& b) { return key(a) < key(b); });
  return pieces;
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

/// The text cut before each "diff --git ". No other line begins so: lines of content begin with
/// one of " +-\\", and those of binary patches hold no space.
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

/// What one patch does, found by reading it back from its text.
struct Effect {
  std::optional<std::string> removes;
  std::optional<std::pair<std::string, TreeEntry>> makes;
};

std::string blob_id(const std::string& content) {
  git_oid id;
  check_git(git_odb_hash(&id, content.data(), content.size(), GIT_OBJECT_BLOB), "hash");
  return id_text(id);
}

/// Lets libgit2 apply the content of a patch, as one of a file with a plain name.
std::string apply_body(Scratch& scratch, const PatchHeader& header, const std::string& before,
                       std::string_view body) {
  if (body.empty()) return header.new_mode == 0 && header.old_mode != 0 ? "" : before;
  const PatchHeader plain{.old_path = "f",
                          .new_path = "f",
                          .old_mode = 0100644,
                          .new_mode = 0100644,
                          .old_id = header.old_mode == 0 ? blob_id("") : header.old_id,
                          .new_id = header.new_mode == 0 ? blob_id("") : header.new_id,
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
  if (!adds && !header.old_id.empty() && blob_id(old.content) != header.old_id) {
    throw Error("names another content");
  }
  const std::string made = apply_body(scratch, header, old.content, text);
  if (deletes) {
    if (!made.empty()) throw Error("deletes a part of a file");
    return effect;
  }
  if (!header.new_id.empty() && blob_id(made) != header.new_id) throw Error("gives other bytes");
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
                     bool renames, const Pace& pace) {
  Scratch scratch;
  const GitTree old_tree = scratch.tree(before, pace);
  const GitTree new_tree = scratch.tree(after, pace);
  const GitDiff diff = diff_trees(scratch, old_tree.get(), new_tree.get(), context_lines, renames);
  PatchText patch;
  for (const Piece& piece : sorted_pieces(diff.get(), pace)) {
    patch.text += piece.text;
    add_file(patch.files, piece.file);
  }
  return patch;
}

std::string check_patch(const std::string& text, const TouchedFiles& before,
                        const TouchedFiles& after) {
  TouchedFiles made = before;
  std::vector<Effect> effects;
  Scratch scratch;
  for (const std::string& piece : split_patches(text)) {
    try {
      effects.push_back(apply_piece(scratch, piece, before));
    } catch (const Error& error) {
      return one_line(repair_utf8(piece.substr(0, piece.find('\n')))) + ": " + error.what();
    }
  }
  // As git does it: all that goes is removed before anything is made.
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
