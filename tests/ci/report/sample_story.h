#pragma once

#include "ci/report/run_story.h"

namespace sortie::test {

/// A run that failed its verification, with something of everything that a page shows.
RunStory sample_story();

/// The same with that text in each place that a run, a model or a repository can fill.
RunStory story_full_of(const std::string& text);

/// A run of that many turns with four calls each.
RunStory long_story(int turns);

}  // namespace sortie::test
