#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie::test {

/// A fenced block of a document: ```LANGUAGE … ```.
struct DocumentBlock {
  std::string place;     ///< "docs/ci.md:30", of its first line
  std::string section;   ///< the last heading of level 2 before it
  std::string language;  ///< "yaml", "sh", …; "" for none
  std::string text;
  std::string marker;  ///< WORDS of a line `<!-- test: WORDS -->` right before it
  /// The file that the block is the content of: a first line `# NAME.yaml` or `# NAME.yml`, or the
  /// marker `file NAME`; "" for none.
  std::string file;
};

/// All blocks, in order.
/// @param document  relative to the repository
std::vector<DocumentBlock> blocks_of(const std::string& document);

/// What of a block a shell runs: all of a script, and in files of CI systems GitHub's `run`, GitLab's
/// `script`, the `args` of a container, Jenkins' `sh`.
std::vector<std::string> scripts_of(const DocumentBlock& block);

/// Writes those that are files below the folder.
void write_files(const std::vector<DocumentBlock>& blocks, const std::filesystem::path& folder);

}  // namespace sortie::test
