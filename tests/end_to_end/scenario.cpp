#include "tests/end_to_end/scenario.h"

#include <Poco/DeflatingStream.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "core/config/yaml.h"
#include "core/files/files.h"
#include "tests/support/wire_streams.h"

namespace sortie::test {

namespace {

namespace fs = std::filesystem;

/// Plain scalars are what JSON makes of them, where it makes something of them; else text.
Json scalar(const YamlNode& node) {
  if (!node.plain) return Json(node.text);
  try {
    return parse_json(node.text);
  } catch (const JsonError&) {
    return Json(node.text);
  }
}

Json json_of(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::list: {
      Json list = Json::array();
      for (const auto& item : node.items) list.push_back(json_of(item));
      return list;
    }
    case YamlNode::Kind::mapping: {
      Json object = Json::object();
      for (const auto& member : node.members) object.set(member.key.text, json_of(member.value));
      return object;
    }
    case YamlNode::Kind::scalar:
      return scalar(node);
    default:
      return {};
  }
}

/// "\xff" and the like are written as the two characters \ and x in YAML's plain text: undone here.
std::string bytes_of(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\x", at)) != std::string::npos && at + 3 < text.size();
       ++at)
    text.replace(at, 4, 1, static_cast<char>(std::stoi(text.substr(at + 2, 2), nullptr, 16)));
  return text;
}

/// Texts that are too long to be written down: {repeat: "x", times: 10000000}, or
/// {numbers_up_to_bytes: 10000000}, in which nothing is repeated.
std::string long_text(const Json& value) {
  if (!value.is_object()) return value.text();
  std::string text;
  if (const auto size = value["numbers_up_to_bytes"].integer()) {
    for (int i = 0; text.size() < static_cast<std::size_t>(*size); ++i)
      text += std::to_string(i) + " ";
    text.resize(static_cast<std::size_t>(*size));
    return text;
  }
  const std::string once = value.string_at("repeat");
  for (std::int64_t i = 0; i < value.integer_at("times", 1); ++i) text += once;
  return text;
}

std::string encoded(const std::string& body, const std::string& coding) {
  if (coding != "gzip" && coding != "deflate") return body;
  std::ostringstream target;
  Poco::DeflatingOutputStream stream(target, coding == "gzip"
                                                 ? Poco::DeflatingStreamBuf::STREAM_GZIP
                                                 : Poco::DeflatingStreamBuf::STREAM_ZLIB);
  stream << body;
  stream.close();
  return target.str();
}

/// The body in the framing that is asked for, with the header that says so.
std::string framed(const std::string& body, const std::string& framing) {
  if (framing == "close") return "\r\n" + body;
  if (framing == "length")
    return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  std::string text = "Transfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < body.size(); at += 4000) {
    const std::string piece = body.substr(at, 4000);
    char size[20];
    std::snprintf(size, sizeof size, "%zx", piece.size());
    text += std::string(size) + (framing == "extended" ? ";a=b" : "") + "\r\n" + piece + "\r\n";
  }
  return text + "0\r\n" + (framing == "extended" ? "X-Trailer: yes\r\n" : "") + "\r\n";
}

std::string stream_body(std::string_view wire, Json told, int events) {
  if (told["text"].is_object()) told.set("text", long_text(told["text"]));
  if (told.find("inserted")) told.set("inserted", bytes_of(long_text(told["inserted"])));
  WireStream stream = wire_stream(wire, told);
  const auto cut = told["cut_after"].integer();
  if (events < 0 && cut) events = static_cast<int>(*cut);
  if (events >= 0 && static_cast<std::size_t>(events) < stream.events.size())
    stream.events.resize(static_cast<std::size_t>(events));
  std::string text = stream.text();
  if (told["lines"].text() == "crlf")
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
      text.replace(at, 1, "\r\n");
  if (told["lines"].text() == "cr") std::replace(text.begin(), text.end(), '\n', '\r');
  if (told["no_final_newline"].boolean()) text.resize(text.size() - 1);
  return told.string_at("before") + text;
}

std::string head_of(const Json& reply, int status, const std::string& type) {
  std::string head;
  if (reply["interim"].boolean())
    head += "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
  head += reply.string_at("version", "HTTP/1.1") + " " + std::to_string(status) + " Status\r\n";
  if (!type.empty()) head += "Content-Type: " + type + "\r\n";
  for (const auto& [name, value] : reply["headers"].members())
    head += name + ": " + long_text(value) + "\r\n";
  return head;
}

}  // namespace

std::vector<std::string> Scenario::wires() const {
  const Json& named = data["wires"];
  if (!named.is_array()) return {"responses", "chat", "messages"};
  std::vector<std::string> names;
  for (const Json& name : named.items()) names.push_back(name.text());
  return names;
}

std::vector<Scenario> load_scenarios(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Scenario> scenarios;
  for (const auto& file : files) {
    Diagnostics findings;
    const auto source = findings.add_source(file.string(), read_file(file));
    const YamlNode root = read_yaml(source, findings);
    if (!findings.empty()) throw std::runtime_error(findings.render());
    for (const auto& item : root.items)
      scenarios.push_back({.file = file.stem().string(), .data = json_of(item)});
  }
  return scenarios;
}

ServedResponse served_reply(std::string_view wire, const Json& reply, int events) {
  using Then = ServedResponse::Then;
  ServedResponse served;
  const std::string framing = reply.string_at("framing", "chunked");
  const auto percent = reply["cut_percent"].integer();
  const bool cut = events >= 0 || reply["stream"].find("cut_after") || percent;
  const bool closes =
      cut || framing == "close" || reply.find("raw") || reply.string_at("version") == "HTTP/1.0";
  const std::string then = reply.string_at("then", closes ? "close" : "keep");
  served.then = then == "close"  ? Then::close
                : then == "hang" ? Then::hang
                : then == "drip" ? Then::drip
                                 : Then::keep;
  served.drip = reply.string_at("drip");
  served.piece = static_cast<std::size_t>(reply.integer_at("piece"));
  if (reply.find("raw")) {
    served.bytes = bytes_of(long_text(reply["raw"]));
    return served;
  }
  std::string type = "application/json";
  std::string body;
  if (reply.find("stream")) {
    body = stream_body(wire, reply["stream"], events);
    type = "text/event-stream; charset=utf-8";
  } else if (reply.find("error")) {
    body = wire_error(wire, reply["error"]);
  } else {
    body = long_text(reply["body"]);
  }
  const std::string coding = reply.string_at("encoding");
  std::string head = head_of(reply, static_cast<int>(reply.integer_at("status", 200)),
                             reply.string_at("type", type));
  if (!coding.empty()) head += "Content-Encoding: " + coding + "\r\n";
  std::string rest = framed(encoded(body, coding), framing);
  if (percent) rest.resize(rest.size() * static_cast<std::size_t>(*percent) / 100);
  // Without its last chunk: more could come.
  else if (framing == "chunked" && (cut || then == "hang" || then == "drip"))
    rest.resize(rest.size() - 5);
  served.bytes = head + rest;
  return served;
}

}  // namespace sortie::test
