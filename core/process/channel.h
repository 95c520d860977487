#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// A message over a SOCK_SEQPACKET socket, with the descriptors that came along.
struct ChannelMessage {
  std::string bytes;
  std::vector<Fd> descriptors;
  bool closed = false;  ///< the other end is gone
};

/// Both ends of a SEQPACKET socket pair, opened O_CLOEXEC.
struct Channel {
  Fd ours;
  Fd theirs;
};

/// An end that takes or brings nothing for two minutes counts as gone.
/// @throws Error  when the system has no descriptors left
Channel make_channel();

/// Sends one message with up to 8 descriptors. False with errno set when it can't.
bool send_message(int socket, std::string_view bytes, const std::vector<int>& descriptors = {});

/// One byte with this descriptor, for a child between fork and exec: it neither allocates nor
/// throws.
/// @return 0 or the errno
int send_descriptor(int socket, int descriptor) noexcept;

enum class Wait { yes, no };
/// One message of up to 64 KiB; with Wait::no nothing there is an empty, unclosed message, with
/// Wait::yes one that does not come within the channel's limit is a closed one.
ChannelMessage receive_message(int socket, Wait wait);

}  // namespace sortie
