#!/usr/bin/env python3
"""The memory plan and the machine that runs short: what is refused before "ready" and with which numbers, that the prediction
holds, and that proving pauses and goes on. /proc and /sys of the machine are files of the test's own (CUZK_TEST_ROOT)."""
import json
import os
import re
import subprocess
import time
import unittest
from pathlib import Path

from daemon_test import BENCH, DAEMON, DATA, LIMIT, PARAMS, Case, posts, until, window_args

MIB = 1 << 20
SANITIZED = any(mark in Path(DAEMON).read_bytes() for mark in (b"__asan_init", b"__tsan_init"))


def winning_args():
    info = json.loads((DATA / "winning-2k/info.json").read_text())
    return ["-t", "winning", "--registered-proof", 0, "--miner-id", info["miner"], "--randomness", info["randomness"],
            "--vanilla", DATA / "winning-2k/sector-1.vproof"]


@unittest.skipIf(SANITIZED, "an instrumented build takes memory that nobody plans")
class Plans(Case):
    def setUp(self):
        super().setUp()
        self.cache = self.dir / "params"
        self.cache.mkdir()

    def start(self, path, env=None):
        process = subprocess.Popen([DAEMON, "-c", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        self.started.append(process)
        self.bench("wait", "--config", path, "--timeout", "60s")
        return process

    def only(self, *circuits):
        """A parameter folder with these alone: WindowPoSt has the smaller file."""
        window, winning = sorted((p for p in posts() if p.suffix == ".params"), key=lambda p: p.stat().st_size)
        porep = [p for p in PARAMS.glob("*stacked-proof-of-replication*.params")]
        for circuit in circuits:
            stem = {"wpost-2k": window, "winning-2k": winning, "porep-2k": porep[0]}[circuit].stem
            for end in (".params", ".vk"):
                (self.cache / (stem + end)).symlink_to(PARAMS / (stem + end))
        return {"param_cache": str(self.cache), "preload": list(circuits)}

    def machine(self, available, total=16 << 10, cgroup=None, current=0, cache=0, v1=False):
        """The files of a machine of so many MiB."""
        root = self.dir / "root"
        (root / "proc/self").mkdir(parents=True, exist_ok=True)
        new = root / "proc/meminfo.new"
        new.write_text(f"MemTotal:       {total << 10} kB\nMemFree:        1000 kB\nMemAvailable:   {available << 10} kB\n")
        new.rename(root / "proc/meminfo")
        group = root / ("sys/fs/cgroup/memory/a/b" if v1 else "sys/fs/cgroup/a/b")
        if cgroup is not None:
            group.mkdir(parents=True, exist_ok=True)
            (root / "proc/self/cgroup").write_text("5:memory:/a/b\n" if v1 else "0::/a/b\n")
            limit, used = ("memory.limit_in_bytes", "memory.usage_in_bytes") if v1 else ("memory.max", "memory.current")
            (group / limit).write_text(f"{9223372036854771712 if v1 else 'max'}\n")  # the own group has none, the parent has
            (group.parent / limit).write_text(f"{cgroup * MIB}\n")
            (group.parent / used).write_text(f"{current * MIB}\n")
            (group.parent / "memory.stat").write_text(f"anon 1\ninactive_file {cache * MIB}\nactive_file 0\n")
        return dict(os.environ, CUZK_TEST_ROOT=str(root))

    def plan(self, env=None, **sections):
        return self.daemon("-c", self.config(**sections), "--check", env=env)

    def test_me11_too_many_workers(self):
        """Refused with the numbers and the largest that fits; that one is taken, and one more is not."""
        srs = self.only("wpost-2k")
        memory = {"total_budget": "160MiB"}
        r = self.fails(["-c", self.config(srs=srs, memory=memory, synthesis={"partition_workers": 30000})], 3,
                       "memory plan does not fit", "wpost-2k", "partition_workers=30000", "the budget is 160 MiB", "at most")
        most = int(re.search(r"partition_workers to at most (\d+)", r.stderr).group(1))
        self.assertGreater(most, 10)
        r = self.plan(srs=srs, memory=memory, synthesis={"partition_workers": most + 8})  # a page more or less
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn("at most", r.stderr)
        r = self.plan(srs=srs, memory=memory, synthesis={"partition_workers": most - 8})
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout, r"plan: wpost-2k: predicted peak \d+ MiB = baseline \d+ \+ parameters \d+ .* devices \d+")

    def test_automatic_workers(self):
        """As many as there are threads, as far as the memory allows: lowered, not refused."""
        r = self.plan(srs=self.only("wpost-2k"), memory={"total_budget": "460MiB"}, synthesis={"threads": 600})
        self.assertEqual(r.returncode, 0, r.stderr)
        most = int(re.search(r"partition_workers lowered from 600 to (\d+), which fit", r.stdout).group(1))
        self.assertGreater(most, 10)
        self.assertIn(f"({most} permits + {most} ready)", r.stdout)

    def test_not_even_one(self):
        srs = self.only("winning-2k")
        r = self.fails(["-c", self.config(srs=srs, memory={"total_budget": "110MiB"})], 3, "winning-2k", "not even one")
        need = int(re.search(r"to (\d+)MiB", r.stderr).group(1))
        r = self.plan(srs=srs, memory={"total_budget": f"{need}MiB"})
        self.assertEqual(r.returncode, 0, r.stderr)
        # Not loaded at the start, it is no reason not to start: its proofs are refused.
        r = self.plan(srs=dict(srs, preload=[]), memory={"total_budget": "110MiB"})
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("winning-2k does not fit this machine", r.stdout)

    def test_overcommit(self):
        srs = self.only("winning-2k")
        path = self.config(srs=srs, memory={"total_budget": "72MiB", "overcommit": True})
        self.start(path)
        self.assertIn("memory.overcommit is set", self.log.read_text())
        r = json.loads(self.bench("single", "--config", path, *winning_args(), "--json").stdout)
        self.assertTrue(r["completed"])

    def test_me02_machine_and_cgroup(self):
        """The smaller of what is available and what the group above leaves, file cache not counted; who sets it is said."""
        srs = self.only("wpost-2k")

        def budget(env):
            r = self.plan(env=env, srs=srs)
            self.assertEqual(r.returncode, 0, r.stderr)
            found = re.search(r"budget (\d+) MiB \(auto: ([^)]*)\)", r.stdout)
            return int(found.group(1)), found.group(2)

        def near(got, mib, by):
            self.assertLess(abs(got[0] - mib), 16, got)  # the process' own use is the process'
            self.assertIn(by, got[1])

        near(budget(self.machine(4096)), 4096 - 64, "available")
        near(budget(self.machine(4096, cgroup=2048, current=512)), 2048 - 512 - 64, "cgroup")
        near(budget(self.machine(4096, cgroup=2048, current=512, cache=500)), 2048 - 12 - 64, "cgroup")
        near(budget(self.machine(1000, cgroup=2048, current=512)), 1000 - 64, "available")
        near(budget(self.machine(4096, cgroup=1024, current=24, v1=True)), 1000 - 64, "cgroup")
        r = self.plan(env=self.machine(70), srs=srs)
        self.assertEqual(r.returncode, 3)
        self.assertIn("too little for any proof", r.stderr)

    def metric(self, path, name):
        text = self.bench("metrics", "--config", path).stdout
        return int(re.search(rf"^{re.escape(name)} (-?\d+)$", text, re.M).group(1))

    def check_peak(self, circuit, args):
        path = self.config(srs=self.only(circuit))
        self.start(path)
        predicted = self.metric(path, f'cuzk_plan_peak_bytes{{circuit="{circuit}"}}')
        r = json.loads(self.bench("batch", "--config", path, *args, "-c", 6, "-j", 6, "--json").stdout)
        self.assertEqual(r["failed"], 0)
        measured = r["peak_memory_bytes"]
        print(f"{circuit}: predicted {predicted / MIB:.1f} MiB, measured {measured / MIB:.1f} MiB")
        # 10 %; beside circuits as small as these it shows what the process takes for itself
        self.assertLess(abs(predicted - measured), 0.1 * measured + 3 * MIB)

    def test_me01_window_peak(self):
        self.check_peak("wpost-2k", window_args())

    def test_me01_winning_peak(self):
        self.check_peak("winning-2k", winning_args())

    def test_short_of_memory(self):
        """Others take the machine's memory: proving pauses and says so, WinningPoSt goes on, and all of it when it is back."""
        env = self.machine(4096)
        path = self.config(srs=self.only("wpost-2k", "winning-2k"))
        self.start(path, env=env)
        self.machine(1)
        until(lambda: self.metric(path, 'cuzk_ledger_limit_bytes{class="host"}') < 64 * MIB)
        waiting = subprocess.Popen([BENCH, "single", "--config", str(path), *map(str, window_args()), "--json"],
                                   stdout=subprocess.PIPE, text=True)
        self.started.append(waiting)
        until(lambda: "the machine is short of memory" in self.log.read_text())
        self.assertEqual(self.metric(path, "cuzk_short_of_memory"), 1)
        r = json.loads(self.bench("single", "--config", path, *winning_args(), "--json").stdout)
        self.assertTrue(r["completed"])
        self.assertIsNone(waiting.poll())
        self.machine(4096)
        out, _ = waiting.communicate(timeout=LIMIT)
        self.assertTrue(json.loads(out)["completed"])
        until(lambda: "there is memory again" in self.log.read_text())

    def test_me01_porep(self):
        """The prediction of a PoRep holds within 10 %; while it is proved the process never has more than the ledger knows, and at
        rest just that."""
        path = self.config(srs=self.only("porep-2k"))
        self.start(path)
        predicted = self.metric(path, 'cuzk_plan_peak_bytes{circuit="porep-2k"}')
        info = json.loads((DATA / "porep-2k/info.json").read_text())
        args = ["-t", "porep", "--c1", DATA / "porep-2k/c1-wrapped.json", "--sector-num", info["sector"], "--miner-id", info["miner"]]
        proving = subprocess.Popen([BENCH, "single", "--config", str(path), *map(str, args), "--json"],
                                   stdout=subprocess.PIPE, text=True)
        self.started.append(proving)
        worst = 0
        while proving.poll() is None:
            text = self.bench("metrics", "--config", path).stdout
            used = int(re.search(r'^cuzk_process_bytes\{kind="used"\} (\d+)$', text, re.M).group(1))
            off = int(re.search(r"^cuzk_ledger_difference_bytes (-?\d+)$", text, re.M).group(1))
            worst = max(worst, off)
            self.assertLess(off, 0.05 * used + 32 * MIB)
            time.sleep(0.3)
        r = json.loads(proving.communicate()[0])
        self.assertTrue(r["completed"])
        measured = r["peak_memory_bytes"]
        print(f"porep-2k: predicted {predicted / MIB:.1f} MiB, measured {measured / MIB:.1f} MiB, "
              f"beyond the ledger at most {worst / MIB:.1f} MiB")
        self.assertLess(abs(predicted - measured), 0.1 * measured)
        time.sleep(2.5)
        used = self.metric(path, 'cuzk_process_bytes{kind="used"}')
        self.assertGreater(used, 1000 * MIB)
        self.assertLess(abs(self.metric(path, "cuzk_ledger_difference_bytes")), 0.05 * used + 32 * MIB)


if __name__ == "__main__":
    unittest.main()
