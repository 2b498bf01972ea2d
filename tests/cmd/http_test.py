#!/usr/bin/env python3
"""What a daemon shows of itself while it lives, and its last words: status pages over HTTP, the service manager's messages,
the crash message and the run record. Named after the faults of provers that people reported (ST, SH, AP)."""
import ctypes
import json
import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
import daemon_test  # noqa: E402
from daemon_test import BENCH, DAEMON, until, window_args

SECONDS_MAX = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Case(daemon_test.Case):
    start = daemon_test.LaunchFailures.start

    def setUp(self):
        super().setUp()
        self.port = free_port()

    def config(self, more="", **sections):
        sections.setdefault("daemon", {}).setdefault("status_listen", f"127.0.0.1:{self.port}")
        return super().config(more, **sections)

    def get(self, path, timeout=30):
        """Code and text."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=timeout) as r:
                return r.status, r.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()

    def up(self):
        try:
            return self.get("/livez")[0] == 200
        except OSError:
            return False

    def status(self):
        code, text = self.get("/status")
        self.assertEqual(code, 200, text)
        return json.loads(text)

    def batch(self, path, count, workers=2, *more):
        p = subprocess.Popen([BENCH, "batch", "--config", str(path), *map(str, window_args()), "-c", str(count), "-j",
                              str(workers), "--json", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(p)
        return p


class Pages(Case):
    def test_a_life(self):
        path = self.config()
        daemon = self.start(path)
        for probe in ("/livez", "/readyz", "/startupz"):
            self.assertEqual(self.get(probe), (200, "ok\n"))
        code, text = self.get("/startupz?verbose")
        for phase in ("starting the engine", "binding the address", "loading parameters"):
            self.assertRegex(text, rf"(?m)^\[\+\] {phase} ok: \d+\.\d\d\d s$")
            self.assertRegex(self.log.read_text(), rf'phase "{phase}": \d+\.\d\d\d s')
        self.assertIn("[+] window-post\n", self.get("/readyz?verbose")[1])
        self.assertIn(f"status pages on http://127.0.0.1:{self.port}", self.log.read_text())
        report = json.loads(self.bench("batch", "--config", path, *window_args(), "-c", 3, "--json").stdout)
        self.assertEqual(report["completed"], 3)
        s = self.status()
        self.assertEqual(s["counters"]["completed_by_kind"]["window-post"], 3)
        self.assertEqual([r["state"] for r in s["recent"]], ["completed"] * 3)
        self.assertGreater(s["memory"]["process_bytes"], 1 << 20)
        self.assertEqual([c["circuit_id"] for c in s["allocations"]["srs"]], ["wpost-2k"])
        self.assertTrue(s["ready"])
        code, metrics = self.get("/metrics")
        self.assertIn("cuzk_proofs_completed_total 3\n", metrics)
        mine = {line.split()[0] for line in metrics.splitlines() if not line.startswith("#")}
        theirs = {line.split()[0] for line in self.bench("metrics", "--config", path).stdout.splitlines()
                  if line and not line.startswith("#")}
        self.assertEqual(mine, theirs)
        self.assertIn("<html", self.get("/")[1])
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=30), 0)
        self.assertFalse(self.up())

    def test_failures_are_shown(self):
        path = self.config()
        self.start(path)
        wrong = window_args()
        wrong[wrong.index("--randomness") + 1] = "01" * 32
        self.bench("single", "--config", path, *wrong, code=1)
        self.bench("single", "--config", path, *window_args())
        last, before = self.status()["recent"]
        self.assertEqual((last["state"], last["error"]), ("completed", ""))
        self.assertEqual((before["state"], before["proof_kind"]), ("failed", "window-post"))
        self.assertIn("challenge", before["error"])

    def test_ap14_metrics(self):
        """Three good, two bad, one refused; every name is documented, every family stands together with its type."""
        path = self.config()
        self.start(path)
        wrong = window_args()
        wrong[wrong.index("--randomness") + 1] = "01" * 32
        self.bench("batch", "--config", path, *window_args(), "-c", 3)
        self.bench("batch", "--config", path, *wrong, "-c", 2, code=1)
        self.bench("single", "--config", path, "-t", "wpost", "--registered-proof", 99, "--miner-id", "1", "--randomness",
                   "00" * 32, "--vanilla", daemon_test.DATA / "window-2k/v1-sector-1.vproof", code=1)
        text = self.get("/metrics")[1]
        for line in ("cuzk_proofs_completed_total 3", "cuzk_proofs_failed_total 2", 'cuzk_proofs_failed{proof_kind="window_post"} 2',
                     'cuzk_proof_duration_seconds_count{proof_kind="window_post"} 3'):
            self.assertIn(line + "\n", text)
        documented = (daemon_test.ROOT / "docs/metrics.md").read_text()
        rules = (daemon_test.ROOT / "etc/cuzk-alerts.yml").read_text()
        for name in set(re.findall(r"\bcuzk_\w+", rules)):
            self.assertIn(f"# TYPE {name} ", text, "an alert about a metric that is not there")
        family, families = None, {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                family, kind = line.split()[2:]
                self.assertNotIn(family, families, "a family in two places")
                families[family] = kind
                self.assertIn(f"`{family}`", documented, "a metric that is not documented")
            elif not line.startswith("#"):
                name = line.split("{")[0].split(" ")[0]
                ends = ("", "_bucket", "_sum", "_count") if families[family] == "histogram" else ("",)
                self.assertIn(name, [family + end for end in ends])
                float(line.rsplit(" ", 1)[1])

    def test_st06_served_while_parameters_load(self):
        """Alive and answering, but not ready, while a circuit loads whose digest is not cached; the probes say which phase."""
        path = self.config(srs={"preload": ["wpost-2k", "winning-2k", "porep-2k"]})
        daemon = self.start(path, ready=False)
        seen = []

        def look():
            if not self.up():
                return False
            ready, text = self.get("/readyz")
            if ready == 503:
                self.assertEqual(self.get("/livez")[0], 200)
                seen.append(text)
            return ready == 200
        until(look)
        self.assertTrue(any("[-] start: loading parameters" in text for text in seen), seen)
        self.assertIsNone(daemon.poll())

    def test_st08_status_address(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            path = self.config()
            daemon_test.LaunchFailures.fails(self, ["-c", path], 3, "daemon.status_listen", f"127.0.0.1:{self.port}", "in use")
            self.assertNotIn("loading", self.log.read_text())
        for address, code, parts in [("0.0.0.0:0", 2, ["daemon.status_listen", "0.0.0.0:0", "daemon.insecure = true"]),
                                     ("127.0.0.1.example.org:80", 2, ["daemon.status_listen", "daemon.insecure = true"]),
                                     ("nonsense", 2, ["daemon.status_listen", "nonsense"]),
                                     ("127.0.0.1:70000", 2, ["daemon.status_listen", "70000"])]:
            with self.subTest(address):
                r = self.daemon("-c", self.config(daemon={"status_listen": address}))
                self.assertEqual(r.returncode, code, r.stdout + r.stderr)
                for part in parts:
                    self.assertIn(part, r.stderr)

    def test_st22_open_address_is_said(self):
        self.start(self.config(daemon={"status_listen": f"0.0.0.0:{self.port}", "insecure": True}))
        self.assertIn(f'daemon.status_listen = "0.0.0.0:{self.port}" is open to the network', self.log.read_text())
        self.assertEqual(self.get("/livez")[0], 200)

    @unittest.skipIf(os.geteuid() != 0, "only root may look at the daemon's sockets")
    def test_off_by_default(self):
        path = daemon_test.Case.config(self)
        daemon = self.start(path)
        listening = subprocess.run(["sh", "-c", f"ls -l /proc/{daemon.pid}/fd"], capture_output=True, text=True).stdout
        inodes = {word.split("[")[1].rstrip("]") for word in listening.split() if word.startswith("socket:[")}
        with open("/proc/net/tcp") as table:
            self.assertFalse([line for line in table if line.split()[9] in inodes])

    def test_ap10_slow_readers(self):
        """Three hundred peers that ask and never read, or never end their request: others are answered."""
        path = self.config()
        daemon = self.start(path)
        peers = []
        for i in range(300):
            s = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(s.close)
            s.sendall(b"GET /status HTTP/1.1\r\nHost: x\r\n\r\n" if i % 2 == 0 else b"GET /status HTTP/1.1\r\nHo")
            peers.append(s)
        for _ in range(50):
            self.assertEqual(self.get("/livez")[0], 200)
        self.assertEqual(json.loads(self.bench("single", "--config", path, *window_args(), "--json").stdout)["completed"], True)
        if os.geteuid() == 0:  # the process is not dumpable: only root may look
            self.assertLess(len(os.listdir(f"/proc/{daemon.pid}/fd")), 250)

    def test_ap10_few_descriptors(self):
        """With 128 descriptors, and more peers than that who only look: proofs are made, and others are answered."""
        path = self.config()
        daemon = subprocess.Popen([DAEMON, "-c", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)))
        self.started.append(daemon)
        self.bench("wait", "--config", path, "--timeout", "60s")
        self.assertIn("only 128 files and connections", self.log.read_text())
        for _ in range(200):
            s = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(s.close)
        for _ in range(20):
            self.assertEqual(self.get("/livez")[0], 200)
        self.assertEqual(json.loads(self.bench("batch", "--config", path, *window_args(), "-c", 3, "--json").stdout)["completed"], 3)

    def test_ap15_status_under_load(self):
        """Answers come while all cores prove; their times are in the output, as no test asserts a time."""
        path = self.config()
        self.start(path)
        batch = self.batch(path, 30, 4)
        times = []
        while batch.poll() is None:
            begin = time.monotonic()
            s = self.status()
            times.append(time.monotonic() - begin)
            for job in s["pipelines"]:
                self.assertEqual(job["total_partitions"], len(job["partitions"]))
            time.sleep(0.02)
        self.assertEqual(json.loads(batch.communicate()[0])["completed"], 30)
        times.sort()
        self.assertGreater(len(times), 10)
        print(f"/status beside proving: {len(times)} answers, median {statistics.median(times) * 1000:.1f} ms, "
              f"p99 {times[len(times) * 99 // 100] * 1000:.1f} ms", file=sys.stderr)

    def test_sh03_not_ready_while_draining(self):
        path = self.config()
        daemon = self.start(path)
        batch = self.batch(path, 1000, 4)
        until(lambda: self.status()["counters"]["running"] > 0)
        daemon.terminate()
        codes = set()
        try:
            while daemon.poll() is None:
                codes.add(self.get("/readyz", timeout=5)[0])
        except OSError:
            pass
        self.assertEqual(daemon.wait(timeout=60), 0)
        batch.communicate()
        self.assertIn(503, codes)


class Stopping(Case):
    def test_sh01_while_parameters_load(self):
        """Signals are heard in the midst of a long load, which is given up."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                path = self.config(srs={"preload": ["porep-2k"]})
                said = self.log.read_text().count("loading porep-2k") if self.log.exists() else 0
                daemon = self.start(path, ready=False)
                until(lambda: self.log.exists() and self.log.read_text().count("loading porep-2k") > said)
                daemon.send_signal(signal.SIGHUP)
                daemon.send_signal(signal.SIGUSR1)  # nobody's business
                daemon.send_signal(number)
                self.assertEqual(daemon.wait(timeout=60), 0)
                self.assertIn("came while parameters load", self.log.read_text())
                self.assertNotIn("cuzk-daemon ready", self.log.read_text())
                self.assertIn("ending stopped cleanly", (self.dir / "state" / "run-record").read_text())
                self.assertFalse(self.socket.exists())

    def test_sh01_second_signal(self):
        """A drain that would take long ends at the second signal; the caller is told."""
        path = self.config(daemon={"drain_timeout": "10m"})
        daemon = self.start(path)
        batch = self.batch(path, 100, 50)
        until(lambda: self.status()["counters"]["queue_depth"] + self.status()["counters"]["running"] >= 40)
        daemon.terminate()
        until(lambda: "draining" in self.log.read_text())
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=60), 0)
        self.assertIn("what still runs is cancelled", self.log.read_text())
        self.assertGreater(json.loads(batch.communicate()[0])["failed"], 0)


