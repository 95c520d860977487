#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// A message over a SOCK_SEQPACKET socket, with the descriptors passed with it.
struct ChannelMessage {
  std::string bytes;
  std::vector<Fd> descriptors;
  bool closed = false;  ///< the other end is closed
};

/// Both ends of a SEQPACKET socket pair, opened O_CLOEXEC.
struct Channel {
  Fd ours;
  Fd theirs;
};

/// An end that sends or receives nothing for two minutes counts as closed.
/// @throws Error  if the system has no descriptors left
Channel make_channel();

/// Sends one message with up to 8 descriptors. False with errno set on failure.
bool send_message(int socket, std::string_view bytes, const std::vector<int>& descriptors = {});

/// Sends one byte with this descriptor; for a child between fork and exec: neither allocates nor
/// throws.
/// @return 0 or the errno
int send_descriptor(int socket, int descriptor) noexcept;

enum class Wait { yes, no };
/// Receives one message of up to 64 KiB. With Wait::no, returns an empty, unclosed message if there
/// is none; with Wait::yes, a closed one if none arrives within the channel's limit.
ChannelMessage receive_message(int socket, Wait wait);

}  // namespace sortie
