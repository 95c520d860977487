#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/command/command_start.h"
#include "policies/sandbox/view/set_tree.h"

namespace sortie {

/// Encodes the messages between sortie and its keeper: numbers as 8 bytes in native byte order,
/// texts as their length and bytes. Both ends are the same program.
class WireWriter {
 public:
  void number(std::int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_.append(value);
  }
  void texts(const std::vector<std::string>& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const auto& value : values) text(value);
  }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Decodes them. @throws Error  if the bytes end too early
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  std::int64_t number() {
    std::int64_t value = 0;
    const auto bytes = take(sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(static_cast<std::uint64_t>(number()))); }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (std::int64_t left = number(); left > 0; --left) values.push_back(text());
    return values;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw Error("a message of the keeper is cut short");
    const auto bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string_view rest_;
};

/// What is too long for a message is passed in such a file. @throws Error  if there is no memory
Fd memory_file(const char* name, std::string_view bytes);
/// The whole file. @throws Error  if it is longer than `most`
std::string read_memory_file(const Fd& file, std::int64_t most);

/// A command for the keeper, passed in a memory file. @throws Error  if it is truncated
std::string encode_command(const Command& command);
Command decode_command(std::string_view bytes);

/// A tree for a private set. @throws Error  if it is truncated
void add_set_tree(WireWriter& writer, const SetTree& tree);
SetTree take_set_tree(WireReader& reader);

/// The programs of the filters that compile_filters() made for this profile, a message each; the keeper
/// gets them before it starts a command.
void send_filters(int socket, const ByKind<SeccompFilter>& filters);
/// @throws Error  if they don't come
ByKind<SeccompFilter> receive_filters(int socket, const SandboxProfile& profile);

/// The first number of a message to the keeper, and of its first answer.
enum class KeeperWord : std::int64_t { start, drop_set, make_tree, quit, ready, failed };

/// A byte over a command's own socket ends it: this one sends SIGTERM, any other is the Ending that
/// it is killed with.
inline constexpr char kAskToEnd = '\x7f';

/// How a command ended, as the keeper reports it over the command's own socket.
struct CommandEnd {
  ExitStatus status;
  std::string failure;  ///< a layer that could not be set up; "" when none
};
std::string encode_end(const CommandEnd& end);
CommandEnd decode_end(std::string_view bytes);

}  // namespace sortie
