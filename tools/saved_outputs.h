#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/events.h"
#include "tools/tool.h"

namespace sortie {

/// Where the outputs of commands stand whole that the model is shown a part of: files of a folder
/// beside the workspace, read by `read_file` and `search_files`, and by commands where they are
/// shown it. They hold what was redacted already.
class SavedOutputs {
 public:
  /// @param folder     absolute, links resolved; has to be there, and is removed by who made it
  /// @param max_bytes  of all of them, also while they are written; past it the oldest go
  SavedOutputs(std::filesystem::path folder, std::uint64_t max_bytes);

  /// One output while it is written. Destroying it without keep() removes the file.
  class File {
   public:
    File(SavedOutputs& outputs, std::filesystem::path path, Fd file);
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();
    /// What can't be written (a full disk, no room) makes it a file that is not kept.
    void write(std::string_view text);
    /// @return  its path, or "" where a part of it is missing
    std::string keep();

   private:
    void give_up();

    SavedOutputs& outputs_;
    std::filesystem::path path_;
    Fd file_;  ///< none once it is kept or given up
    std::uint64_t bytes_ = 0;
    Sha256 hash_;
  };
  /// Nothing where no file can be made.
  std::unique_ptr<File> begin();

  /// One that is kept still; nothing where it went.
  std::optional<SavedOutput> find(const std::string& path);

  const std::filesystem::path& folder() const { return folder_; }
  /// Of the folder's files.
  const DiskFiles& files() const { return files_; }

 private:
  bool take_room(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);
  void keep(SavedOutput output);

  std::filesystem::path folder_;
  std::uint64_t max_bytes_;
  DiskFiles files_;
  std::mutex mutex_;  ///< of all below: calls that only read run side by side
  std::deque<SavedOutput> kept_;
  std::uint64_t bytes_ = 0;  ///< of all files, kept or not
  int count_ = 0;
};

/// A tool that reads files of the workspace, and beside them those of SavedOutputs.
class ReadsOutputs : public Tool {
 public:
  /// @param tool        for all other paths
  /// @param of_outputs  the same tool over the folder of the outputs as its workspace
  ReadsOutputs(std::unique_ptr<Tool> tool, std::unique_ptr<Tool> of_outputs,
               std::filesystem::path folder);
  const ToolSpec& spec() const override { return tool_->spec(); }
  Json renamed(Json arguments) const override { return tool_->renamed(std::move(arguments)); }
  bool reads_only() const override { return tool_->reads_only(); }
  /// None for an output: the model has been shown a part of it.
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  bool is_of_outputs(const Json& arguments) const;

  std::unique_ptr<Tool> tool_;
  std::unique_ptr<Tool> of_outputs_;
  std::filesystem::path folder_;
};

}  // namespace sortie
