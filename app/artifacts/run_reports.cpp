#include "app/artifacts/run_reports.h"

#include <exception>

#include "ci/report/page/page.h"
#include "ci/report/read_story.h"
#include "ci/report/summary.h"

namespace sortie {

std::map<std::string, std::string> write_reports(const OutputFolder& out, const Json& result,
                                                 const Redactor& redactor) {
  try {
    const RunStory story = read_run_story(out.path(), result, &redactor);
    std::map<std::string, std::string> digests;
    digests[kSummaryName] = out.write(kSummaryName, summary_text(story), Synced::content);
    digests[kPageName] = out.write(kPageName, page_text(story), Synced::content);
    return digests;
  } catch (const std::exception&) {
    for (const char* name : kReportNames) out.remove(name);
    throw;
  }
}

std::string without_reports(const std::string& problem) {
  return std::string(kSummaryName) + " and " + kPageName + " are not written: " + problem +
         "; 'sortie report' makes them";
}

}  // namespace sortie
