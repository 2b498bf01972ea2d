#!/usr/bin/env python3
"""The journal as an operator meets it: every way in which one is refused, with the way out; a disk without room; a job that
takes the daemon down. What survives a kill is tested by clients (tests/clients/go/journal_test.go) and under the engine."""
import json
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import daemon_test  # noqa: E402
from daemon_test import BENCH, DATA, Case, until, window_args  # noqa: E402


class Journal(Case):
    start = daemon_test.LaunchFailures.start

    def setUp(self):
        super().setUp()
        self.journal = self.dir / "journal"

    def with_journal(self, **more):
        return self.config(journal={"path": str(self.journal), **more})

    def prove(self, path, *args, **kw):
        return json.loads(self.bench("single", "--config", path, *(args or window_args()), "--json", **kw).stdout)

    def made(self):
        """A journal with one result in it."""
        path = self.with_journal()
        daemon = self.start(path)
        self.prove(path)
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=60), 0)
        return path

    def test_refused(self):
        path = self.made()
        kept = self.journal.read_bytes()
        for change, parts in [
            (lambda: self.sql("PRAGMA user_version=9"), ["version 9", "newer cuzk-daemon"]),
            (lambda: self.sql("PRAGMA application_id=1"), ["not a journal of cuzk-daemon", "journal.path"]),
            (lambda: self.journal.write_bytes(b"nothing of the kind\n" * 100), ["is damaged", "move it"]),
            (lambda: self.journal.write_bytes(kept[:4096] + b"\xff" * 4096 + kept[8192:]), ["is damaged", "move it"]),
        ]:
            change()
            before = self.journal.read_bytes()
            self.fails(["-c", path], 3, self.journal, *parts, log=False)
            self.assertEqual(self.journal.read_bytes(), before, "a refused journal was changed")
            self.journal.write_bytes(kept)
        # The way out works: moved away, the daemon starts; moved back, the result is there.
        self.journal.rename(self.dir / "old")
        daemon = self.start(path)
        daemon.terminate()
        daemon.wait(timeout=60)
        for file in self.dir.glob("journal*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()
        (self.dir / "old").rename(self.journal)
        self.start(path)
        self.assertIn("1 results kept", self.log.read_text())

    def sql(self, text):
        with sqlite3.connect(self.journal) as db:
            db.executescript(text)
        db.close()

    def test_paths(self):
        self.fails(["-c", self.config(journal={"path": "jobs.db"})], 2, "jobs.db", "whole path", log=False)
        self.fails(["-c", self.config(journal={"path": str(self.dir / "none" / "j")})], 3, self.dir / "none" / "j", "No such file",
                   "journal.path", log=False)
        self.fails(["-c", self.config(journal={"path": str(self.dir)})], 3, self.dir, "Is a directory", log=False)
        r = self.daemon("-c", self.config(journal={"path": str(self.journal), "retention": "1 week"}))
        self.assertEqual(r.returncode, 2)
        self.assertIn("journal.retention", r.stderr)

    def test_two_daemons(self):
        self.start(self.with_journal())
        other = self.config(daemon={"state_dir": str(self.dir / "other"), "listen": f"unix://{self.dir}/t"},
                            journal={"path": str(self.journal)})
        r = self.daemon("-c", other)
        self.assertEqual(r.returncode, 3)
        self.assertIn("in use by another process", r.stderr)

    def test_no_room(self):
        """The files may not grow (as on a full disk): it is said once, proofs go on; when they may, all is written."""
        path = self.with_journal()
        daemon = self.start(path)
        self.prove(path)
        size = max(file.stat().st_size for file in self.dir.rglob("*") if file.is_file() and "journal-wal" in file.name)
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        r = json.loads(self.bench("batch", "--config", path, *window_args(), "-c", 6, "--json").stdout)
        self.assertEqual((r["completed"], r["failed"]), (6, 0))
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        until(lambda: "can be written again" in self.log.read_text())
        self.assertEqual(self.log.read_text().count("in memory only"), 1)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(timeout=60), 0)
        with sqlite3.connect(self.journal) as db:
            self.assertEqual(db.execute("SELECT count(*) FROM jobs WHERE state = 1").fetchone()[0], 7)
        db.close()

    def test_takes_the_daemon_down(self):
        """Twice a crash while the job runs: the third start fails it by name, and the same request is not tried again."""
        path = self.with_journal()
        args = ["-t", "porep", "--c1", DATA / "porep-2k/c1-wrapped.json", "--registered-proof", 5, "--miner-id", 1000,
                "--sector-num", 1, "--request-id", "poison"]
        for _ in range(2):
            daemon = self.start(path)
            caller = subprocess.Popen([BENCH, "single", "--config", str(path), *map(str, args)], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            self.started.append(caller)
            until(lambda: "in_progress 1" in self.look(path) or daemon.poll() is not None)
            daemon.send_signal(signal.SIGSEGV)
            self.assertEqual(daemon.wait(timeout=60), -signal.SIGSEGV)
            caller.wait(timeout=60)
        self.start(path)
        r = subprocess.run([BENCH, "single", "--config", str(path), *map(str, args)], capture_output=True, text=True, timeout=60)
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assertIn("ended 2 times while it proved job", r.stdout + r.stderr)
        self.assertTrue(self.prove(path)["completed"])

    def look(self, path):
        status = json.loads(self.bench("status", "--config", path, "--json").stdout)
        return "in_progress %d" % sum(queue["in_progress"] for queue in status["queues"])


if __name__ == "__main__":
    unittest.main()
