#!/usr/bin/env python3
"""`rubble view --watch` without a browser: what its server answers, and what it tells when files change.

  test_serve.py RUBBLE

Waits for what the command says, never for a time; a wait that takes a minute is a failure.
"""
import base64
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

RUBBLE = os.path.abspath(sys.argv.pop(1))


def graph(pieces):
    return json.dumps({"rubble": 1, "nodes": {"box": {"type": "MakePrimitive"}, "cut": {"type": "UniformFracture",
        "in": {"collection": "box"}, "params": {"min_sites": pieces, "max_sites": pieces}}}})


class Serve(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="rubble-serve-")
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.write("bare.html", "<@RUBBLE_DATA@>")
        self.write("box.json", graph(4))
        self.process = None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + "~new", "w") as f:
            f.write(text)
        os.replace(path + "~new", path)

    def start(self, *arguments, file="box.json"):
        self.process = subprocess.Popen([RUBBLE, "view", file, "--watch", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=dict(os.environ, RUBBLE_VIEW_PAGE=os.path.join(self.folder, "bare.html")))
        self.addCleanup(self.stop)
        line = self.process.stdout.readline()
        found = re.match(r"open http://127\.0\.0\.1:(\d+)/ in a browser\n$", line)
        self.assertTrue(found, line)
        self.port = int(found.group(1))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def get(self, path="/", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body, answer

    def raw(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as s:
            s.sendall(data)
            out = b""
            while True:
                try:
                    part = s.recv(65536)
                except ConnectionResetError:
                    break
                if not part:
                    break
                out += part
        return out

    def pieces(self):
        status, body, _ = self.get()
        self.assertEqual(status, 200)
        data = base64.b64decode(body[1:-1], validate=True)
        size = int.from_bytes(data[8:12], "little")
        head = json.loads(data[16:16 + size])
        return head["arrays"]["geometry_bone"][2], head["live"]

    def events(self):
        """Pairs of event and data, as they come."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/events")
        answer = connection.getresponse()
        self.addCleanup(connection.close)
        self.addCleanup(answer.close)
        self.assertEqual(answer.getheader("Content-Type"), "text/event-stream; charset=utf-8")
        name = None
        while True:
            line = answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                yield name, line[6:]
            elif line == ":":  # a sign of life
                yield "", ""

    def next_of(self, events, name):
        end = time.monotonic() + 60
        for event, data in events:
            self.assertLess(time.monotonic(), end, f"no {name} for a minute")
            if event == name:
                return data

    def test_the_loop_of_an_artist(self):
        self.start()
        events = self.events()
        first = self.next_of(events, "result")
        self.assertEqual(self.pieces(), (4, first))
        self.write("box.json", graph(7))
        self.next_of(events, "running")
        second = self.next_of(events, "result")
        self.assertNotEqual(first, second)
        self.assertEqual(self.pieces(), (7, second))
        self.write("box.json", '{"rubble": 1, "nodes": {"box": {"type": "MakePrimitve"}}}')
        problem = json.loads(self.next_of(events, "problem"))
        self.assertIn('did you mean "MakePrimitive"?', problem)
        self.assertEqual(self.pieces(), (7, second), "the last good result stays")
        self.assertEqual(json.loads(self.next_of(self.events(), "problem")), problem, "told to those who come later, too")
        self.write("box.json", graph(4))
        self.assertEqual(self.next_of(events, "result"), first)
        self.assertEqual(self.stop(), 130)

    def test_nodes_that_fail(self):
        self.write("box.json", json.dumps({"rubble": 1, "nodes": {"mesh": {"type": "MeshToCollection", "params": {"file": "no.obj"}}}}))
        self.start()
        self.assertIn("no.obj", json.loads(self.next_of(self.events(), "problem")))
        self.assertEqual(self.pieces(), (0, ""))

    def test_a_mesh(self):
        self.write("tetra.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        self.start(file="tetra.obj")
        events = self.events()
        first = self.next_of(events, "result")
        self.write("tetra.obj", "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        self.assertNotEqual(self.next_of(events, "result"), first)

    def test_answers(self):
        self.start()
        self.next_of(self.events(), "result")
        self.assertEqual(self.get("/none")[0], 404)
        self.assertEqual(self.get("/../../etc/passwd")[0], 404)
        self.assertEqual(self.get("/?anything")[0], 200)
        self.assertEqual(self.get("/favicon.ico")[0], 200)
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            status, _, answer = self.get(method=method)
            self.assertEqual(status, 405)
            self.assertEqual(answer.getheader("Allow"), "GET")
        self.assertEqual(self.get(Host="evil.example")[0], 403)
        self.assertEqual(self.get(Host=f"evil.example:{self.port}")[0], 403)
        self.assertEqual(self.get(Host=f"localhost:{self.port}")[0], 200)
        answer = self.get()[2]
        self.assertEqual(answer.getheader("Cache-Control"), "no-store")
        self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))

    def test_what_is_no_request(self):
        self.start()
        host = f"Host: 127.0.0.1:{self.port}\r\n"
        for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"\0\0\0\0", b"GET / FTP/1.1\r\n\r\n", b"get / HTTP/1.1\r\n\r\n",
                b"\xff" * 100 + b"\r\n\r\n", b"A" * 300 + b" / HTTP/1.1\r\n\r\n"):
            self.assertTrue(self.raw(data).startswith(b"HTTP/1.1 400 "), data)
        self.assertTrue(self.raw(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 403 "))
        self.assertTrue(self.raw(f"GET /{'a' * 9000} HTTP/1.1\r\n{host}\r\n".encode()).startswith(b"HTTP/1.1 404 "))
        self.assertTrue(self.raw(b"GET / HTTP/1.1\r\nX: " + b"a" * (16 * 1024 - 19)).startswith(b"HTTP/1.1 431 "))
        idle = [socket.create_connection(("127.0.0.1", self.port), timeout=60) for _ in range(100)]
        for s in idle:
            s.close()
        end = time.monotonic() + 60
        while True:  # as long as it sees too many, it refuses more
            try:
                self.next_of(self.events(), "result")
                break
            except (ConnectionError, http.client.HTTPException):
                self.assertLess(time.monotonic(), end, "no answer for a minute")
        self.assertEqual(self.pieces()[0], 4)

    def test_ports(self):
        self.start()
        taken, first = self.port, self.process
        p = subprocess.run([RUBBLE, "view", "box.json", "--watch", "--port", str(taken)], cwd=self.folder, capture_output=True, text=True,
            timeout=60, env=dict(os.environ, RUBBLE_VIEW_PAGE=os.path.join(self.folder, "bare.html")))
        self.assertEqual(p.returncode, 3)
        self.assertIn(f"port {taken} cannot be opened", p.stderr)
        self.start()
        self.assertNotEqual(self.port, taken)
        self.stop()
        self.process = first
        for options, text in ((["--port", "70000", "--watch"], "65535"), (["--port", "80"], "needs --watch"),
                (["--watch", "-o", "x.html"], "no -o")):
            p = subprocess.run([RUBBLE, "view", "box.json", *options], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual(p.returncode, 2)
            self.assertIn(text, p.stderr)

    def test_listens_to_this_machine_only(self):
        self.start()
        with open(f"/proc/{self.process.pid}/net/tcp") as f:
            rows = [line.split()[1:4] for line in f.readlines()[1:]]
        listening = [local for local, _, state in rows if state == "0A" and int(local.split(":")[1], 16) == self.port]
        self.assertEqual([l.split(":")[0] for l in listening], ["0100007F"])


if __name__ == "__main__":
    unittest.main()
