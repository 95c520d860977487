#pragma once

#include <string>

#include "core/record/file_events.h"
#include "core/record/object_fields.h"

namespace sortie {

// The records of changed files, and their members.

inline EventRow row_of(const FileChange*) { return {"file.changed", false, ""}; }
inline const RecordFields<FileChange>& fields_of(const FileChange*) {
  using O = FileChange;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::path>("path", "text"),
      F::always<&O::kind>("kind", "change", "(add, delete, update, move)"),
      {"mode", "mode", "", true,
       [](const O& from, const char* name, Json& to) {
         std::string digits;
         for (int shift = 9; shift >= 0; shift -= 3)
           digits += static_cast<char>('0' + (from.mode >> shift & 7));
         to.members().emplace_back(name, digits);
       },
       [](Json& from, O& to) {
         to.mode = 0;
         for (const char digit : from.text()) to.mode = to.mode << 3 | (digit & 7);
       }},
      F::or_null<&O::sha256_before>("sha256_before", "text_or_null"),
      F::or_null<&O::sha256_after>("sha256_after", "text_or_null"),
      F::if_set<&O::moved_from>("moved_from", "text"),
      F::if_set<&O::by>("by", "text", "(`command`; a patch of the agent lacks it)"),
      F::if_set<&O::not_read>("not_read", "text", ": why a digest is missing"),
      F::if_set<&O::link_target>("link_target", "text",
                                 "of a link, whose digests are of this text"),
      F::if_set<&O::content>(
          "content", "text",
          "after the change in base64, where a replay takes it from here (a call that used the network or was cut off, a session, another program's tool)"),
  };
  return list;
}

inline const RecordFields<RecordedSide>& fields_of(const RecordedSide*) {
  using O = RecordedSide;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::mode>("mode", "string"),
      F::always<&O::sha256>("sha256", "string"),
      F::always<&O::bytes>("bytes", "count"),
  };
  return list;
}

inline const RecordFields<DiffedFile>& fields_of(const DiffedFile*) {
  using O = DiffedFile;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::path>("path", "text"),
      F::if_set<&O::old_path>("old_path", "text"),
      F::if_set<&O::before>("before", "any"),
      F::if_set<&O::after>("after", "any"),
      F::if_set<&O::in_commit>("in_commit", "boolean"),
      F::if_set<&O::base_content>("base_content", "text"),
  };
  return list;
}

inline const RecordFields<DiffedFolder>& fields_of(const DiffedFolder*) {
  using O = DiffedFolder;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::path>("path", "text"),
      F::if_set<&O::names>("names", "list"),
  };
  return list;
}

inline EventRow row_of(const DiffWritten*) {
  return {"diff.written", true, "; before the diff itself is written"};
}
inline const RecordFields<DiffWritten>& fields_of(const DiffWritten*) {
  using O = DiffWritten;
  using F = Fields<O>;
  static const RecordFields<O> list = {
      F::always<&O::name>("name", "text",
                          "(`changes.diff`, `partial.diff`, `submodules/PATH.diff`)"),
      F::if_set<&O::submodule>("submodule", "text", ": its path, for the diff of one"),
      F::always<&O::sha256>("sha256", "text", "of the diff"),
      F::always<&O::base>("base", "text", "(start, head)"),
      F::or_null<&O::base_commit>("base_commit", "text_or_null"),
      F::always<&O::prefix>("prefix", "text", ": the workspace below the repository's toplevel"),
      F::always<&O::files>(
          "files", "list",
          "(`path`, `old_path` of a rename, `before` and `after` with `mode`, `sha256` and `bytes`; `in_commit`: the base commit has the file before; else `base_content` is it in base64, up to 4 MiB of all)"),
      F::if_set<&O::folders>(
          "folders", "list",
          "(`path` and `names`: what is in the folders of these files without the diff, where there is no base commit)"),
  };
  return list;
}

}  // namespace sortie
