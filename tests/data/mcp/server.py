#!/usr/bin/env python3
"""A small MCP server over stdio: polite, or hostile in the way that its first argument names."""
import json
import os
import signal
import socket
import sys
import threading
import time

mode = sys.argv[1] if len(sys.argv) > 1 else "good"
out = sys.stdout.buffer
changed = False


def send_bytes(data):
    out.write(data)
    out.flush()


def send(message):
    send_bytes(json.dumps(dict({"jsonrpc": "2.0"}, **message)).encode() + b"\n")


def reply(request, result):
    send({"id": request["id"], "result": result})


def text(words, **more):
    return dict({"content": [{"type": "text", "text": words}]}, **more)


def tool(name, description="", **properties):
    return {"name": name, "description": description or name,
            "inputSchema": {"type": "object", "properties": properties}}


def tools():
    listed = [tool("echo", "Says it again.", text={"type": "string"}), tool("fail"), tool("env"),
              tool("image"), tool("structured"), tool("resource"), tool("change"), tool("roots"),
              tool("write"), tool("read.dotted"), tool("connect")]
    if changed:
        listed.append(tool("added", "Came later."))
    return listed


def call(request):
    global changed
    name = request["params"]["name"]
    arguments = request["params"].get("arguments", {})
    if mode == "hang_call":
        token = request["params"]["_meta"]["progressToken"]
        send({"method": "notifications/progress",
              "params": {"progressToken": token, "progress": 3, "total": 10, "message": "digging"}})
        return
    if mode == "die_call" or mode == "die_once":
        if mode == "die_call" or not os.path.exists("died"):
            open("died", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
    if mode == "half":
        return send_bytes(b'{"jsonrpc":"2.0","id":%d,"result":{"con' % request["id"])
    if mode == "half_exit":
        send_bytes(b'{"jsonrpc":"2.0","id":%d,"result":{"con' % request["id"])
        sys.exit(3)
    if mode == "huge":
        return reply(request, text("x" * (50 << 20)))
    if mode == "wrong_id":
        send({"id": 4711, "result": text("for nobody")})
        return reply(request, text("right"))
    if mode == "twice":
        reply(request, text("first"))
        return reply(request, text("second"))
    if mode == "storm":
        for _ in range(200000):
            send_bytes(b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n')
        return reply(request, text("survived"))
    if mode == "deep":
        return send_bytes(b'{"jsonrpc":"2.0","id":%d,"result":' % request["id"] + b"[" * 100000 +
                          b"]" * 100000 + b"}\n")
    if mode == "utf8":
        return send_bytes(b'{"jsonrpc":"2.0","id":%d,"result":"\xff\xfe"}\n' % request["id"])
    if mode == "cut":
        return send_bytes(b'{"jsonrpc":"2.0","id":%d,"result":{"con\n' % request["id"])
    if mode == "cut_id":
        return send_bytes(b'{"jsonrpc":"2.0","result":{"content":[]},"id":\n')
    if mode == "unread":
        return send({"id": None, "error": {"code": -32700, "message": "Parse error"}})
    if mode == "garbage":
        send_bytes(b"Listening on port 3000\n\n   \n{}\n")
        send_bytes(b'{"level":"warn","id":%d,"error":"disk",\n' % request["id"])
        send_bytes(b'{"jsonrpc":"2.0","method":"notifications/message","params":"\xff"}\n')
        send_bytes(b'{"jsonrpc":"2.0","id":4711,"result":\n')
        send({"id": None, "error": {"code": -32601, "message": "Method not found"}})
        return reply(request, text("right"))
    if mode == "closes_stdout":
        os.close(1)
        time.sleep(1000)
    if name == "fail":
        return reply(request, text("it went wrong", isError=True))
    if name == "env":
        return reply(request, text(json.dumps(sorted(os.environ))))
    if name == "image":
        data = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAA"
                "SUVORK5CYII=")
        return reply(request, {"content": [{"type": "image", "data": data,
                                            "mimeType": "image/png"}]})
    if name == "structured":
        return reply(request, {"content": [], "structuredContent": {"answer": 42},
                               "_meta": {"example.org/trace": "t-1"}})
    if name == "resource":
        return reply(request, {"content": [
            {"type": "resource", "resource": {"uri": "demo://1", "mimeType": "text/plain",
                                              "text": "inside"}},
            {"type": "resource_link", "uri": "demo://2", "name": "second"}]})
    if name == "change":
        changed = True
        send({"method": "notifications/tools/list_changed"})
        return reply(request, text("changed"))
    if name == "roots":
        send({"id": "r1", "method": "roots/list"})
        roots = json.loads(sys.stdin.readline())
        send({"id": "s1", "method": "sampling/createMessage", "params": {}})
        sampling = json.loads(sys.stdin.readline())
        send({"id": "p1", "method": "ping"})
        ping = json.loads(sys.stdin.readline())
        return reply(request, text(json.dumps([roots["result"], sampling["error"]["code"],
                                               ping["result"]])))
    if name == "connect":
        try:
            socket.create_connection(("127.0.0.1", int(arguments["text"])), 5).close()
            return reply(request, text("connected"))
        except OSError as error:
            return reply(request, text("no way: " + str(error), isError=True))
    if name == "write":
        open("written.txt", "w").write("by the server\n")
        return reply(request, text("wrote"))
    reply(request, text("echo: " + str(arguments.get("text", ""))))


def write_without_end():
    """A file that is another one whenever somebody looks."""
    with open("counter.txt", "ab", 0) as file:
        while True:
            file.write(b".")
            time.sleep(0.0005)


def tidy_up(*_):
    print("tidied up", file=sys.stderr, flush=True)
    open("farewell.txt", "w").write("gone\n")
    os._exit(0)


def main():
    if mode == "meets":  # the one that is named last
        open(sys.argv[2], "w").close()
        while not os.path.exists(sys.argv[3]):
            time.sleep(0.01)
    if mode == "busy":
        threading.Thread(target=write_without_end, daemon=True).start()
    if mode == "ends_by_term":
        signal.signal(signal.SIGTERM, tidy_up)
    if mode == "hang_start":
        time.sleep(1000)
    if mode == "die_start":
        print("no license", file=sys.stderr)
        sys.exit(9)
    if mode == "deaf_to_the_end":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode == "flood_stderr":
        for _ in range(100000):
            print("noise " * 20, file=sys.stderr)
    if mode == "meet":
        open("met-" + sys.argv[2], "w").close()
        while not os.path.exists("met-" + sys.argv[3]):
            time.sleep(0.01)
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            version = "1999-01-01" if mode == "version" else message["params"]["protocolVersion"]
            reply(message, {"protocolVersion": version,
                            "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                            "serverInfo": {"name": "test", "version": "1"}})
        elif method == "logging/setLevel":
            reply(message, {})
            send({"method": "notifications/message",
                  "params": {"level": "info", "data": "at your service"}})
        elif method == "tools/list":
            if mode == "endless_pages":
                reply(message, {"tools": [], "nextCursor": "again"})
                continue
            if mode == "die_list":
                sys.exit(4)
            cursor = message.get("params", {}).get("cursor")
            listed = tools()
            if cursor is None:
                reply(message, {"tools": listed[:4], "nextCursor": "4"})
            else:
                reply(message, {"tools": listed[4:]})
        elif method == "tools/call":
            call(message)
        elif method == "notifications/cancelled":
            print("cancelled " + str(message["params"]["requestId"]), file=sys.stderr, flush=True)
    if mode in ("deaf_to_the_end", "ends_by_term"):
        time.sleep(1000)
    if mode == "farewell":
        tidy_up()


main()
