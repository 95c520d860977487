#pragma once

#include <string>
#include <string_view>

#include "ci/report/run_story.h"

namespace sortie {

/// A run as JUnit XML, for the page of tests that CI systems have: a suite with the run itself, and one
/// with the commands of the last verification. Of a command whose output holds the results of tests,
/// in a form that is known and whole, each test is a case.
///
/// Valid by the schemas of Ant ("JUnit.xsd") and of Jenkins. Characters that XML does not have stand as
/// "[U+FFFE]".
std::string junit_text(const RunStory& story);

/// A text as a part of an XML document or of an attribute's quoted value.
std::string xml_text(std::string_view text);

}  // namespace sortie
