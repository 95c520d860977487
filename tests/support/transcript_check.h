#pragma once

#include <filesystem>

namespace sortie::test {

/// Checks each record of the transcripts in a folder's folders, and in those of attempts, against the
/// schema that the program prints, as a part of the test that made them. One whose chain does not hold
/// was changed by its test, and is left out.
void check_transcripts(const std::filesystem::path& folder);

}  // namespace sortie::test
