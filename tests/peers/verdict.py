"""Starts llmock on a free loopback port, sends `offpeak run` into its faults, and checks its verdict.

For each fault the peer's own findings must not name one of the four faults of a bad client, and the exit code, the
number of requests and the output file must be what our documentation says.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# The peer's words for what a client must never do.
NEVER = {"retry_after_ignored", "retried_non_retryable", "retry_storm", "truncated_stream_accepted"}

SETTINGS = """\
upstream:
  base_url: http://127.0.0.1:{port}/anthropic
  timeouts: {{ connect: 2s, first_byte: 5s, idle: 2s }}
retry: {{ base_delay: 300ms, max_delay: 3s }}
"""

JOB = """\
cron: "0 5 * * *"
timezone: Asia/Tokyo
prompt: {{ text: "Answer to: {name}." }}
output: {{ file: "out/{name}.md" }}
request: {{ stream: {stream} }}
"""


def fail(status, times=1, **more):
    return {"type": "fail", "status": status, "times": times, **more}


def fault(kind, times=1, **more):
    return {"type": "stream_fault", "kind": kind, "after_chunks": 3, "times": times, **more}


# Name, how the answer travels, the faults, exit code, requests.
SCENARIOS = [
    ("well", "true", [], 0, 1),
    ("well_whole", "false", [], 0, 1),
    ("rate_limit", "true", [fail(429, 2, retry_after=1)], 0, 3),
    ("rate_limit_fraction", "false", [fail(429, 1, retry_after=0.7)], 0, 2),
    ("rate_limit_long", "true", [fail(429, 9, retry_after=60)], 75, 1),
    ("overloaded", "true", [fail(529, 2)], 0, 3),
    ("outage", "true", [fail(503, 9)], 75, 3),
    ("conflict", "true", [fail(409, 1)], 0, 2),
    ("bad_request", "true", [fail(400, 9)], 1, 1),
    ("refused_key", "true", [fail(401, 9)], 75, 1),
    ("forbidden", "true", [fail(403, 9)], 1, 1),
    ("no_model", "true", [fail(404, 9)], 1, 1),
    ("unprocessable", "true", [fail(422, 9)], 1, 1),
    ("disconnect", "true", [fault("disconnect", 2)], 0, 3),
    ("truncate", "true", [fault("truncate", 2)], 0, 3),
    ("truncate_at_once", "true", [fault("truncate", 1, after_chunks=0)], 0, 2),
    ("malformed", "true", [fault("malformed", 1)], 0, 2),
    ("stall", "true", [fault("stall", 1, stall_seconds=6)], 0, 2),
    ("slow_first_token", "true", [{"type": "slow_first_token", "seconds": 1}], 0, 1),
]

# Every attempt is cut: the peer calls that an accepted stream, whoever gives up. So we look ourselves.
ALWAYS_CUT = ("truncate_always", "true", [fault("truncate", 9)], 75, 3)


class Peer:
    """The stand-in, and what it says of its clients."""

    def __init__(self, home):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(home / "llmock.log", "w", encoding="utf-8")
        program = pathlib.Path(sys.executable).with_name("llmock")
        command = [program, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning"]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        request.add_header("content-type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=20) as reply:
            return json.load(reply)

    def wait(self):
        for _ in range(300):
            try:
                return self.ask("GET", "/health")
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        sys.exit(f"llmock did not start: see {self.log.name}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.log.close()


def run(offpeak, folder, name):
    """Runs the job with nothing of our environment but a key."""
    environment = {"ANTHROPIC_API_KEY": "sk-peer", "PATH": os.environ["PATH"]}
    command = [offpeak, "-C", str(folder), "run", name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def play(peer, offpeak, scenario):
    """Plays one scenario in a folder of its own; returns what is wrong."""
    name, stream, behaviors, code, requests = scenario
    peer.ask("POST", "/_llmock/reset")
    if behaviors:
        peer.ask("POST", "/_llmock/scenario", {"behaviors": behaviors})
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "jobs").mkdir()
        (folder / "offpeak.yaml").write_text(SETTINGS.format(port=peer.port))
        (folder / f"jobs/{name}.yaml").write_text(JOB.format(name=name, stream=stream))
        got, said = run(offpeak, folder, name)
        output = folder / f"out/{name}.md"
        written = output.exists() and output.stat().st_size > 0
    seen = peer.ask("GET", "/_llmock/requests")["count"]
    verdict = peer.ask("GET", "/_llmock/verdict")
    found = {finding["code"] for finding in verdict["findings"]}
    if scenario is ALWAYS_CUT and not written:
        found.discard("truncated_stream_accepted")
    wrong = [f"{word} is true" for word in sorted(found & NEVER)]
    if got != code:
        wrong.append(f"exit code {got}, not {code}")
    if seen != requests:
        wrong.append(f"{seen} requests, not {requests}")
    if written != (code == 0):
        wrong.append("an output was written" if written else "no output was written")
    warned = ", ".join(sorted(found - NEVER))
    print(f"{'FAIL' if wrong else 'ok':5}{name:22}{'; '.join(wrong)}{f' ({warned})' if warned else ''}")
    if wrong:
        print(said, file=sys.stderr)
    return wrong


def main():
    offpeak, home = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    home.mkdir(parents=True, exist_ok=True)
    peer = Peer(home)
    try:
        peer.wait()
        failed = [scenario[0] for scenario in [*SCENARIOS, ALWAYS_CUT] if play(peer, offpeak, scenario)]
    finally:
        peer.stop()
    if failed:
        sys.exit(f"llmock finds fault with: {', '.join(failed)}")
    print(f"llmock finds no fault in {len(SCENARIOS) + 1} scenarios")


if __name__ == "__main__":
    main()
