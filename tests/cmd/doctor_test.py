#!/usr/bin/env python3
"""cuzk doctor: each check says ok, warn or fail with its remedy, on machines made of files (--root)."""
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = os.environ["CUZK_TEST_TOOL"]
ROOT = Path(__file__).resolve().parents[2]
GIB = 1 << 20  # kB
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max processes             {processes}               95000                processes
Max open files            {files}              1048576              files
Max locked memory         {memlock}            unlimited            bytes
"""


class Doctor(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="cuzk-doctor-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.root = self.dir / "root"
        self.machine()
        self.params = self.dir / "params"
        self.params.mkdir()

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def machine(self, total=512 * GIB, available=500 * GIB, files=65536, memlock="unlimited", processes=90000, huge=0,
                thp="always [madvise] never", group="", limit="max", used="0", overcommit="0"):
        shutil.rmtree(self.root, ignore_errors=True)
        self.put("proc/meminfo", f"MemTotal: {total} kB\nMemAvailable: {available} kB\nHugePages_Free: {huge}\nHugepagesize: 2048 kB\n")
        self.put("proc/self/limits", LIMITS.format(files=files, memlock=memlock, processes=processes))
        self.put("proc/self/cgroup", f"0::/{group}\n")
        self.put(f"sys/fs/cgroup/{group}/memory.max", limit + "\n")
        self.put(f"sys/fs/cgroup/{group}/memory.current", used + "\n")
        self.put("sys/kernel/mm/transparent_hugepage/enabled", thp + "\n")
        self.put("proc/sys/vm/overcommit_memory", overcommit + "\n")

    def driver(self, version="580.95.05", cards=1, control=True):
        self.put("proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Tue Oct 1\n")
        for i in range(cards):
            self.put(f"dev/nvidia{i}", "")
        if control:
            self.put("dev/nvidiactl", "")

    def config(self, more="", **sections):
        values = {"daemon": {"listen": f"unix://{self.dir}/s", "state_dir": str(self.dir / "state")},
                  "srs": {"param_cache": str(self.params)}, "logging": {"file": ""}}
        for name, keys in sections.items():
            values.setdefault(name, {}).update(keys)
        path = self.dir / "cuzk.toml"
        path.write_text("".join(f"[{name}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in keys.items())
                                for name, keys in values.items()) + more)
        return path

    def doctor(self, *args, config=None):
        """The findings as {check: [(verdict, text, remedy)]}; text and JSON agree."""
        words = [TOOL, "doctor", "--config", str(config or self.config()), "--root", str(self.root), *args]
        r = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=60)
        out = json.loads(r.stdout)
        plain = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual(plain.returncode, r.returncode)
        found = {}
        for c in out["checks"]:
            found.setdefault(c["check"], []).append((c["verdict"], c["text"], c["remedy"]))
            self.assertEqual(c["verdict"] == "ok", c["remedy"] == "", c)
            if c["check"] not in ("clock", "disk"):  # they change from one call to the next
                self.assertIn(c["text"], plain.stdout)
            self.assertIn(c["remedy"], plain.stdout)
        for verdict in ("ok", "warn", "fail"):
            self.assertEqual(out[verdict], sum(c["verdict"] == verdict for c in out["checks"]))
        self.assertEqual(r.returncode, 1 if out["fail"] else 0)
        return found

    def finds(self, check, verdict, *parts, **kw):
        found = self.doctor(**kw)
        for v, text, remedy in found.get(check, []):
            if v == verdict and all(part in text + " | " + remedy for part in map(str, parts)):
                return
        self.fail(f"no {verdict} of {check} with {parts}: {found.get(check)}")

    def test_a_good_machine(self):
        found = self.doctor()
        self.assertEqual({v for check, all_of in found.items() if check not in ("clock", "parameters", "disk") for v, _, _ in all_of},
                         {"ok"}, found)
        self.assertEqual(set(found), {"configuration", "memory", "cgroup", "huge pages", "limits", "processors", "card", "parameters",
                                      "socket", "disk", "clock"})

    def test_configuration(self):
        self.finds("configuration", "fail", "there is no key daemon.lisen", "did you mean daemon.listen?",
                   config=self.config(daemon={"lisen": "x"}))
        self.finds("configuration", "fail", "No such file", config=self.dir / "none.toml")
        self.finds("configuration", "warn", "pipeline.slot_size", config=self.config(pipeline={"slot_size": 1}))

    def test_memory(self):
        self.finds("memory", "ok", "512.0 GiB", "budget for proofs 495.0 GiB")
        self.finds("memory", "fail", "memory.total_budget is 600.0 GiB", "auto", config=self.config(memory={"total_budget": "600GiB"}))
        self.finds("memory", "warn", "memory.total_budget is 600.0 GiB",
                   config=self.config(memory={"total_budget": "600GiB", "overcommit": True}))
        self.machine(group="a/b", limit=str(64 << 30), used=str(60 << 30))
        self.finds("cgroup", "warn", "limit 64.0 GiB, 60.0 GiB", "MemoryMax")
        self.machine(total=GIB, available=GIB // 10)
        self.finds("memory", "fail", "too little")
        self.machine(overcommit="2")
        self.finds("memory", "warn", "vm.overcommit_memory")
        self.machine(huge=200 << 9)
        self.finds("huge pages", "warn", "200.0 GiB are set aside", "vm.nr_hugepages")
        self.machine(thp="always madvise [never]")
        self.finds("huge pages", "warn", "transparent")

    def test_limits(self):
        self.machine(files=1024)
        self.finds("limits", "warn", "1024 open files", "LimitNOFILE")
        self.machine(files=64)
        self.finds("limits", "fail", "64 open files")
        self.machine(processes=10)
        self.finds("limits", "fail", "10 processes")
        self.machine(memlock=8388608)
        self.finds("limits", "ok", "locked memory")
        self.driver()
        self.finds("limits", "warn", "8.0 MiB of locked memory", "LimitMEMLOCK")
        self.finds("processors", "warn", "synthesis.threads is 900000", config=self.config(synthesis={"threads": 900000}))

    def test_card(self):
        self.finds("card", "ok", "no NVIDIA driver")
        self.finds("card", "fail", "no NVIDIA driver", "gpus.backend", config=self.config(gpus={"backend": "cuda"}))
        self.driver(cards=2)
        self.finds("card", "ok", "580.95.05, 2 cards")
        self.finds("card", "fail", "card 2 of 2", config=self.config(gpus={"devices": ["0", "2"]}))
        self.finds("card", "ok", "none is used", config=self.config(gpus={"backend": "cpu"}))
        self.driver(version="470.1")
        self.finds("card", "fail", "470.1 is too old")
        self.machine()
        self.driver(cards=0)
        self.finds("card", "fail", "0 cards")
        self.machine()
        self.driver(control=False)
        self.finds("card", "fail", "nvidiactl", "nvidia-modprobe")

    def test_parameters(self):
        self.finds("parameters", "warn", "nothing is loaded before")
        self.finds("parameters", "fail", "porep-9g", config=self.config(srs={"preload": ["porep-9g"]}))
        path = self.config(srs={"preload": ["winning-2k"]})
        self.finds("parameters", "fail", "winning-2k", "No such file", "fetch the parameters", config=path)
        r = subprocess.run([TOOL, "params", "path", "--circuit", "winning-2k", "--dir", str(self.params)], capture_output=True,
                           text=True, check=True)
        file = Path(r.stdout.strip())
        file.write_bytes(b"x" * 1000)
        self.finds("parameters", "fail", file, "not the published one", "fetch the file again", config=path)
        digest = json.loads(subprocess.run(["python3", "-c", "import hashlib,json,sys;"
                            "print(json.dumps(hashlib.blake2b(open(sys.argv[1],'rb').read()).hexdigest()[:32]))", str(file)],
                            capture_output=True, text=True, check=True).stdout)
        self.finds("parameters", "ok", "winning-2k", "srs.trusted_digests",
                   config=self.config(srs={"preload": ["winning-2k"], "trusted_digests": [digest]}))
        self.finds("parameters", "warn", "test parameters", config=self.config(srs={"preload": ["winning-2k"], "allow_test_params": True}))
        with open(file, "r+b") as f:
            f.truncate(300 << 20)
        self.finds("parameters", "ok", "not hashed yet", config=path)
        self.finds("parameters", "fail", "cannot be read", "srs.param_cache", config=self.config(srs={"param_cache": "/nowhere"}))
        self.assertFalse((self.dir / "state").exists(), "something was written")

    def test_socket(self):
        long = "x" * 120
        self.finds("socket", "fail", long, "shorter", config=self.config(daemon={"listen": f"unix:///{long}"}))
        self.finds("socket", "fail", "/none\" does not exist", "RuntimeDirectory",
                   config=self.config(daemon={"listen": f"unix://{self.dir}/none/more/s"}))
        self.finds("socket", "ok", "/none/s", config=self.config(daemon={"listen": f"unix://{self.dir}/none/s"}))
        (self.dir / "plain").write_text("")
        self.finds("socket", "fail", "is no socket", config=self.config(daemon={"listen": f"unix://{self.dir}/plain"}))
        self.finds("socket", "warn", "every user", config=self.config(daemon={"socket_mode": "0666"}))
        self.finds("socket", "ok", "127.0.0.1:1", config=self.config(daemon={"listen": "127.0.0.1:1"}))
        self.finds("socket", "warn", "access control", config=self.config(daemon={"listen": "0.0.0.0:1", "insecure": True}))
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(self.dir / "s"))
            self.finds("socket", "ok", "can be made")  # a dead one
            s.listen()
            self.finds("socket", "warn", "somebody serves")

    def test_disk(self):
        (self.dir / "plain").write_text("")
        self.finds("disk", "fail", "daemon.state_dir", "Not a directory", config=self.config(daemon={"state_dir": f"{self.dir}/plain/state"}))
        self.finds("disk", "fail", "journal.path", "No such file", config=self.config(journal={"path": f"{self.dir}/none/journal"}))
        self.finds("disk", "warn", "journal.path", "short of room",
                   config=self.config(journal={"path": f"{self.dir}/journal"}, daemon={"max_queue_bytes": "8000TiB"}))
        if Path("/proc").is_mount():
            self.finds("disk", "fail", "logging.file", config=self.config(logging={"file": "/proc/nothing/log"}))

    def test_journal(self):
        journal = self.dir / "journal"
        self.assertNotIn("journal", self.doctor())
        path = self.config(journal={"path": str(journal)})
        self.finds("journal", "ok", "will be made", config=path)
        version = re.search(r"#define JOURNAL_VERSION (\d+)", (ROOT / "src/engine/journal.h").read_text())[1]
        with sqlite3.connect(journal) as db:
            db.executescript(f"CREATE TABLE jobs(x); PRAGMA application_id=0x63757a6b; PRAGMA user_version={version}")
            self.finds("journal", "ok", f"version {version}", config=path)
            db.executescript(f"PRAGMA user_version={int(version) + 1}")
            self.finds("journal", "fail", f"version {int(version) + 1}", "newer", config=path)
            db.executescript("PRAGMA application_id=1")
            self.finds("journal", "fail", "another program", config=path)
        db.close()
        journal.write_bytes(b"nothing of the kind" * 10)
        self.finds("journal", "fail", "is damaged", config=path)

    def test_plan(self):
        self.assertNotIn("plan", self.doctor())
        words = [TOOL, "doctor", "--plan", "--json", "--config"]
        for config, verdict, part in [(self.config(), "ok", "memory plan: machine"),
                                      (self.config(memory={"total_budget": "900TiB"}), "fail", "memory.total_budget")]:
            r = subprocess.run([*words, str(config)], capture_output=True, text=True, timeout=60)
            self.assertTrue(any(c["check"] == "plan" and c["verdict"] == verdict and part in c["text"]
                                for c in json.loads(r.stdout)["checks"]), r.stdout)


if __name__ == "__main__":
    unittest.main()
