#include "policies/sandbox/keeper/keeper_messages.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

#include "core/process/channel.h"

namespace sortie {

Fd memory_file(const char* name, std::string_view bytes) {
  Fd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file || !write_all(file.get(), bytes)) throw system_error("memfd_create");
  return file;
}

std::string read_memory_file(const Fd& file, std::int64_t most) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || status.st_size > most)
    throw Error("a message of the keeper is too long");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != status.st_size)
    throw system_error("read a message of the keeper");
  return bytes;
}

std::string encode_command(const Command& command) {
  WireWriter writer;
  writer.texts(command.argv);
  writer.text(command.workdir.native());
  writer.number(static_cast<std::int64_t>(command.environment.size()));
  for (const auto& [name, value] : command.environment) {
    writer.text(name);
    writer.text(value);
  }
  writer.number(command.read_only ? 1 : 0);
  writer.number(command.writes ? 1 : 0);
  writer.number(command.open_network ? 1 : 0);
  writer.number(command.canary ? 1 : 0);
  writer.number(static_cast<std::int64_t>(command.input));
  writer.number(command.errors_apart ? 1 : 0);
  writer.number(command.timeout.count());
  writer.text(command.private_set);
  writer.number(command.private_set_alone ? 1 : 0);
  return writer.bytes();
}

Command decode_command(std::string_view bytes) {
  WireReader reader(bytes);
  Command command;
  command.argv = reader.texts();
  command.workdir = reader.text();
  for (std::int64_t left = reader.number(); left > 0; --left) {
    std::string name = reader.text();
    command.environment.insert_or_assign(std::move(name), reader.text());
  }
  command.read_only = reader.number() != 0;
  command.writes = reader.number() != 0;
  command.open_network = reader.number() != 0;
  command.canary = reader.number() != 0;
  command.input = static_cast<CommandInput>(reader.number());
  command.errors_apart = reader.number() != 0;
  command.timeout = std::chrono::milliseconds(reader.number());
  command.private_set = reader.text();
  command.private_set_alone = reader.number() != 0;
  return command;
}

void add_set_tree(WireWriter& writer, const SetTree& tree) {
  writer.text(tree.set);
  writer.text(tree.folder);
  writer.number(static_cast<std::int64_t>(tree.kind));
  writer.texts(tree.keep);
}

SetTree take_set_tree(WireReader& reader) {
  SetTree tree;
  tree.set = reader.text();
  tree.folder = reader.text();
  tree.kind = static_cast<SetTree::Kind>(reader.number());
  tree.keep = reader.texts();
  return tree;
}

void send_filters(int socket, const ByKind<SeccompFilter>& filters) {
  for (const auto& filter : filters) {
    if (!filter) continue;
    WireWriter writer;
    writer.text(filter->program());
    // A keeper that has failed says why in its answer.
    if (!send_message(socket, writer.bytes())) return;
  }
}

ByKind<SeccompFilter> receive_filters(int socket, const SandboxProfile& profile) {
  ByKind<SeccompFilter> filters;
  for (unsigned kind = 0; kind < filters.size(); ++kind) {
    if (!has_kind(profile, kind)) continue;
    const ChannelMessage message = receive_message(socket, Wait::yes);
    if (message.closed) throw Error("the filters of the commands did not come");
    const SandboxProfile own = profile_of_kind(profile, kind);
    const std::string program = WireReader(message.bytes).text();
    if (program.empty() != (own.mode == SandboxMode::none))
      throw Error("the filter of the commands is not of this run");
    filters[kind] = std::make_unique<SeccompFilter>(own, program);
  }
  return filters;
}

std::string encode_end(const CommandEnd& end) {
  WireWriter writer;
  writer.number(static_cast<std::int64_t>(end.status.ending));
  writer.number(end.status.code);
  writer.text(end.status.detail);
  writer.number(end.status.duration.count());
  writer.number(end.status.ended_background ? 1 : 0);
  writer.text(end.failure);
  return writer.bytes();
}

CommandEnd decode_end(std::string_view bytes) {
  WireReader reader(bytes);
  CommandEnd end;
  end.status.ending = static_cast<Ending>(reader.number());
  end.status.code = static_cast<int>(reader.number());
  end.status.detail = reader.text();
  end.status.duration = std::chrono::milliseconds(reader.number());
  end.status.ended_background = reader.number() != 0;
  end.failure = reader.text();
  return end;
}

}  // namespace sortie
