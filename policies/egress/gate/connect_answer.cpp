#include "policies/egress/gate/connect_answer.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/base/error.h"
#include "policies/egress/gate/tcp_pair.h"
#include "policies/egress/gate/thread_reader.h"

namespace sortie {
namespace {

/// A call's arguments as they were once.
struct Copied {
  SeenDescriptor descriptor;
  std::string address;
  int error = 0;
};

Copied copy_arguments_as_now(const NotifiedCall& call) {
  const ThreadReader reader(call.thread);
  Copied copied;
  if (!reader.may_look()) {
    copied.error = EPERM;
    return copied;
  }
  copied.descriptor = reader.descriptor(static_cast<int>(call.arguments[0]));
  const auto length = static_cast<int>(call.arguments[2]);
  if (copied.descriptor.kind == SocketKind::no_descriptor) {
    copied.error = EBADF;
  } else if (length < 0 || length > static_cast<int>(sizeof(sockaddr_storage))) {
    copied.error = EINVAL;
  } else {
    copied.error =
        reader.read_memory(call.arguments[1], static_cast<std::size_t>(length), copied.address);
  }
  return copied;
}

Copied copy_arguments(const NotifiedCall& call, const GatedCommands& commands) {
  Copied copied = copy_arguments_as_now(call);
  if (copied.error != EPERM) return copied;
  const FileAccessAs as(commands.uid, commands.gid);
  return copy_arguments_as_now(call);
}

AnsweredConnect refuse(const SeccompListener& listener, const NotifiedCall& call, int error) {
  listener.answer(call, error);
  return {};
}

AnsweredConnect deny(const SeccompListener& listener, const NotifiedCall& call, int error,
                     std::string reason, const ConnectVerdict& verdict = {}) {
  listener.answer(call, error);
  return {.connection = {},
          .denied = true,
          .host = verdict.host,
          .port = verdict.port,
          .reason = std::move(reason)};
}

std::string what_leads_out(std::uint16_t port) {
  return "only the proxy at http://127.0.0.1:" + std::to_string(port) +
         " leads out: the program has to use HTTPS_PROXY or HTTP_PROXY";
}

AnsweredConnect connect_to_proxy(const SeccompListener& listener, const NotifiedCall& call,
                                 const SeenDescriptor& descriptor) {
  auto pair = connected_tcp_pair(descriptor.kind == SocketKind::tcp4 ? AF_INET : AF_INET6);
  const bool made =
      pair && (!descriptor.non_blocking || ::fcntl(pair->inner.get(), F_SETFL, O_NONBLOCK) == 0);
  if (!made)
    return deny(listener, call, ECONNREFUSED,
                "no connection could be made on the loopback: " + errno_text(errno));
  const int error = listener.replace_descriptor(
      call, pair->inner.get(), static_cast<int>(call.arguments[0]), descriptor.close_on_exec);
  if (error != 0) return refuse(listener, call, error);
  listener.answer(call, 0);
  AnsweredConnect answered;
  answered.connection = std::move(pair->outer);
  return answered;
}

}  // namespace

AnsweredConnect answer_connect(const SeccompListener& listener, const NotifiedCall& call,
                               const GatedCommands& commands) {
  const Copied copied = copy_arguments(call, commands);
  if (!listener.is_waiting(call)) return {};  // it may have been another process that was read
  if (copied.error == EPERM)
    return deny(listener, call, EPERM,
                "the program does not let its memory be read (PR_SET_DUMPABLE), so that its "
                "connections can't be decided");
  if (copied.error != 0) return refuse(listener, call, copied.error);
  const ConnectVerdict verdict =
      judge_connect(copied.descriptor.kind, copied.address, commands.proxy_port);
  if (verdict.to_proxy) return connect_to_proxy(listener, call, copied.descriptor);
  if (!verdict.leaves) return refuse(listener, call, verdict.error);
  return deny(listener, call, verdict.error, what_leads_out(commands.proxy_port), verdict);
}

}  // namespace sortie
