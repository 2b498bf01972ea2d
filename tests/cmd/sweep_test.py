#!/usr/bin/env python3
"""cuzk-bench sweep and compare: every configuration is written, started, measured and stopped, or its one line says why it
never came; a sweep that is stopped goes on where it was; the results are a table, CSV, JSON and a picture."""
import csv
import json
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import daemon_test  # noqa: E402
from daemon_test import BENCH, DAEMON, Case, until, window_args  # noqa: E402


class Sweep(Case):
    def setUp(self):
        super().setUp()
        self.out = self.dir / "sweep"

    def words(self, *options, config=None, batch=("-c", 2, "-j", 2)):
        path = config or self.config(srs={"preload": ["wpost-2k"]})
        return [BENCH, "sweep", "--config", str(path), "--daemon", DAEMON, "--out", str(self.out), "--settle", "1s", *map(str, options), "--",
                *map(str, window_args()), *map(str, batch)]

    def sweep(self, *options, code=0, **kw):
        r = subprocess.run(self.words(*options, **kw), capture_output=True, text=True, timeout=300)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        return r

    def rows(self):
        with open(self.out / "results.csv", newline="") as f:
            return list(csv.DictReader(f))

    def test_sweep(self):
        r = self.sweep("--partition-workers", "1,2", "--set", "memory.total_budget=auto,900TiB", "--memory-limit", "100GiB")
        lines = r.stdout.splitlines()
        self.assertRegex(lines[0], r"partition_workers +total_budget +s/proof +steady +p50 +p95 +peak GiB")
        self.assertEqual(len(lines), 7, r.stdout)
        for line in (lines[2], lines[4]):
            self.assertRegex(line, r"900TiB +no start: .*exit code 3.*memory.total_budget")
        self.assertRegex(lines[5], r"recommended: synthesis.partition_workers = [12] memory.total_budget = auto \(")
        rows = self.rows()
        self.assertEqual([(x["synthesis.partition_workers"], x["memory.total_budget"], x["outcome"]) for x in rows],
                         [("1", "auto", "done"), ("1", "900TiB", "no start"), ("2", "auto", "done"), ("2", "900TiB", "no start")])
        for row in rows:
            if row["outcome"] == "done":
                self.assertEqual((row["completed"], row["failed"], row["reason"]), ("2", "0", ""))
                self.assertGreater(float(row["seconds_per_proof"]), 0)
                self.assertGreaterEqual(float(row["p95_seconds"]), float(row["p50_seconds"]))
                self.assertGreater(int(row["peak_memory_bytes"]), 1 << 20)
                self.assertGreater(float(row["ready_seconds"]), 0)
        result = json.loads((self.out / "results.json").read_text())
        self.assertEqual(len(result["runs"]), 4)
        self.assertEqual(result["recommended"]["memory.total_budget"], "auto")
        picture = xml.etree.ElementTree.parse(self.out / "plot.svg").getroot()
        text = "".join(picture.itertext())
        for part in ("seconds per proof", "peak memory", "synthesis.partition_workers", "total_budget=auto"):
            self.assertIn(part, text)
        self.assertIn("partition_workers = 2", (self.out / "3.toml").read_text())
        self.assertIn("memory.total_budget", (self.out / "2.log").read_text())
        self.assertFalse((self.out / "socket").exists(), "a daemon was left")
        # Once more: refused, and with --continue nothing is done again.
        r = self.sweep("--partition-workers", "1,2", "--set", "memory.total_budget=auto,900TiB", code=1)
        self.assertIn("--continue", r.stderr)
        before = (self.out / "1.toml").stat().st_mtime_ns
        r = self.sweep("--partition-workers", "1,2", "--set", "memory.total_budget=auto,900TiB", "--continue")
        self.assertIn("(before)", r.stdout)
        self.assertEqual((self.out / "1.toml").stat().st_mtime_ns, before)
        self.assertEqual(self.rows(), rows)
        r = self.sweep("--gpu-workers", "1", "--continue", code=1)
        self.assertIn("other keys", r.stderr)

    def test_stopped_and_continued(self):
        options = ["--sweep", self.dir / "s.toml", "--json"]
        (self.dir / "s.toml").write_text("[synthesis]\npartition_workers = [1, 2, 3]\n")
        process = subprocess.Popen(self.words(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        until(lambda: (self.out / "results.csv").exists() and len(self.rows()) == 1 and (self.out / "socket").exists())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("--continue", err)
        self.assertFalse((self.out / "socket").exists(), "a daemon was left")
        first = self.rows()
        self.assertLess(len(first), 3)
        r = json.loads(self.sweep(*options, "--continue").stdout)
        self.assertEqual([run["settings"]["synthesis.partition_workers"] for run in r["runs"]], ["1", "2", "3"])
        self.assertEqual({run["outcome"] for run in r["runs"]}, {"done"})
        self.assertEqual(self.rows()[:len(first)], first)

    def test_failing_proofs(self):
        words = self.words("--partition-workers", 1)
        words[words.index("--randomness") + 1] = "01" * 32
        r = subprocess.run(words, capture_output=True, text=True, timeout=300)
        self.assertEqual(r.returncode, 1, r.stdout + r.stderr)
        self.assertIn("no run can be recommended", r.stdout)
        row = self.rows()[0]
        self.assertEqual((row["outcome"], row["failed"]), ("failed", "2"))
        self.assertIn("INVALID_ARGUMENT", row["reason"])

    def test_a_limit_of_memory(self):
        self.sweep("--partition-workers", "1", "--memory-limit", "1MiB")
        self.assertIsNone(json.loads((self.out / "results.json").read_text())["recommended"])

    def test_misuse(self):
        self.assertIn("there is no key synthesis.partition_wokers",
                      self.sweep("--set", "synthesis.partition_wokers=1", code=1).stderr)
        self.assertIn("synthesis.partition_workers wants", self.sweep("--partition-workers", "1,many", code=1).stderr)
        self.assertIn("swept twice", self.sweep("--partition-workers", "1", "--set", "synthesis.partition_workers=2", code=1).stderr)
        self.assertIn("nothing is swept", self.sweep(code=1).stderr)
        r = subprocess.run([BENCH, "sweep", "--out", "x", "--", "-c", "1"], capture_output=True, text=True)
        self.assertEqual(r.returncode, 2)
        r = subprocess.run([BENCH, "sweep", "--out", "/tmp/x", "--partition-workers", "1"], capture_output=True, text=True)
        self.assertEqual(r.returncode, 2)
        self.assertIn("must follow --", r.stderr)
        self.assertFalse(self.out.exists() and any(self.out.iterdir()))


class Stress(Case):
    start = daemon_test.LaunchFailures.start

    def test_stress(self):
        """Two streams at their rates; a failing one is told and the other goes on."""
        path = self.config(srs={"preload": ["wpost-2k"]})
        self.start(path)
        bad = window_args()
        bad[bad.index("--randomness") + 1] = "01" * 32
        stream = ["--", *window_args(), "--rate"]
        r = json.loads(self.bench("stress", "--config", path, "--duration", "3s", "--json", *stream, "30/m", *stream, "0.5/s").stdout)
        self.assertEqual([(s["started"], s["completed"], s["failed"]) for s in r["streams"]], [(2, 2, 0), (2, 2, 0)])
        for s in r["streams"]:
            self.assertGreater(s["p50_seconds"], 0)
            self.assertGreaterEqual(s["max_seconds"], s["p95_seconds"])
        self.assertGreater(r["peak_memory_bytes"], 1 << 20)
        r = self.bench("stress", "--config", path, "--duration", "100ms", *stream, "1/s", "--", *bad, "-r", "20/s", code=1)
        self.assertIn("INVALID_ARGUMENT", r.stderr)
        self.assertRegex(r.stdout, r"wpost +1/s +1 +1 +0 ")
        self.assertRegex(r.stdout, r"wpost +20/s +3 +0 +3 ")

    def test_misuse(self):
        for words in (["--"], ["--", *window_args()], ["--", *window_args(), "-r", "5"], ["--", *window_args(), "-r", "0/s"], [],
                      ["--duration", "5", "--", *window_args(), "-r", "1/s"]):
            self.bench("stress", *words, code=2)


class Compare(Case):
    def put(self, name, **figures):
        path = self.dir / name
        path.write_text(json.dumps(figures, separators=(",", ":")))
        return path

    def test_compare(self):
        a = self.put("a", type="wpost", count=3, seconds_per_proof=2.0, p95_seconds=3.0, peak_memory_bytes=1000)
        b = self.put("b", type="wpost", count=3, seconds_per_proof=2.2, p95_seconds=1.5, peak_memory_bytes=1000)
        r = json.loads(self.bench("compare", a, b, "--json").stdout)
        self.assertEqual(r, {"seconds_per_proof": {"a": 2, "b": 2.2, "ratio": 1.1}, "p95_seconds": {"a": 3, "b": 1.5, "ratio": 0.5},
                             "peak_memory_bytes": {"a": 1000, "b": 1000, "ratio": 1}})
        self.assertRegex(self.bench("compare", a, b).stdout, r"seconds_per_proof +2 +2.2 +1.100")
        self.bench("compare", a, b, "--worse", 11)
        self.assertIn("10.0 % above", self.bench("compare", a, b, "--worse", 9, code=1).stderr)
        other = self.put("c", type="porep", seconds_per_proof=1)
        self.assertIn("A is of wpost proofs, B of porep", self.bench("compare", a, other).stderr)
        self.assertIn("is no result", self.bench("compare", a, self.put("d", x=1), code=1).stderr)
        self.bench("compare", a, self.dir / "none", code=1)
        self.bench("compare", a, code=2)


if __name__ == "__main__":
    unittest.main()
