#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace sortie {

/// The results of tests, as the output of the program that ran them has them.
///
/// The output comes from code that nobody may trust, and other text may stand between the results. So
/// a reading is complete only if all of it fits together: counts with lines, beginnings with ends.
struct TestResults {
  enum class Kind {
    unknown,     ///< of no format that is known
    incomplete,  ///< of a known format, but cut off, or it contradicts itself
    complete,
  };
  Kind kind = Kind::unknown;
  std::string format{};   ///< "pytest"
  std::string problem{};  ///< why it is incomplete
  /// Whether it passed, by name. Skipped tests are not in it; of two with one name the second is
  /// "NAME (2)". At least one test if complete.
  std::map<std::string, bool> tests{};
  bool names_passes = true;  ///< `tests` has those that passed too; otherwise only `passes` counts
  std::int64_t passes = 0;

  void add(const std::string& name, bool passed);
  std::int64_t failures() const;
};

/// What failed that did not fail before, or no longer passes; for people, without a final stop.
/// @param before  complete
/// @return        "" if there is nothing
std::string new_failures(const TestResults& before, const TestResults& after);

}  // namespace sortie
