#include "policies/sandbox/keeper/profile_message.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "policies/sandbox/keeper/keeper_messages.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Calls `each` with all fields. A new field makes these not compile, as a structured binding names every
/// one; that it is passed on, too, its test compares.
template <class Each, class Limits>
requires std::is_same_v<std::remove_const_t<Limits>, PolicyLimits>
void with_fields(Each& each, Limits& limits) {
  auto& [command_timeout, output, memory, memory_percent, processes, file_size, open_files, disk,
         diff_file_size, on_large_file, transcript] = limits;
  each(command_timeout, output, memory, memory_percent, processes, file_size, open_files, disk,
       diff_file_size, on_large_file, transcript);
}

template <class Each, class Plan>
requires std::is_same_v<std::remove_const_t<Plan>, MountPlan>
void with_fields(Each& each, Plan& plan) {
  auto& [kind, in_place, workspace, source, upper, work, beside, ended, cover] = plan;
  each(kind, in_place, workspace, source, upper, work, beside, ended, cover);
}

template <class Each, class View>
requires std::is_same_v<std::remove_const_t<View>, GitView>
void with_fields(Each& each, View& view) {
  auto& [folders, covered, files] = view;
  each(folders, covered, files);
}

template <class Each, class Profile>
requires std::is_same_v<std::remove_const_t<Profile>, SandboxProfile>
void with_fields(Each& each, Profile& profile) {
  auto& [mode, network, mount, git, readable, writable, without_sockets, toolchains,
         workspace_writable, workspace_write_only, protect, hide, hidden_inside, protected_inside,
         pinned, home, uid, gid, tracing, limits, memory_bytes, use_namespaces, counts_own_tasks,
         cgroup, shown_group, may_escalate_writes, may_escalate_network] = profile;
  each(mode, network, mount, git, readable, writable, without_sockets, toolchains,
       workspace_writable, workspace_write_only, protect, hide, hidden_inside, protected_inside,
       pinned, home, uid, gid, tracing, limits, memory_bytes, use_namespaces, counts_own_tasks,
       cgroup, shown_group, may_escalate_writes, may_escalate_network);
}

template <class Value>
concept Number = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

struct Put {
  WireWriter& to;

  template <class... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  template <Number Value>
  void put(Value value) {
    to.number(static_cast<std::int64_t>(value));
  }
  void put(std::chrono::milliseconds time) { to.number(time.count()); }
  void put(const std::string& text) { to.text(text); }
  void put(const fs::path& path) { to.text(path.native()); }
  template <class Value>
  void put(const std::vector<Value>& values) {
    to.number(static_cast<std::int64_t>(values.size()));
    for (const Value& value : values) put(value);
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    to.number(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class First, class Second>
  void put(const std::pair<First, Second>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <class Parts>
  requires std::is_aggregate_v<Parts>
  void put(const Parts& parts) { with_fields(*this, parts); }
};

struct Take {
  WireReader& from;

  template <class... Fields>
  void operator()(Fields&... fields) {
    (take(fields), ...);
  }
  template <Number Value>
  void take(Value& value) {
    value = static_cast<Value>(from.number());
  }
  void take(std::chrono::milliseconds& time) { time = std::chrono::milliseconds(from.number()); }
  void take(std::string& text) { text = from.text(); }
  void take(fs::path& path) { path = from.text(); }
  template <class Value>
  void take(std::vector<Value>& values) {
    values.clear();
    for (std::int64_t left = from.number(); left > 0; --left) take(values.emplace_back());
  }
  template <class Value>
  void take(std::optional<Value>& value) {
    value.reset();
    if (from.number() != 0) take(value.emplace());
  }
  template <class First, class Second>
  void take(std::pair<First, Second>& pair) {
    take(pair.first);
    take(pair.second);
  }
  template <class Parts>
  requires std::is_aggregate_v<Parts>
  void take(Parts& parts) { with_fields(*this, parts); }
};

}  // namespace

std::string encode_profile(const SandboxProfile& profile) {
  WireWriter writer;
  Put put{writer};
  put(profile);
  return writer.bytes();
}

SandboxProfile decode_profile(std::string_view bytes) {
  WireReader reader(bytes);
  SandboxProfile profile;
  Take take{reader};
  take(profile);
  return profile;
}

}  // namespace sortie
