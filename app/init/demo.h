#pragma once

#include <cstddef>
#include <filesystem>

namespace sortie {

/// Writes a task with a project, a policy and recorded answers of a model, to be run without a key and a
/// network: samples/python-tool.
/// @param folder  is made, or is empty; its parent is there
/// @return        how many files there are
/// @throws Error  usage: the folder has files, or can't be written to; environment: a full disk. Nothing
///                was written
std::size_t write_demo(const std::filesystem::path& folder);

}  // namespace sortie