class Manager(Case):
    """A service manager's socket, by hand."""

    def setUp(self):
        super().setUp()
        self.messages = []
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notify.close)

    def listen(self, address):
        self.notify.bind(address)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                text = self.notify.recv(4096).decode()
            except OSError:
                return
            self.messages += [(time.monotonic(), line) for line in text.splitlines()]

    def lines(self):
        return [line for _, line in self.messages]

    def start_with(self, path, **env):
        process = subprocess.Popen([DAEMON, "-c", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, **env))
        self.started.append(process)
        return process

    def test_a_life(self):
        self.listen(str(self.dir / "notify"))
        path = self.config(srs={"preload": ["wpost-2k", "winning-2k"]})
        daemon = self.start_with(path, NOTIFY_SOCKET=str(self.dir / "notify"), WATCHDOG_USEC="900000")
        until(lambda: "READY=1" in self.lines())
        self.assertIn("EXTEND_TIMEOUT_USEC=60000000", self.lines())
        self.assertEqual(self.get("/readyz")[0], 200)
        until(lambda: "STATUS=0 jobs running, 0 waiting; 0 completed, 0 failed" in self.lines())
        self.bench("single", "--config", path, *window_args())
        until(lambda: "STATUS=0 jobs running, 0 waiting; 1 completed, 0 failed" in self.lines())
        before = self.lines().count("WATCHDOG=1")
        self.assertGreater(before, 0)
        until(lambda: self.lines().count("WATCHDOG=1") > before + 3)
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=30), 0)
        until(lambda: "STOPPING=1" in self.lines())
        self.assertLess(self.lines().index("READY=1"), self.lines().index("STOPPING=1"))

    def test_watchdog_of_another_process(self):
        self.listen("\0cuzk-http-test-%d" % os.getpid())  # an abstract name
        daemon = self.start_with(self.config(), NOTIFY_SOCKET="@cuzk-http-test-%d" % os.getpid(), WATCHDOG_USEC="900000",
                                 WATCHDOG_PID="1")
        until(lambda: "READY=1" in self.lines())
        until(lambda: any(line.startswith("STATUS=0 jobs") for line in self.lines()))
        self.assertNotIn("WATCHDOG=1", self.lines())
        self.assertIsNone(daemon.poll())

    def test_failure_is_told(self):
        self.listen(str(self.dir / "notify"))
        daemon = self.start_with(self.config(srs={"preload": ["porep-3k"]}), NOTIFY_SOCKET=str(self.dir / "notify"))
        self.assertEqual(daemon.wait(timeout=30), 3)
        until(lambda: any(line.startswith("STATUS=failed: ") and "porep-3k" in line for line in self.lines()))
        self.assertNotIn("READY=1", self.lines())

    def test_nobody_listens(self):
        for name in (str(self.dir / "none"), "relative", "/" + "x" * 200):
            with self.subTest(name):
                daemon = self.start_with(self.config(), NOTIFY_SOCKET=name)
                self.bench("wait", "--config", self.dir / "cuzk.toml", "--timeout", "60s")
                daemon.terminate()
                self.assertEqual(daemon.wait(timeout=30), 0)


