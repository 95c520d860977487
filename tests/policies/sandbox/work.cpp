#include "tests/policies/sandbox/work.h"

namespace sortie::test {

const std::vector<Work>& what_must_work() {
  static const std::vector<Work> work = {
      {"files", "echo a > n && mkdir -p d/e && mv n d/e/n && ln -s d l && cat l/e/n && rm -r d l",
       false},
      {"hard links inside", "echo a > n && mkdir d && ln n d/m && mv d/m k && rm -r n k d", false},
      {"truncation", "echo aaaa > n && truncate -s 2 n && test $(stat -c %s n) = 2 && rm n", false},
      {"temporary files and the home", "touch $(mktemp) $HOME/x && rm $HOME/x", false},
      {"devices", "echo x > /dev/null && head -c 4 /dev/urandom | wc -c", false},
      {"git",
       "rm -rf g && git init -q g && cd g && echo a > a && git add a && "
       "git -c user.name=a -c user.email=a@b commit -qm x && git status --short && "
       "git log --oneline && cd .. && rm -rf g",
       false},
      {"a compiler",
       "echo '#include <vector>\n#include <cstdio>\nint main() { std::vector<int> v(3); "
       "std::puts(\"hi\"); return v[0]; }' > a.cpp && g++ a.cpp -o a.out && ./a.out && "
       "rm a.cpp a.out",
       false},
      {"the address sanitizer",
       "echo 'int main(int n, char**) { int* p = new int(n); return *p - n; "
       "}' > s.cpp && g++ -fsanitize=address s.cpp -o s.out && ./s.out && "
       "rm s.cpp s.out",
       false},
      {"Python with threads and a socket pair",
       "/usr/bin/python3 -c 'import threading, socket, subprocess\n"
       "a, b = socket.socketpair()\n"
       "t = threading.Thread(target=lambda: a.send(b\"x\")); t.start(); t.join()\n"
       "assert b.recv(1) == b\"x\"\n"
       "assert subprocess.run([\"true\"]).returncode == 0'",
       false},
      {"code made at run time",
       "/usr/bin/python3 -c 'import mmap, ctypes\n"
       "m = mmap.mmap(-1, 4096, prot=7); m.write(bytes([0xb8, 42, 0, 0, 0, 0xc3]))\n"
       "f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n"
       "assert f() == 42'",
       false},
      {"a program in memory",
       "/usr/bin/python3 -c 'import os, subprocess\n"
       "f = os.memfd_create(\"p\", 0); os.write(f, open(\"/bin/true\", \"rb\").read())\n"
       "assert subprocess.run([\"/proc/self/fd/%d\" % f], pass_fds=[f]).returncode == 0'",
       false},
      {"a set of randomness off", "setarch -R true", false},
      {"node, where it is installed",
       "command -v node >/dev/null || exit 0; test $(node -e 'console.log(6*7)') = 42", false},
      {"Java, where it is installed",
       "command -v java >/dev/null || exit 0; java -version 2>&1 | grep -i version", false},
      {"git in a repository of a test's own, with a hook",
       "git init -q r && git -C r config core.hooksPath ../hooks && mkdir hooks && "
       "printf '#!/bin/sh\\ntouch ../ran\\n' > hooks/post-commit && chmod 755 hooks/post-commit && "
       "git -C r status && git -C r -c user.name=a -c user.email=a@b commit -q --allow-empty -m x "
       "&& "
       "test -e ran && rm -rf r hooks ran",
       false},
      {"a server and its client on the loopback",
       "/usr/bin/python3 -c 'import http.server, threading, urllib.request\n"
       "s = http.server.HTTPServer((\"127.0.0.1\", 0), http.server.SimpleHTTPRequestHandler)\n"
       "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
       "u = \"http://127.0.0.1:%d/file\" % s.server_port\n"
       "assert urllib.request.urlopen(u).read() == b\"content\\n\"'",
       true},
      {"a socket file",
       "/usr/bin/python3 -c 'import socket\n"
       "s = socket.socket(socket.AF_UNIX); s.bind(\"sock\"); s.listen()\n"
       "c = socket.socket(socket.AF_UNIX); c.connect(\"sock\")' && rm sock",
       true},
      {"the network's interfaces are asked for",
       "/usr/bin/python3 -c 'import socket\n"
       "assert [n for _, n in socket.if_nameindex()] == [\"lo\"]'",
       true},
  };
  return work;
}

}  // namespace sortie::test
