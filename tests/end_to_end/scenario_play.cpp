#include <memory>

#include "core/agent/loop.h"
#include "core/net/http_client.h"
#include "core/provider/fallback_model.h"
#include "core/provider/http_model.h"
#include "core/provider/wires.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/scenario.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_tool_host.h"
#include "tests/support/connect_proxy.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_authority.h"

namespace sortie::test {

namespace {

using std::chrono::milliseconds;

constexpr const char* kModel = "gpt-5-codex";
constexpr const char* kHost = "model.test";  ///< that only the proxy can reach

/// A certificate for the host that stands behind the proxy, made once.
struct Authority {
  TemporaryFolder folder;
  TestAuthority authority{folder.path()};
  ServerCertificate certificate = authority.issue("server", std::string("DNS:") + kHost);
  static const Authority& instance() {
    static const Authority one;
    return one;
  }
};

/// Tokens by number; the next one each time that one is refused, as long as there are some.
class Tokens : public CredentialSource {
 public:
  explicit Tokens(std::int64_t left) : left_(left) {}
  std::optional<ModelFailure> prepare(std::chrono::steady_clock::time_point,
                                      std::stop_token) override {
    return std::nullopt;
  }
  HttpHeaders headers() const override {
    return {{"Authorization", "Bearer token-" + std::to_string(number_)}};
  }
  bool refused() override {
    if (--left_ <= 0) return false;
    ++number_;
    return true;
  }
  std::string plan() const override { return "team"; }

 private:
  std::int64_t left_;
  int number_ = 1;
};

/// What one of the run's models is made of.
struct Provider {
  Provider(const std::string& wire_name, const Json& data, int events, bool secure)
      : wire(make_wire(wire_name)) {
    std::vector<ServedResponse> responses;
    for (const Json& reply : data["server"].items())
      for (std::int64_t i = 0; i < reply.integer_at("times", 1); ++i)
        responses.push_back(served_reply(wire_name, reply, responses.empty() ? events : -1));
    server = std::make_unique<ModelServer>(
        std::move(responses),
        secure ? std::optional(Authority::instance().certificate) : std::nullopt);
  }
  std::unique_ptr<Wire> wire;
  std::unique_ptr<ModelServer> server;
  std::unique_ptr<HttpClient> http;
};

/// The data of a run's whole record, read back from its file.
void read_records(const std::filesystem::path& folder, ScenarioEnd& end) {
  end.transcript_problem = verify_run(folder).problem;
  read_transcript(folder / "transcript.jsonl", [&end](const TranscriptRecord& record) {
    if (record.type == "model.retry") end.retries.push_back(record.data);
    if (record.type == "model.fallback") end.fallbacks.push_back(record.data);
    if (record.type == "check.hit") end.checks.push_back(record.data);
    if (record.type == "model.request") ++end.request_records;
  });
}

/// The parts of a run in this process.
class Stage {
 public:
  Stage(const Scenario& scenario, const std::string& wire, int events)
      : data_(scenario.data),
        tokens_(data_.integer_at("tokens")),
        transcript_(folder_.path(), clock_) {
    events_.record_to(transcript_);
    events_.on({0, RunStart{.run_id = "run",
                            .run_key = "key",
                            .task = {"sha256:1", "", ""},
                            .policy = {"sha256:2", "", ""},
                            .model = Json::object({{"name", kModel}}),
                            .budget = Json::object()}});
    const Json& proxy = data_["proxy"];
    if (proxy.is_object()) proxy_ = std::make_unique<ConnectProxy>(proxy.string_at("wants"));
    add_provider(wire, data_, events);
    const Json& fallback = data_["fallback"];
    if (fallback.is_object())
      add_provider(fallback.string_at("wire", wire == "chat" ? "responses" : "chat"), fallback, -1);
  }

