#include "tools/shown_result.h"

#include <utility>

#include "core/text/base64.h"
#include "tools/saved_outputs.h"

namespace sortie {
namespace {

/// The text, cut; whole in a file where it is shown in part.
CollectedOutput collected(const std::string& text, const ResultView& view) {
  OutputBuffer buffer(view.shown_output);
  buffer.feed(text);
  CollectedOutput output = buffer.finish();
  if (output.left_out_bytes == 0 || view.outputs == nullptr) return output;
  const auto file = view.outputs->begin();
  if (!file) return output;
  file->write(text);
  return buffer.finish(file->keep());
}

/// Takes out the images whose bytes hold what is redacted in a tool's output: a comment, a chunk of
/// metadata, what stands behind the end. Nothing can be replaced in them: a mark would break the
/// file. What is drawn, or compressed inside, is not seen.
///
/// @return  a remark that names the images, from 1, and what they hold; "" where all stay
std::string take_out_secret_images(std::vector<Image>& images, const Redactor& redactor) {
  std::string remark;
  std::vector<Image> kept;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string name = redactor.find(base64_decoded(images[i].base64), Audience::tools);
    if (name.empty()) {
      kept.push_back(std::move(images[i]));
      continue;
    }
    remark += remark.empty() ? "" : "; ";
    remark += (images.size() == 1 ? "the image" : "image " + std::to_string(i + 1)) +
              std::string(" is not shown: its file holds [REDACTED:") + name + ']';
  }
  images = std::move(kept);
  return remark;
}

std::string noted(const std::string& remark) { return remark.empty() ? "" : "\nNote: " + remark; }

CallDetails details_of(const ToolResult& result, const Redactor& redactor) {
  CallDetails details;
  details.session_id = result.session;
  if (!result.server_answer.is_object()) return details;
  const Json answer = redactor.json(result.server_answer, Audience::tools);
  details.content = answer["content"];
  details.structured_content = answer["structured_content"];
  return details;
}

}  // namespace

CallRecord shown_result(ToolResult result, const std::vector<std::string>& remarks,
                        const ResultView& view) {
  const Redactor& redactor = view.redactor;
  CollectedOutput output = result.collected
                               ? std::move(*result.collected)
                               : collected(redactor.text(result.text, Audience::tools), view);
  std::string tail = noted(result.note) + noted(take_out_secret_images(result.images, redactor));
  for (const std::string& remark : remarks) tail += noted(remark);
  const std::string head = redactor.text(result.head, Audience::tools);

  CallRecord done;
  done.output.text = head + redactor.text(std::move(output.shown), Audience::tools) +
                     redactor.text(std::move(tail), Audience::tools);
  done.output.success = result.success;
  done.output.images = std::move(result.images);
  // Whole: what stands above a command's output is on record as its exit and duration.
  const bool is_command = result.exit || result.session;
  done.record.output = is_command ? std::move(output.recorded) : head + output.recorded;
  done.record.exit = std::move(result.exit);
  done.record.dropped_bytes = output.left_out_bytes;
  done.record.changed_files = std::move(result.changed_files);
  done.record.details = details_of(result, redactor);
  if (output.recorded_cut && !output.whole.empty() && view.outputs != nullptr)
    done.record.whole = view.outputs->find(output.whole);
  done.output.whole = output.whole.empty() ? std::move(result.whole) : std::move(output.whole);
  done.file_changes = std::move(result.file_changes);
  done.plan = std::move(result.plan);
  return done;
}

}  // namespace sortie
