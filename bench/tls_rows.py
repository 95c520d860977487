"""What TLS adds to a start: the same run over http and https on loopback, interleaved."""

import os
import subprocess

from model_server import message, response


def make_certificate(folder):
    """A certificate of an authority of its own for 127.0.0.1. @return (its file, its key's)"""
    certificate, key = os.path.join(folder, "server.pem"), os.path.join(folder, "server.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-days", "2", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def tls_rows(bench, row, median):
    certificate = make_certificate(bench.folder)
    plain, encrypted = [], []
    for _ in range(3 * bench.repetitions):
        for times, given in ((plain, None), (encrypted, certificate)):
            result, requests = bench.run([response(1, message("All done."))], certificate=given)
            times.append((requests[0]["first"] - result.started) * 1e3)
    yield row("start to first request over TLS", median(encrypted), "ms", "without TLS", median(plain), None)
    yield row("what TLS adds to it", median(encrypted) - median(plain), "ms", "without TLS", median(plain), 1)