class Crash(Case):
    def crash(self, number, **sections):
        path = self.config(**sections)
        err = open(self.dir / "err", "w+")
        self.addCleanup(err.close)
        before = self.log.read_text().count("cuzk-daemon ready") if self.log.exists() else 0
        daemon = subprocess.Popen([DAEMON, "-c", str(path)], stdout=subprocess.DEVNULL, stderr=err)
        self.started.append(daemon)
        self.bench("wait", "--config", path, "--timeout", "60s")
        until(lambda: self.log.read_text().count("cuzk-daemon ready") > before)
        daemon.send_signal(number)
        self.assertEqual(daemon.wait(timeout=30), -number)
        err.seek(0)
        return path, daemon, err.read()

    def test_st21_last_words(self):
        for number, name in ((signal.SIGSEGV, "SIGSEGV"), (signal.SIGABRT, "SIGABRT"), (signal.SIGBUS, "SIGBUS")):
            with self.subTest(name):
                path, daemon, text = self.crash(number)
                first = text.splitlines()[0]
                self.assertRegex(first, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z error cuzk-daemon \S+ crashed: signal ")
                self.assertIn(f"signal {int(number)} ({name}) sent by process {os.getpid()}, thread cuzk-daemon, build ", first)
                self.assertRegex(first, r"build [0-9a-f]{16,}, stack( \+?0x[0-9a-f]+)+$")
                self.assertIn("before the crash: ", text)
                self.assertIn("cuzk-daemon ready, serving on", text)
                self.assertIn(first, self.log.read_text())
                record = (self.dir / "state" / "run-record").read_text()
                self.assertRegex(record, rf"(?m)^ending crashed: signal {int(number)} \({name}\), build [0-9a-f]+$")
                w = self.bench("wait", "--config", path, "--timeout", "20s", code=1)
                self.assertIn(f"crashed: signal {int(number)} ({name})", w.stderr)
                again = self.start(path)
                self.assertIn(f"the last run (pid {daemon.pid}) ended: crashed: signal", self.log.read_text())
                again.terminate()
                again.wait(timeout=30)

    def test_st21_every_thread_can_speak(self):
        """A fault is told from whatever thread it is in: where the signal is blocked the kernel would end the process silently."""
        path = self.config()
        daemon = self.start(path)
        self.bench("single", "--config", path, *window_args())
        names = {}
        for task in Path(f"/proc/{daemon.pid}/task").iterdir():
            status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
                self.assertFalse(int(status["SigBlk"], 16) >> (number - 1) & 1, f"thread {status['Name']} blocks {number}")
            names[int(task.name)] = status["Name"].strip()
        self.assertGreater(len(names), 8)
        other = next(task for task, name in names.items() if name == "submit")
        numbers = {"x86_64": 234, "aarch64": 131}
        ctypes.CDLL(None).syscall(numbers[os.uname().machine], daemon.pid, other, int(signal.SIGSEGV))
        self.assertEqual(daemon.wait(timeout=30), -signal.SIGSEGV)
        self.assertIn("(SIGSEGV) sent by process", self.log.read_text())
        self.assertIn("thread submit", self.log.read_text())

    def test_the_time_of_day(self):
        """The handler's own calendar and the log's agree."""
        _, _, text = self.crash(signal.SIGSEGV)
        begin = text.split("before the crash: ")[1][:20]
        self.assertIn(begin, self.log.read_text().splitlines()[0])

    def test_json(self):
        _, _, text = self.crash(signal.SIGSEGV, logging={"format": "json"})
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual({line["level"] for line in lines}, {"error"})
        self.assertIn("crashed: signal 11", lines[0]["message"])
        self.assertIn("cuzk-daemon ready", lines[-1]["message"])

    def test_killed_is_not_crashed(self):
        path = self.config()
        daemon = self.start(path)
        record = (self.dir / "state" / "run-record").read_text()
        for name in ("boot_id", "oom_kills", "oom_kills_machine", "start_ticks"):
            self.assertRegex(record, rf"(?m)^{name} \S+$")
        daemon.kill()
        daemon.wait()
        w = self.bench("wait", "--config", path, "--timeout", "20s", code=1)
        self.assertIn("was killed", w.stderr)


if __name__ == "__main__":
    unittest.main()
