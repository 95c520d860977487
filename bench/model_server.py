"""A model's server on loopback, in a process of its own, that notes the times of what it sees."""

import json
import os
import socket
import ssl
import time

NANO = 1e9
DONE = "All done."


def event(kind, **data):
    text = json.dumps({"type": kind, **data}, separators=(",", ":"))
    return f"event: {kind}\ndata: {text}\n\n".encode()


def function_call(number, name, arguments):
    return {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}",
            "name": name, "arguments": json.dumps(arguments), "status": "completed"}


def call(number, argv):
    """A call of the tool shell."""
    return function_call(number, "shell", {"command": argv})


def patch(number, text):
    return {"type": "custom_tool_call", "id": f"ctc_{number}", "call_id": f"call_{number}",
            "name": "apply_patch", "input": text, "status": "completed"}


def message(text):
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}


def response(number, item, deltas=()):
    """The events of one streamed response, in the bytes that go over the wire: a chunk an event."""
    body = {"id": f"resp_{number}", "object": "response", "model": "gpt-5-codex",
            "status": "completed", "output": [item],
            "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}
    events = [event("response.created", response={"id": body["id"], "model": body["model"]})]
    events += [event("response.output_text.delta", item_id="msg_1", output_index=0,
                     content_index=0, delta=delta) for delta in deltas]
    events.append(event("response.output_item.done", output_index=0, item=item))
    events.append(event("response.completed", response=body))
    return streamed(events)


def conversation(turns, argv, make_call=call):
    """Answers that call a command in each turn, and a last one without a call."""
    return ([response(i, make_call(i, argv)) for i in range(1, turns + 1)]
            + [response(turns + 1, message(DONE))])


def streamed(events):
    head = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n")
    return head + b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in events) + b"0\r\n\r\n"


def chat_response(deltas):
    """A message in Chat Completions, in these deltas."""
    def chunk(**members):
        text = json.dumps({"id": "chat_1", "object": "chat.completion.chunk",
                           "model": "gpt-5-codex", **members}, separators=(",", ":"))
        return f"data: {text}\n\n".encode()

    def choice(reason, **delta):
        return chunk(choices=[{"index": 0, "delta": delta, "finish_reason": reason}])

    return streamed(
        [choice(None, role="assistant", content="")]
        + [choice(None, content=delta) for delta in deltas]
        + [choice("stop"), chunk(choices=[], usage={"prompt_tokens": 100, "completion_tokens": 10,
                                                    "total_tokens": 110}),
           b"data: [DONE]\n\n"])


def messages_response(deltas):
    """A message in Anthropic's Messages, in these deltas."""
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
             "content": [], "usage": {"input_tokens": 100, "output_tokens": 1}}
    return streamed(
        [event("message_start", message=start),
         event("content_block_start", index=0, content_block={"type": "text", "text": ""})]
        + [event("content_block_delta", index=0, delta={"type": "text_delta", "text": delta})
           for delta in deltas]
        + [event("content_block_stop", index=0),
           event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 10}),
           event("message_stop")])


def turn_times(times):
    """From the end of each answer to the next request's first byte, in ms; of ModelServer.times()."""
    return [(later["first"] - earlier["answered"]) * 1e3 for earlier, later in zip(times, times[1:])]


class ModelServer:
    """Answers the requests with the responses given, in their order.

    certificate: (file, its key's file) of one that speaks TLS."""

    def __init__(self, responses, certificate=None):
        listener = socket.create_server(("127.0.0.1", 0), backlog=8)
        self.port = listener.getsockname()[1]
        self._pipe, theirs = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                times = serve(listener, responses, certificate)
            except OSError as error:
                times = [{"error": str(error)}]
            with os.fdopen(theirs, "w") as file:
                json.dump(times, file)
            os._exit(0)
        os.close(theirs)
        listener.close()

    def times(self):
        """Of each request, in seconds of time.monotonic(): its first byte, its last one, and the
        last byte of its answer. Waits until all responses are gone."""
        with os.fdopen(self._pipe) as file:
            times = json.load(file)
        os.waitpid(self._process, 0)
        return times


def serve(listener, responses, certificate=None):
    times = []
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
    listener.settimeout(600)
    connection = None
    pending = b""
    while len(times) < len(responses):
        if connection is None:
            connection = listener.accept()[0]
            connection.settimeout(600)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context:
                connection = context.wrap_socket(connection, server_side=True)
            pending = b""
        first, last, pending = read_request(connection, pending)
        if first is None:
            connection = None
            continue
        connection.sendall(responses[len(times)])
        times.append({"first": first, "last": last, "answered": time.monotonic_ns() / NANO})
    return times


def read_request(connection, data):
    first = None
    while b"\r\n\r\n" not in data:
        part = connection.recv(1 << 16)
        if not part:
            return None, None, b""
        first = first or time.monotonic_ns() / NANO
        data += part
    first = first or time.monotonic_ns() / NANO
    head, rest = data.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    parts, have = [rest], len(rest)
    while have < length:
        part = connection.recv(1 << 16)
        if not part:
            return None, None, b""
        parts.append(part)
        have += len(part)
    body = b"".join(parts)
    return first, time.monotonic_ns() / NANO, body[length:]
