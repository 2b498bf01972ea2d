#!/usr/bin/env python3
"""cuzk-daemon and cuzk-bench as an operator meets them: every way in which a launch can fail says in one line what, why and
what to do, with the right exit code, and `cuzk-bench wait -- cuzk-daemon ...` tells the same; then a daemon that runs is
measured, looked at and stopped. The parameters are those of the smallest circuits (CUZK_TEST_PARAMS_DIR)."""
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None

DAEMON = os.environ["CUZK_TEST_DAEMON"]
BENCH = os.environ["CUZK_TEST_BENCH"]
DATA = Path(os.environ["CUZK_TEST_DATA"])
PARAMS = Path(os.environ["CUZK_TEST_PARAMS_DIR"])
ROOT = Path(__file__).resolve().parents[2]
LIMIT = 120


def posts():
    """The parameter files of WindowPoSt and WinningPoSt, small ones."""
    return sorted(PARAMS.glob("*proof-of-spacetime-fallback*"))


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="cuzk-d-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.socket = self.dir / "s"
        self.log = self.dir / "log"
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()

    def config(self, more="", **sections):
        """A configuration file; sections override or add keys: daemon={"listen": ...}."""
        values = {
            "daemon": {"listen": f"unix://{self.socket}", "state_dir": str(self.dir / "state")},
            "srs": {"param_cache": str(PARAMS), "allow_test_params": True, "preload": ["wpost-2k"]},
            "memory": {"safety_margin": "64MiB"},
            "logging": {"file": str(self.log)},
        }
        for name, keys in sections.items():
            values.setdefault(name, {}).update(keys)
        path = self.dir / "cuzk.toml"
        with open(path, "w") as out:
            for name, keys in values.items():
                print(f"[{name}]", file=out)
                for key, value in keys.items():
                    print(f"{key} = {json.dumps(value)}", file=out)
            out.write(more)
        return path

    def daemon(self, *args, **kw):
        return subprocess.run([DAEMON, *map(str, args)], capture_output=True, text=True, timeout=LIMIT, **kw)

    def bench(self, *args, code=0, **kw):
        r = subprocess.run([BENCH, *map(str, args)], capture_output=True, text=True, timeout=LIMIT, **kw)
        self.assertEqual(r.returncode, code, f"cuzk-bench {args}: {r.stdout}{r.stderr}")
        return r

    def fails(self, args, code, *parts, log=True, **kw):
        """The daemon ends with this code and one line that has all parts; wait tells the same, with the same code."""
        r = self.daemon(*args, **kw)
        self.assertEqual(r.returncode, code, f"{r.stdout}{r.stderr}")
        errors = r.stderr.splitlines()
        self.assertEqual(len(errors), 1, f"not one line: {r.stderr!r}")
        for part in parts:
            self.assertIn(str(part), errors[0])
        self.assertIn(errors[0].split(" error ", 1)[-1], r.stdout, "standard output lacks the line")
        self.assertIn("starting, pid", r.stdout.splitlines()[0])
        if log:
            self.assertIn(errors[0].split(" error ", 1)[-1], self.log.read_text(), "the log file lacks the line")
            self.assertIn("starting, pid", self.log.read_text(), "the log file lacks the first line")
        self.assertFalse(self.socket.exists() and stat.S_ISSOCK(self.socket.stat().st_mode), "a socket was left")
        w = self.bench("wait", "--timeout", "60s", "--", DAEMON, *args, code=code, **kw)
        for part in parts:
            self.assertIn(str(part), w.stderr, "wait does not tell the same")
        self.assertIn(f"exit code {code}", w.stderr)
        return r


