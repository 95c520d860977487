#include "tests/end_to_end/provider_run.h"

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"

namespace sortie::test {

namespace fs = std::filesystem;

ProviderRun::ProviderRun() {
  write("work/a.txt", "a\n");
  fs::create_directory(path("caller"));
  commit_workspace();
  write_task();
}

void ProviderRun::write_task(const std::string& model, const std::string& more) const {
  write("task.yaml",
        "version: 1\nprompt: Do it.\nworkspace: {path: work}\n"
        "policy: auto\nexpect: {changes: any}\n"
        "model: {retries: 1" +
            (model.empty() ? "" : ", " + model) + "}\n" + more);
}

void ProviderRun::write_model(const std::string& model) const {
  write("task.yaml",
        "version: 1\nprompt: Do it.\nworkspace: {path: work}\npolicy: auto\n"
        "expect: {changes: any}\nmodel: {" +
            model + "}\n");
}

ProgramStart ProviderRun::start(const std::string& url,
                                const std::vector<std::string>& flags) const {
  ProgramStart start = RunFolder::start(flags);
  start.environment["SORTIE_BASE_URL"] = url;
  for (const char* name :
       {"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT",
        "AZURE_OPENAI_BASE_URL", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY",
        "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"})
    start.environment[name] = "";
  // The toolchains below the user's own are gigabytes, and some tests search all that commands see.
  start.environment["HOME"] = path("caller").string();
  return start;
}

ProgramEnd ProviderRun::run(const ModelServer& server,
                            const std::vector<std::string>& flags) const {
  return run_program(start(base_url(server), flags));
}

std::string ProviderRun::all_written(const ProgramEnd& end) const {
  std::string text = end.printed();
  for (const auto& entry : fs::recursive_directory_iterator(out()))
    if (entry.is_regular_file()) text += read_file(entry.path());
  return text;
}

std::string base_url(const ModelServer& server) { return server.url() + "/v1"; }

std::vector<ServedResponse> served(const CassetteWriter& cassette) {
  std::vector<ServedResponse> responses;
  for (const auto& stream : cassette.streams()) responses.push_back(served_stream(stream));
  return responses;
}

std::vector<std::string> message_texts(const ReceivedRequest& request) {
  std::vector<std::string> texts;
  const Json body = parse_json(request.body);
  for (const Json& item : body["input"].items()) {
    if (item.string_at("type") != "message") continue;
    const Json& content = item["content"];
    std::string text = content.text();
    for (const Json& part : content.items()) text += part.string_at("text");
    texts.push_back(text);
  }
  return texts;
}

void check_end(const ProviderRun& run, const ProgramEnd& end, int code, const std::string& status) {
  BOOST_TEST(end.status == code, end.errors);
  const std::string words = "sortie: " + status + " (" + std::to_string(code) + "): ";
  BOOST_TEST(end.errors.find(words) != std::string::npos, end.errors);
  const Json result = run.result();
  BOOST_TEST(result.string_at("status") == status);
  BOOST_TEST(result.integer_at("exit_code") == code);
  const bool retryable = (code >= 10 && code < 20) || code > 128;
  // Whether a limit ends by itself, its kind says.
  if (code != 11) BOOST_TEST(result["retryable"].boolean() == retryable);
  const VerifyResult verified = verify_run(run.out());
  BOOST_TEST(verified.ok, verified.problem);
  BOOST_TEST(verified.finished);
  const bool success = code == 0;
  BOOST_TEST(std::filesystem::exists(run.out() / "changes.diff") == success);
  BOOST_TEST(std::filesystem::exists(run.out() / "partial.diff") == !success);
}

}  // namespace sortie::test