  ScenarioEnd run() {
    TaskBudget limits;
    limits.time = milliseconds(data_.integer_at("time_ms", 3'600'000));
    Budget budget(limits, clock_);
    ModelSettings settings{.model = kModel, .instructions = "Be good.", .run_id = "run"};
    settings.pin = data_["pin"].boolean();
    FallbackModel model(make_models());
    Loop loop({model, tools_, events_, budget}, settings);
    const LoopResult result = loop.run({{Message{Message::Role::user, "Do it."}}}, {});

    ScenarioEnd end;
    end.code = static_cast<int>(result.code);
    end.reason = result.reason;
    end.kind = result.kind;
    end.message = loop.last_message();
    end.requests = providers_.front()->server->requests();
    end.connections = providers_.front()->server->connections();
    if (providers_.size() > 1) end.fallback_requests = providers_[1]->server->requests();
    end.waits = clock_.sleeps;
    if (proxy_) end.proxied = proxy_->requests();
    end.calls = tools_.dispatched;
    if (result.retry_after)
      end.retry_after_s = static_cast<long>((result.retry_after->count() + 999) / 1000);
    read_records(folder_.path(), end);
    return end;
  }

 private:
  void add_provider(const std::string& wire, const Json& data, int events) {
    const bool secure = proxy_ || data.string_at("reach") == "untrusted";
    providers_.push_back(std::make_unique<Provider>(wire, data, events, secure));
  }

  /// Where the server is, or where the case has it looked for in vain.
  std::string address_of(const ModelServer& server, bool first) const {
    const std::string reach = first ? data_.string_at("reach") : "";
    const std::string host = proxy_ ? kHost : "127.0.0.1";
    if (reach == "unknown") return "https://nobody.invalid";
    if (reach == "refused") return "https://" + host + ":" + std::to_string(ModelServer({}).port());
    if (reach == "silent") return "https://" + host + ":" + std::to_string(server.port());
    return server.url(host);
  }

  ProxySettings proxy_settings() const {
    if (!proxy_) return {};
    const std::string user = data_["proxy"].string_at("user");
    return {.https_proxy = "http://" + (user.empty() ? "" : user + "@") +
                           "127.0.0.1:" + std::to_string(proxy_->port()),
            .no_proxy = data_["proxy"].string_at("except")};
  }

  std::vector<FallbackModel::Candidate> make_models() {
    std::vector<FallbackModel::Candidate> candidates;
    for (auto& provider : providers_) {
      const int number = static_cast<int>(candidates.size());
      TrustedCertificates trusted;
      if (proxy_) trusted.file = Authority::instance().authority.bundle();
      provider->http = std::make_unique<HttpClient>(trusted, proxy_settings());
      HttpModelOptions options;
      options.endpoint.base = parse_url(address_of(*provider->server, number == 0) + "/v1");
      options.headers = {{"Accept", "text/event-stream"}, {"Content-Type", "application/json"}};
      if (data_.find("tokens")) options.credential = &tokens_;
      const Json& limits = data_["limits"];
      options.limits.connect = milliseconds(limits.integer_at("connect", 5000));
      options.limits.first_byte = milliseconds(limits.integer_at("first_event", 20000));
      options.limits.idle = milliseconds(limits.integer_at("idle", 20000));
      options.limits.total = milliseconds(limits.integer_at("total", 60000));
      options.retries = static_cast<int>(data_.integer_at("retries", 1));
      options.retries_left = &retries_left_;
      options.random = [] { return 1.0; };
      options.stop_repetition = true;
      candidates.push_back({.name = "provider " + std::to_string(number),
                            .model = std::make_unique<HttpModel>(*provider->wire, *provider->http,
                                                                 clock_, std::move(options)),
                            .source = number});
    }
    return candidates;
  }

  const Json& data_;
  TemporaryFolder folder_;
  FakeClock clock_;
  Tokens tokens_;
  Redactor redactor_;
  Transcript transcript_;
  EventFanout events_{redactor_};
  FakeToolHost tools_;
  std::unique_ptr<ConnectProxy> proxy_;
  std::vector<std::unique_ptr<Provider>> providers_;
  int retries_left_ = 20;
};

}  // namespace

ScenarioEnd play(const Scenario& scenario, const std::string& wire, int events) {
  return Stage(scenario, wire, events).run();
}

}  // namespace sortie::test