class LaunchFailures(Case):
    def test_st01_missing_config(self):
        missing = self.dir / "missing.toml"
        self.fails(["-c", missing], 2, missing, "No such file", log=False)

    def test_st01_no_config(self):
        """Without --config and without a default file the built-in values are used, and that is said first."""
        if any(Path(p).exists() for p in ("/etc/cuzk/cuzk.toml", "/data/zk/cuzk.toml")):
            self.skipTest("this machine has a configuration of its own")
        env = dict(os.environ, CUZK_LOGGING_FILE="", CUZK_DAEMON_LISTEN=f"unix://{self.socket}",
                   CUZK_DAEMON_STATE_DIR=str(self.dir / "state"))
        r = self.daemon("--check", env=env)
        self.assertIn("config none (built-in values)", r.stdout.splitlines()[0])

    def test_unknown_key(self):
        path = self.config(synthesis={"partition_wokers": 3})
        self.fails(["-c", path], 2, path, "line ", "synthesis.partition_wokers", "did you mean synthesis.partition_workers?",
                   log=False)

    def test_bad_values(self):
        for section, keys, parts in [
            ("memory", {"total_budget": "12 apples"}, ["memory.total_budget", "12 apples", "64GiB"]),
            ("daemon", {"drain_timeout": "5"}, ["daemon.drain_timeout", "5m"]),
            ("daemon", {"max_queue": "many"}, ["daemon.max_queue", "many"]),
            ("daemon", {"max_queue": 0}, ["daemon.max_queue"]),
            ("gpus", {"backend": "tpu"}, ["gpus.backend", "cuda", "cpu"]),
            ("logging", {"level": "chatty"}, ["logging.level", "debug"]),
            ("srs", {"allow_test_params": "yes"}, ["srs.allow_test_params", "true or false"]),
            ("daemon", {"listen": "somewhere"}, ["daemon.listen", "somewhere"]),
            ("daemon", {"listen": "127.0.0.1:99999"}, ["daemon.listen", "99999"]),
            ("tls", {"cert": "x"}, ["tls.cert", "not in this version"]),
        ]:
            with self.subTest(section=section, keys=keys):
                r = self.daemon("-c", self.config(**{section: keys}))
                self.assertEqual(r.returncode, 2, r.stdout)
                for part in parts:
                    self.assertIn(part, r.stderr)

    def test_not_toml(self):
        path = self.config(more="[daemon\n")
        self.fails(["-c", path], 2, path, "line ", log=False)

    def test_st22_beyond_this_machine(self):
        path = self.config(daemon={"listen": "0.0.0.0:0"})
        self.fails(["-c", path], 2, "0.0.0.0:0", "daemon.insecure = true", log=False)

    def test_wrong_flags(self):
        for args in (["--frobnicate"], ["extra"], ["-c"]):
            r = self.daemon(*args)
            self.assertEqual(r.returncode, 2)
            self.assertTrue(r.stderr)

    def test_st20_missing_parameters(self):
        empty = self.dir / "empty"
        empty.mkdir()
        self.fails(["-c", self.config(srs={"param_cache": str(empty)})], 3, "wpost-2k", empty,
                   "v28-proof-of-spacetime-fallback")
        self.assertEqual(list(empty.iterdir()), [], "something was made there")

    def damaged(self, change):
        """A folder with the parameters, one file changed."""
        folder = self.dir / "params"
        folder.mkdir(exist_ok=True)
        for file in posts():
            shutil.copy(file, folder)
        victim = min(folder.glob("*.params"), key=lambda p: p.stat().st_size)
        change(victim)
        return folder, victim

    def test_st13_st14_st16_damaged_parameters(self):
        def cut(size):
            def change(file):
                os.truncate(file, size)
            return change

        def flip(file):
            with open(file, "r+b") as f:
                f.seek(100000)
                byte = f.read(1)
                f.seek(100000)
                f.write(bytes([byte[0] ^ 1]))
        for name, change in [("empty", cut(0)), ("1 byte", cut(1)), ("863 bytes", cut(863)), ("864 bytes", cut(864)),
                             ("3 MB", cut(3000000)), ("a bit", flip)]:
            with self.subTest(name):
                folder, victim = self.damaged(change)
                path = self.config(srs={"param_cache": str(folder)})
                r = self.daemon("-c", path)
                self.assertEqual(r.returncode, 3, r.stdout)
                self.assertIn(victim.name, r.stderr)
        folder, victim = self.damaged(cut(3000000))
        self.fails(["-c", self.config(srs={"param_cache": str(folder)})], 3, victim.name, "ends after")

    def test_unreadable_parameters(self):
        folder, victim = self.damaged(lambda file: file.chmod(0))
        kw = {}
        if os.geteuid() == 0:  # root reads everything: be somebody else
            kw = {"user": 65534, "group": 65534, "extra_groups": []}
            self.dir.chmod(0o777)
            if subprocess.run(["test", "-x", DAEMON, "-a", "-x", BENCH], **kw).returncode != 0:
                self.skipTest("only root reaches the programs")
        self.fails(["-c", self.config(srs={"param_cache": str(folder)})], 3, victim.name, "Permission denied", **kw)

    def test_parameters_that_are_a_folder(self):
        folder, victim = self.damaged(lambda file: (file.unlink(), file.mkdir()))
        self.fails(["-c", self.config(srs={"param_cache": str(folder)})], 3, victim.name)

    def test_st16_foreign_parameters(self):
        self.fails(["-c", self.config(srs={"allow_test_params": False})], 3, "v28-proof-of-spacetime-fallback",
                   "is not trusted", "srs.allow_test_params")

    def test_unknown_circuit(self):
        self.fails(["-c", self.config(srs={"preload": ["porep-3k"]})], 3, "porep-3k")

    def test_st08_address_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            path = self.config(daemon={"listen": address})
            self.fails(["-c", path], 3, address, "in use")

    def test_st09_live_socket(self):
        with socket.socket(socket.AF_UNIX) as taken:
            taken.bind(str(self.socket))
            taken.listen()
            path = self.config()
            r = self.daemon("-c", path)
            self.assertEqual(r.returncode, 3, r.stdout)
            self.assertIn(str(self.socket), r.stderr)
            self.assertTrue(self.socket.exists(), "the other's socket was removed")

    def test_socket_path(self):
        long = self.dir / ("x" * 120)
        self.fails(["-c", self.config(daemon={"listen": f"unix://{long}"})], 3, "too long", "x" * 40)
        plain = self.dir / "plain"
        plain.write_text("precious")
        self.fails(["-c", self.config(daemon={"listen": f"unix://{plain}/s"})], 3, f"{plain}/s")
        self.fails(["-c", self.config(daemon={"listen": f"unix://{plain}"})], 3, plain)
        self.assertEqual(plain.read_text(), "precious")

    def test_st11_unwritable_log(self):
        blocked = self.dir / "blocked"
        blocked.write_text("")
        self.fails(["-c", self.config(logging={"file": str(blocked / "log")})], 3, blocked / "log", "logging.file", log=False)

    def test_st11_unwritable_state(self):
        blocked = self.dir / "blocked"
        blocked.write_text("")
        self.fails(["-c", self.config(daemon={"state_dir": str(blocked / "state")})], 3, blocked / "state", "daemon.state_dir")

    def test_too_little_memory(self):
        self.fails(["-c", self.config(memory={"total_budget": "900TiB"})], 3, "memory.total_budget", "MiB",
                   "memory.overcommit")
        self.fails(["-c", self.config(memory={"total_budget": "1MiB"})], 3, "1 MiB")

    def test_st21_stderr_closed_and_json(self):
        path = self.config(srs={"preload": ["porep-3k"]}, logging={"format": "json"})
        r = subprocess.run(["sh", "-c", 'exec "$0" -c "$1" 2>&-', DAEMON, str(path)], capture_output=True, text=True,
                           timeout=LIMIT)
        self.assertEqual(r.returncode, 3)
        last = json.loads(self.log.read_text().splitlines()[-1])
        self.assertEqual(last["level"], "error")
        self.assertIn("porep-3k", last["message"])

    def test_killed_during_load(self):
        """Killed before it is ready: the wait that started it says so, a later wait says so, and so does the next start."""
        wrapper = self.dir / "wrapper"
        path = self.config()
        wrapper.write_text("#!/bin/sh\n(sleep 0.5; kill -9 $$) &\nexec sleep 1000\n")
        wrapper.chmod(0o755)
        w = self.bench("wait", "--config", path, "--", wrapper, code=1)
        self.assertIn("signal 9", w.stderr)
        daemon = self.start(path, ready=False)
        until(lambda: (self.dir / "state" / "run-record").exists())
        daemon.kill()
        daemon.wait()
        w = self.bench("wait", "--config", path, "--timeout", "20s", code=1)
        self.assertIn("was killed", w.stderr)
        self.assertIn(str(daemon.pid), w.stderr)
        daemon = self.start(path)
        self.assertIn("was killed", self.log.read_text())

    def test_st03_loader_and_no_program(self):
        w = self.bench("wait", "--state-dir", self.dir, "--", self.dir / "nothing", code=1)
        self.assertIn("No such file", w.stderr)
        fake = self.dir / "fake"
        fake.write_text("#!/bin/sh\necho 'x: error while loading shared libraries: libx.so.1: cannot open shared object "
                        "file: No such file or directory' >&2\nexit 127\n")
        fake.chmod(0o755)
        w = self.bench("wait", "--state-dir", self.dir, "--", fake, code=127)
        self.assertIn("dynamic loader", w.stderr)
        self.assertIn("libx.so.1", w.stderr)

    def start(self, path, ready=True, *args):
        process = subprocess.Popen([DAEMON, "-c", str(path), *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        if ready:
            self.bench("wait", "--config", path, "--timeout", "60s")
        return process


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "this never came"
        time.sleep(0.01)


def window_args():
    info = json.loads((DATA / "window-2k/v1.info.json").read_text())
    return ["-t", "wpost", "--registered-proof", 5, "--miner-id", info["miner"], "--randomness", info["randomness"],
            "--vanilla", DATA / "window-2k/v1-sector-1.vproof", "--vanilla", DATA / "window-2k/v1-sector-2.vproof"]


class Running(Case):
    start = LaunchFailures.start

    def key(self):
        return min(PARAMS.glob("*fallback*.vk"), key=lambda p: p.stat().st_size)

    def test_a_day(self):
        """wait -- starts it; single, batch, status, metrics, preload; stop."""
        path = self.config(srs={"preload": []})
        r = json.loads(self.bench("wait", "--json", "--", DAEMON, "-c", path).stdout)
        self.assertTrue(r["ready"])
        pid = r["pid"]
        self.addCleanup(kill_if_there, pid)
        self.assertEqual(r["address"], f"unix://{self.socket}")
        until(lambda: "cuzk-daemon ready" in self.log.read_text())  # the log has a thread of its own
        lines = [line.split(" info  ")[-1] for line in self.log.read_text().splitlines()]
        order = ["starting, pid", "configuration loaded", "memory plan", "effective_lookahead=", "listening on",
                 f"cuzk-daemon ready, serving on unix://{self.socket}"]
        at = 0
        for text in order:
            while at < len(lines) and text not in lines[at]:
                at += 1
            self.assertLess(at, len(lines), f"the log lacks {text!r} at its place:\n" + "\n".join(lines))

        common = ["--config", path]
        r = json.loads(self.bench(*common, "preload", "-i", "wpost-2k", "--json").stdout)
        self.assertFalse(r["already_loaded"])
        r = json.loads(self.bench("preload", *common, "--circuit-id", "wpost-2k", "--json").stdout)
        self.assertTrue(r["already_loaded"])
        proof = self.dir / "proof"
        r = json.loads(self.bench("single", *common, *window_args(), "--vk", self.key(), "--output", proof, "--json").stdout)
        self.assertTrue(r["completed"] and r["verified_here"])
        self.assertEqual(proof.stat().st_size, 192)
        r = json.loads(self.bench("batch", *common, *window_args(), "-c", 5, "-j", 2, "--vk", self.key(), "--json").stdout)
        self.assertEqual((r["completed"], r["failed"], r["verified_here"]), (5, 0, 5))
        self.assertGreater(r["seconds_per_proof"], 0)
        self.assertLessEqual(r["min_seconds"], r["p50_seconds"])
        self.assertLessEqual(r["p50_seconds"], r["p95_seconds"])
        self.assertLessEqual(r["p95_seconds"], r["max_seconds"])
        self.assertEqual(r["steady_proofs"], 3)
        self.assertGreater(r["peak_memory_bytes"], 1 << 20)
        text = self.bench("batch", *common, *window_args(), "-c", 1).stdout
        self.assertIn("seconds_per_proof", text)
        r = json.loads(self.bench("status", *common, "--json").stdout)
        self.assertEqual(r["total_proofs_completed"], 7)
        self.assertEqual([srs["circuit_id"] for srs in r["loaded_srs"] if srs["tier"] != "cold"], ["wpost-2k"])
        self.assertIn("window-post", self.bench("status", *common).stdout)
        self.assertIn("cuzk_proofs_completed_total 7\n", self.bench("metrics", *common).stdout)

        r = json.loads(self.bench("stop", *common, "--json").stdout)
        self.assertTrue(r["was_running"])
        self.assertEqual((r["pid"], r["ended"]), (pid, "stopped cleanly"))
        self.assertFalse(self.socket.exists())
        r = json.loads(self.bench("stop", *common, "--json").stdout)
        self.assertFalse(r["was_running"])
        w = self.bench("status", *common, code=1)
        self.assertIn("stopped cleanly", w.stderr)

    def test_failures_count(self):
        path = self.config()
        self.start(path)
        bad = window_args()
        bad[bad.index("--randomness") + 1] = "01" * 32
        r = self.bench("batch", "--config", path, *bad, "-c", 3, "-j", 3, "--json", code=1)
        report = json.loads(r.stdout)
        self.assertEqual((report["completed"], report["failed"]), (0, 3))
        self.assertIn("INVALID_ARGUMENT", r.stderr)
        r = self.bench("single", "--config", path, *window_args(), "--vk", DATA / "porep-2k/porep-2k.vk", code=7)

    def test_daemon_dies_under_a_batch(self):
        path = self.config()
        daemon = self.start(path)
        batch = subprocess.Popen([BENCH, "batch", "--config", str(path), *map(str, window_args()), "-c", "100000", "-j", "4",
                                  "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(batch)
        time.sleep(1)
        daemon.kill()
        out, err = batch.communicate(timeout=60)
        self.assertEqual(batch.returncode, 1)
        self.assertIn("connection", err)
        self.assertGreater(json.loads(out)["failed"], 0)

    def test_sh01_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = self.start(self.config())
            daemon.send_signal(number)
            self.assertEqual(daemon.wait(timeout=30), 0)
            self.assertFalse(self.socket.exists())

    def test_sighup_reopens_the_log(self):
        path = self.config()
        daemon = self.start(path)
        self.log.rename(self.dir / "log.1")
        daemon.send_signal(signal.SIGHUP)
        until(lambda: self.log.exists() and "reopened" in self.log.read_text())

    def test_second_daemon(self):
        first = self.start(self.config())
        r = self.daemon("-c", self.dir / "cuzk.toml")
        self.assertEqual(r.returncode, 3)
        self.assertIn(str(first.pid), r.stderr)
        other = self.config(daemon={"state_dir": str(self.dir / "other")})
        r = self.daemon("-c", other)
        self.assertEqual(r.returncode, 3)
        self.assertIn(str(first.pid), r.stderr)
        self.assertIn(str(self.socket), r.stderr)
        self.bench("status", "-a", f"unix://{self.socket}")

    def test_wait_stops_what_is_too_late(self):
        slow = self.dir / "slow"
        slow.write_text("#!/bin/sh\ntrap 'exit 0' TERM\nwhile :; do sleep 0.1; done\n")
        slow.chmod(0o755)
        w = self.bench("wait", "--timeout", "1s", "--config", self.config(), "--", slow, code=1)
        self.assertIn("not ready after 1 s", w.stderr)

    def test_wait_is_not_fooled_by_another_daemon(self):
        """Somebody else serves on the address: the daemon that was started fails, and that is what counts."""
        self.start(self.config())
        other = self.config(daemon={"state_dir": str(self.dir / "other")})
        w = self.bench("wait", "--", DAEMON, "-c", other, code=3)
        self.assertIn(str(self.socket), w.stderr)


def kill_if_there(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@unittest.skipIf(tomllib is None, "this Python reads no TOML")
class Example(Case):
    """etc/cuzk.toml names every key with the built-in value, and loads."""

    def shown(self, *args):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("CUZK_", "FIL_PROOFS"))}
        r = self.daemon(*args, "--show-config", env=env)
        self.assertEqual(r.returncode, 0, r.stderr)
        return tomllib.loads(r.stdout)

    def test_example(self):
        example = ROOT / "etc/cuzk.toml"
        builtin = self.shown("-c", "/dev/null")
        self.assertEqual(self.shown("-c", example), builtin)
        text = "\n".join(line[1:] if line.startswith("#") and not line.startswith("# ") else line
                         for line in example.read_text().splitlines())
        keys = tomllib.loads(text)
        self.assertEqual({s: set(k) for s, k in keys.items()}, {s: set(k) for s, k in builtin.items()})
        everything = self.dir / "all.toml"
        everything.write_text(text)
        values = self.shown("-c", everything)
        if os.geteuid() != 0:  # these are root's
            for section, key in (("daemon", "listen"), ("daemon", "state_dir"), ("logging", "file")):
                builtin[section][key] = values[section][key]
        self.assertEqual(values, builtin)

    def test_show_config_is_a_config(self):
        path = self.config(synthesis={"partition_workers": 3}, memory={"total_budget": "1.5GiB"})
        shown = self.dir / "shown.toml"
        shown.write_text(self.daemon("-c", path, "--show-config").stdout)
        self.assertEqual(self.shown("-c", path), self.shown("-c", shown))

    def test_founding_config(self):
        """The keys of an existing installation are accepted as they are, but for the network address."""
        path = ROOT / "tests/data/curio/cuzk.toml"
        r = self.daemon("-c", path, "--check")
        self.assertEqual(r.returncode, 2)
        self.assertIn("daemon.insecure", r.stderr)
        env = dict(os.environ, CUZK_DAEMON_INSECURE="true")
        r = self.daemon("-c", path, "--show-config", env=env)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(tomllib.loads(r.stdout)["synthesis"]["partition_workers"], 14)

    def test_documents_know_every_key(self):
        page = (ROOT / "man/cuzk.toml.5").read_text().replace("\\-", "-")
        for section, keys in self.shown("-c", "/dev/null").items():
            for key in keys:
                self.assertIn(f".B {section}.{key}", page)


class Documents(Case):
    def test_commands_of_the_guide(self):
        """Every command in docs/operating.md has options and subcommands that exist."""
        tools = {"cuzk-daemon": DAEMON, "cuzk-bench": BENCH, "cuzk": os.environ["CUZK_TEST_TOOL"]}
        blocks = (ROOT / "docs/operating.md").read_text().split("```sh\n")[1:]
        commands = [line for block in blocks for line in block.split("```")[0].splitlines()]
        self.assertGreater(len(commands), 8)
        for command in commands:
            words = command.split(" -- ")[0].split()
            if words[0] not in tools:
                self.assertEqual(words[0], "grpcurl", f"unknown program: {command}")
                continue
            sub = [] if words[0] == "cuzk-daemon" else [words[1]]
            r = subprocess.run([tools[words[0]], *sub, "--help"], capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(r.returncode, 0, command)
            for word in words[1:]:
                if word.startswith("-"):
                    self.assertRegex(r.stdout, rf"(?<![\w-]){word}(?![\w-])", command)


if __name__ == "__main__":
    unittest.main()
