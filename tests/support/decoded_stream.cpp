#include "tests/support/decoded_stream.h"

#include <algorithm>

#include "core/net/sse.h"

namespace sortie::test {

namespace {

Json rendered(const Item& item) {
  if (const auto* message = std::get_if<Message>(&item.content))
    return Json::object({{"message", message->text}});
  if (const auto* reasoning = std::get_if<Reasoning>(&item.content))
    return Json::object({{"reasoning", reasoning->summary}});
  if (const auto* provider = std::get_if<ProviderItem>(&item.content))
    return Json::object({{"provider", provider->type}, {"summary", provider->summary}});
  const auto& call = std::get<ToolCall>(item.content);
  const bool custom = call.form == ToolCall::Form::custom;
  const bool local = call.form == ToolCall::Form::local_shell;
  return Json::object({{custom  ? "custom"
                        : local ? "local_shell"
                                : "call",
                        call.call_id},
                       {"name", call.name},
                       {custom ? "input" : "arguments", call.arguments}});
}

Json rendered(const Response& response) {
  Json items = Json::array();
  for (const Item& item : response.items) items.push_back(rendered(item));
  const Usage usage = response.usage.value_or(Usage{});
  Json shown = Json::object({{"state", "complete"},
                             {"id", response.id},
                             {"model", response.served_model},
                             {"stop_reason", response.stop_reason}});
  if (response.usage)
    shown.set("usage", Json::array({usage.input_tokens, usage.cached_input_tokens,
                                    usage.output_tokens, usage.reasoning_output_tokens}));
  return shown.set("items", items);
}

Json rendered(const ModelFailure& failure) {
  Json shown = Json::object({{"state", "failed"},
                             {"kind", failure.kind},
                             {"exit_code", static_cast<int>(failure.code)},
                             {"transient", failure.transient},
                             {"message", failure.message}});
  if (failure.retry_after)
    shown.set("retry_after_ms", static_cast<std::int64_t>(failure.retry_after->count()));
  return shown;
}

}  // namespace

DecodedStream decode_stream(const Wire& wire, const ModelSettings& settings,
                            std::string_view stream, std::size_t piece) {
  const auto decoder = wire.decoder(settings);
  DecodedStream decoded;
  SseParser parser;
  for (std::size_t at = 0; at < stream.size(); at += std::min(piece, stream.size()))
    parser.feed(std::string(stream.substr(at, piece)),
                [&](const SseEvent& event) { decoded.state = decoder->read(event); });
  if (decoded.state == WireDecoder::State::going_on) decoded.state = decoder->finish();
  if (decoded.state == WireDecoder::State::failed) decoded.shown = rendered(decoder->failure());
  if (decoded.state == WireDecoder::State::complete) {
    decoded.response = decoder->take();
    decoded.shown = rendered(decoded.response);
  }
  return decoded;
}

std::vector<std::filesystem::path> stream_folders(const std::filesystem::path& in) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(in))
    if (std::filesystem::exists(entry.path() / "stream.sse")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string differences(const DecodedStream& decoded, Json expected) {
  const std::vector<Json> findings = expected["findings"].items();
  std::erase_if(expected.members(), [](const auto& member) {
    return member.first == "findings" || member.first == "settings";
  });
  if (write_json(decoded.shown) != write_json(expected))
    return write_json(decoded.shown) + "\nexpected:\n" + write_json(expected);
  const auto& found = decoded.response.findings;
  for (std::size_t i = 0; i < std::max(found.size(), findings.size()); ++i) {
    const std::string said = i < found.size() ? found[i] : "(none)";
    const std::string wanted = i < findings.size() ? findings[i].text() : "(none)";
    if (said.find(wanted) == std::string::npos)
      return "finding: " + said + "\nexpected in it: " + wanted;
  }
  return "";
}

}  // namespace sortie::test
