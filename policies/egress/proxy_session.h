#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/http1/body_reader.h"
#include "core/net/proxy.h"
#include "policies/egress/host_rules.h"
#include "policies/egress/http/proxy_messages.h"
#include "policies/egress/name_lookup.h"
#include "policies/egress/peer.h"
#include "policies/egress/proxy_options.h"
#include "policies/egress/upstream.h"

namespace sortie {

/// Shared by the sessions of one proxy.
struct ProxyServices {
  const HostRules& rules;
  NameLookup& lookup;
  const EgressLimits& limits;
  const EgressReport& report;
  const ProxySettings& ahead;
  std::uint64_t requests = 0;  ///< so far
  std::uint64_t lookups = 0;
};

/// One client's connection to the proxy, from its first request to its end. Never blocks: the loop
/// waits for the events of wanted(), and calls on_ready().
class ProxySession {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ProxySession(Fd client, ProxyServices& services, Time now);
  ProxySession(const ProxySession&) = delete;
  ProxySession& operator=(const ProxySession&) = delete;

  /// poll(2) events for both descriptors; 0: none.
  struct Wanted {
    int client = -1;
    short client_events = 0;
    int server = -1;
    short server_events = 0;
  };
  Wanted wanted() const;
  Time deadline() const;

  void on_ready(short client_events, short server_events, Time now);
  void on_time(Time now);
  /// The lookup that this session waits for; 0: none.
  std::uint64_t lookup_id() const noexcept { return lookup_id_; }
  void on_answer(NameLookup::Answer answer, Time now);

  bool is_over() const noexcept { return stage_ == Stage::over; }
  /// Ends it in any stage; reports an open connection as closed.
  void end(const std::string& reason);

 private:
  enum class Stage {
    head,      ///< reads a request's head
    lookup,    ///< looks the host's addresses up
    connect,   ///< connects to one of them
    upstream,  ///< asks the upstream proxy for a tunnel
    tunnel,    ///< forwards bytes both ways
    exchange,  ///< forwards one plain request and its response
    farewell,  ///< sends the last answer
    over,
  };

  void work(Time now);
  bool step(Time now);
  bool step_head(Time now);
  void take_request(ProxyRequest request, Time now);
  void look_up(const Host& host);
  void check_addresses(std::vector<IpAddress> addresses, Time now);
  void go_upstream(Time now);
  bool open();
  void connect_to(std::vector<IpAddress> addresses, std::uint16_t port, Time now);
  void connect(Time now);
  void on_connected(Time now);
  bool step_upstream(Time now);
  void begin(Time now);
  bool step_tunnel();
  bool step_exchange(Time now);
  bool step_request_body();
  bool step_response_head();
  bool step_response_body();
  void finish_exchange(Time now);
  bool step_farewell(Time now);

  void deny(int status, const std::string& reason, Time now);
  void fail(int status, const std::string& reason, Time now);
  void answer(int status, const std::string& reason, Time now);
  void break_off(const std::string& reason);
  void close_record(const std::string& reason);
  void touch(Time now);

  bool reads_client() const;
  bool reads_server() const;

  /// Bytes to and from the proxy behind this one that are not the command's.
  struct HopBytes {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  /// The request and response that are passed on.
  struct Bodies {
    std::optional<BodyReader> request;
    std::optional<ServerResponse> response_head;
    std::optional<BodyReader> response;
    BodyFraming returned;  ///< of the response's body as the client gets it
    bool keep_alive = false;
  };

  ProxyServices& services_;
  Stage stage_ = Stage::head;
  Time deadline_;
  Peer client_;
  Peer server_;
  ByteQueue from_client_;
  ByteQueue to_server_;
  ByteQueue from_server_;
  ByteQueue to_client_;

  ProxyRequest request_;
  HostDecision decision_;
  std::optional<UpstreamProxy> upstream_;  ///< the proxy for this request
  HopBytes hop_bytes_;
  std::uint64_t lookup_id_ = 0;
  std::optional<Connector> connector_;

  EgressConnection record_;
  bool open_ = false;            ///< reported as opened and not yet as closed
  Time started_;                 ///< of the record
  bool waits_for_next_ = false;  ///< for another request on the same connection

  Bodies bodies_;
};

}  // namespace sortie
