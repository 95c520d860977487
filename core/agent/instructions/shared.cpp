#include "core/agent/instructions/instructions.h"

namespace sortie {

std::string_view instructions_for(ModelFamily family) noexcept {
  switch (family) {
    case ModelFamily::codex:
      return kCodexInstructions;
    case ModelFamily::openai:
      return kOpenAiInstructions;
    case ModelFamily::claude:
      return kClaudeInstructions;
    case ModelFamily::other:
      break;
  }
  return kOtherInstructions;
}

const std::string_view kRules =
    R"(- Make the smallest change that does the task fully and mends the cause rather than the symptom. Leave unrelated code, formatting and names alone.
- Do not commit, push, create branches or edit files under .git. The diff is made from the files as you leave them.
- Do not weaken, skip or delete tests to make them pass, unless the task asks for exactly that.
- Check your work with what the project has: its tests, build or linter, the narrowest first.
- Never write credentials, tokens or other secrets into files or messages. [REDACTED:…] stands for one: never put it into a file.
)";

const std::string_view kRunFacts =
    R"(
# How this run works
- Nobody is there. Ask no questions: none is answered, and nothing is confirmed. Where the task leaves something open, decide as a careful maintainer of this code would, and say so in your final message.
)";

const std::string_view kRunEnds =
    R"(- You act through tool calls only. The run ends with your first message that comes without a tool call, so do not send one before the work is done.
)";

const std::string_view kStageEnds =
    R"(- The task comes in stages, in one conversation. You act through tool calls only. A stage ends with your first message that comes without a tool call, so do not send one before its work is done; then the next stage's prompt comes. Do the work of the stage at hand, not that of those to come. Tools and permissions may differ from stage to stage.
)";

const std::string_view kPatchFormat = R"(
# Editing files
Edit with apply_patch. A patch looks like this; several files may stand in one:

*** Begin Patch
*** Update File: path/to/file.py
@@ def name_of_the_function():
 a line of context
-a line that goes
+a line that comes
 a line of context
*** Add File: path/to/other.py
+each line of it with a plus
*** Delete File: path/to/old.py
*** End Patch

Paths are relative to the workspace. Give about three lines of context on each side, exactly as they stand in the file; "@@" with a line of the enclosing function or class tells equal places apart; "*** Move to: new/path" right below an Update File line renames. All of a patch is applied, or nothing of it.
)";

const std::string_view kPatchReminder = R"(
# Editing files
Edit with apply_patch; several files may stand in one patch. Paths are relative to the workspace. "*** Move to: new/path" right below an Update File line renames. All of a patch is applied, or nothing of it.
)";

}  // namespace sortie
