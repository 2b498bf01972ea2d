#!/usr/bin/env python3
"""The cuzk tool as its users meet it: exit codes, messages, JSON, and every kind of bad input it must refuse with a clear
error. With CUZK_TEST_PARAMS it also proves for real (the slow part, `cli_test.py prove`)."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOOL = os.environ["CUZK_TEST_TOOL"]
DATA = Path(os.environ["CUZK_TEST_DATA"]) / "porep-2k"
PARAMS = os.environ.get("CUZK_TEST_PARAMS", "")
C1 = str(DATA / "c1.json")
WRAPPED = str(DATA / "c1-wrapped.json")


class Tool(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="cuzk-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def cuzk(self, *args, code=0, stdin=None, env=None):
        environment = dict(os.environ, CUZK_STATE_DIR=str(self.dir / "state"), **(env or {}))
        r = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, input=stdin, env=environment, timeout=600)
        self.assertEqual(r.returncode, code, f"{args}: {r.stdout}{r.stderr}")
        if code not in (0,):
            self.assertTrue(r.stderr.startswith("error: ") or args == (), f"{args}: no error text: {r.stderr!r}")
        return r

    def refused(self, part, *args, code=1, **kw):
        r = self.cuzk(*args, code=code, **kw)
        self.assertIn(part, r.stderr)
        return r


class Usage(Tool):
    def test_help_and_version(self):
        self.assertIn("cuzk 0.", self.cuzk("--version").stdout)
        text = self.cuzk("--help").stdout
        for command in ("setup", "prove", "verify", "inspect", "params"):
            self.assertIn(command, text)
            self.assertIn("usage: cuzk " + command, self.cuzk(command, "--help").stdout)

    def test_wrong_use(self):
        self.cuzk(code=2)
        self.refused("unknown command", "frobnicate", code=2)
        self.refused("did you mean --miner-id?", "prove", "--minerid", "1", code=2)
        self.refused("cuzk prove needs --params", "prove", code=2)
        self.refused("needs --c1", "prove", "--params", "x", code=2)
        self.refused("needs --miner-id", "prove", "--params", "x", "--c1", C1, code=2)
        self.refused("needs --vanilla", "prove", "--kind", "winning", "--params", "x", code=2)
        self.refused("needs --randomness", "prove", "-t", "wpost", "--vanilla", "v", "--registered-proof", "5", "--params", "x", code=2)
        self.refused("--comm-r-old has no place with --kind window", "prove", "--kind", "window", "--vanilla", "v", "--registered-proof",
                     "5", "--randomness", "00" * 32, "--comm-r-old", "00" * 32, "--params", "x", code=2)
        self.refused("does not know", "prove", "--kind", "poreq", "--params", "x", code=2)
        self.refused("wants a value", "prove", "--c1", code=2)
        self.refused("given twice", "prove", "--c1", C1, "--c1", C1, code=2)
        self.refused("whole number", "prove", "--c1", C1, "--miner-id", "f01000", "--params", "x", code=2)
        self.refused("whole number", "prove", "--c1", C1, "--miner-id", "18446744073709551616", "--params", "x", code=2)
        self.refused("whole number", "prove", "--c1", C1, "--miner-id", "-1", "--params", "x", code=2)
        self.refused("takes no value", "prove", "--json=1", code=2)
        self.refused("unexpected argument", "setup", "what", code=2)
        self.refused("64 hexadecimal digits", "verify", "--comm-r", "ab", code=2)
        self.refused("needed:", "verify", "--proof", "p", "--vk", "v", "--miner-id", "1", code=2)
        self.refused("kind of file", "inspect", "params", code=2)
        self.refused("does not know", "inspect", "zebra", C1, code=2)

    def test_params_path(self):
        out = self.cuzk("params", "path", "--circuit", "porep-32g", "--dir", "/d").stdout.strip()
        self.assertEqual(out, "/d/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
                              "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820.params")
        self.refused("no circuit is called", "params", "path", "--circuit", "porep-3k")
        for name in ("window-32g", "wpost-32g"):
            self.assertIn("proof-of-spacetime-fallback", self.cuzk("params", "path", "--circuit", name).stdout)
        self.refused("not in this version", "params", "path", "--circuit", "snap-poseidon-32g")

    def test_stdout_closed(self):
        with open("/dev/full", "w") as full:
            r = subprocess.run([TOOL, "inspect", "c1", C1], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertIn("standard output", r.stderr)


class Inspect(Tool):
    def test_good(self):
        facts = json.loads(self.cuzk("inspect", "c1", WRAPPED, "--json").stdout)
        self.assertEqual((facts["registered_name"], facts["registered_proof"]), ("StackedDrg2KiBV1_1", 5))
        self.assertEqual((facts["partitions"], facts["challenges"], facts["sector_number"]), (1, 2, 1))
        info = json.loads((DATA / "info.json").read_text())
        for key in ("comm_r", "comm_d", "replica_id", "seed", "ticket"):
            self.assertEqual(facts[key], info[key])
        self.assertEqual(json.loads(self.cuzk("inspect", "vk", DATA / "porep-2k.vk", "--json").stdout)["public_inputs"], 39)
        self.assertEqual(json.loads(self.cuzk("inspect", "proof", DATA / "porep-2k.proof", "--json").stdout)["partitions"], 1)
        self.cuzk("inspect", "c1", "-", stdin=Path(C1).read_text())

    def test_bad_files(self):
        missing = self.dir / "none"
        for kind in ("params", "vk", "c1", "proof", "shape"):
            self.refused(str(missing), "inspect", kind, missing)
            self.refused(str(self.dir), "inspect", kind, self.dir)
            empty = self.dir / "empty"
            empty.write_bytes(b"")
            self.refused("", "inspect", kind, empty)
            junk = self.dir / "junk"
            junk.write_bytes(bytes(range(256)) * 20)
            error = json.loads(self.refused("", "inspect", kind, junk, "--json").stdout)
            self.assertTrue(error["error"])
            self.assertNotEqual(error["code"], "ok")

    def test_proof_and_key_damage(self):
        proof = bytearray((DATA / "porep-2k.proof").read_bytes())
        path = self.dir / "p"
        path.write_bytes(proof[:191])
        self.refused("191 bytes", "inspect", "proof", path)
        proof[0] &= 0x7F  # compressed flag gone
        path.write_bytes(proof)
        self.refused("element A", "inspect", "proof", path)
        vk = bytearray((DATA / "porep-2k.vk").read_bytes())
        path.write_bytes(vk[:-1])
        self.refused("verifying key ends", "inspect", "vk", path)
        path.write_bytes(vk + b"\0")
        self.refused("bytes after", "inspect", "vk", path)


class Verify(Tool):
    def args(self, **change):
        info = json.loads((DATA / "info.json").read_text())
        a = {"--proof": DATA / "porep-2k.proof", "--vk": DATA / "porep-2k.vk", "--miner-id": info["miner"],
             "--sector-num": info["sector"], "--registered-proof": 5, "--comm-r": info["comm_r"], "--comm-d": info["comm_d"],
             "--seed": info["seed"], "--ticket": info["ticket"]}
        a.update({k.replace("_", "-"): v for k, v in change.items()})
        return ["verify", "--allow-test-params"] + [str(x) for pair in a.items() for x in pair if pair[1] is not None]

    def test_valid(self):
        self.cuzk(*self.args())
        self.cuzk("verify", "--allow-test-params", "--c1", WRAPPED, "--miner-id", 1000, "--vk", DATA / "porep-2k.vk",
                  "--proof", DATA / "porep-2k.proof")

    def test_invalid(self):
        zero = "00" * 32
        ones = "01" * 32
        self.refused("does not verify", *self.args(**{"--sector-num": 2}), code=7)
        self.refused("does not verify", *self.args(**{"--miner-id": 1}), code=7)
        self.refused("does not verify", *self.args(**{"--seed": ones}), code=7)
        self.refused("does not verify", *self.args(**{"--ticket": "03" * 32}), code=7)
        self.refused("seed", *self.args(**{"--seed": zero}))
        self.refused("comm_r", *self.args(**{"--comm-r": "ff" * 32}))
        self.refused("registered proof", *self.args(**{"--registered-proof": 99}))
        self.refused("bytes long", *self.args(**{"--registered-proof": 8}))
        untrusted = [a for a in self.args() if a != "--allow-test-params"]
        self.refused("not a published one", *untrusted)


class ProveRefusals(Tool):
    """What is refused before any parameter is read."""

    def prove(self, c1, *more, miner=1000, sector=1, params="/nonexistent.params"):
        return ["prove", "--c1", c1, "--miner-id", miner, "--sector-num", sector, "--params", params, *more]

    def test_identity(self):
        self.refused("replica", *self.prove(C1, sector=2))
        self.refused("replica", *self.prove(C1, miner=1001))
        self.refused("sector 1, the request of sector 2", *self.prove(WRAPPED, sector=2))
        self.refused("give --sector-num", "prove", "--c1", C1, "--miner-id", 1000, "--params", "x")

    def test_vanilla_damage(self):
        text = json.loads(Path(C1).read_text())
        text["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]["labeling_proofs"][1]["parents"][5][0] ^= 1
        bad = self.dir / "bad.json"
        bad.write_text(json.dumps(text, separators=(",", ":")))
        r = self.refused("challenge 1", *self.prove(bad))
        self.assertIn("layer 2", r.stderr)

    def test_json_damage(self):
        data = Path(C1).read_bytes()
        bad = self.dir / "bad.json"
        for cut in (0, 1, 10, 1000, len(data) // 2, len(data) - 1):
            bad.write_bytes(data[:cut])
            self.refused("C1", *self.prove(bad))
        bad.write_bytes(data.replace(b'"comm_d":[', b'"comm_d":[256,', 1))
        self.refused("comm_d", *self.prove(bad))
        bad.write_bytes(data.replace(b"StackedDrg2KiBV1_1", b"StackedDrg2KiBV9_1", 1))
        self.refused("StackedDrg2KiBV9_1", *self.prove(bad))
        bad.write_bytes(data.replace(b"StackedDrg2KiBV1_1", b"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 1))
        self.refused("not in this version", *self.prove(bad))

    def test_params_missing(self):
        self.refused("/nonexistent.params", *self.prove(C1))


@unittest.skipUnless("prove" in sys.argv, "proves for real: cli_test.py prove")
class Prove(Tool):
    def prove(self, *more, params=PARAMS, **kw):
        return self.cuzk("prove", "--c1", WRAPPED, "--miner-id", 1000, "--params", params, "--json", *more, **kw)

    def test_proof_from_end_to_end(self):
        out = self.dir / "proof"
        facts = json.loads(self.prove("--allow-test-params", "--output", out).stdout)
        self.assertEqual(facts["proof"], out.read_bytes().hex())
        self.assertEqual(len(out.read_bytes()), 192)
        self.assertLess(facts["proving_peak_bytes"], 1 << 30)
        key = PARAMS.removesuffix(".params") + ".vk"
        args = ("verify", "--allow-test-params", "--c1", WRAPPED, "--miner-id", 1000, "--vk", key, "--proof")
        self.cuzk(*args, out)
        bad = bytearray(out.read_bytes())
        bad[150] ^= 1
        out.write_bytes(bad)
        self.refused("", *args, out, code=7)

    def test_untrusted(self):
        error = json.loads(self.prove(code=1).stdout)
        self.assertEqual(error["code"], "untrusted")

    def test_image(self):
        copy = self.dir / "x.params"
        os.link(PARAMS, copy) if os.stat(PARAMS).st_dev == os.stat(self.dir).st_dev else shutil.copy(PARAMS, copy)
        self.prove("--allow-test-params", "--save-image", params=copy)
        image = self.dir / "x.params.image"
        self.assertTrue(image.exists())
        facts = json.loads(self.prove("--allow-test-params", params=copy).stdout)
        self.assertTrue(facts["verified"])
        with open(image, "r+b") as f:  # a damaged image is not used, not fatal
            f.seek(100_000_000)
            f.write(b"damage")
        self.assertTrue(json.loads(self.prove("--allow-test-params", params=copy).stdout)["verified"])

    def test_damaged_params(self):
        copy = self.dir / "y.params"
        shutil.copy(PARAMS, copy)
        with open(copy, "r+b") as f:
            f.seek(500_000_123)
            byte = f.read(1)
            f.seek(500_000_123)
            f.write(bytes([byte[0] ^ 1]))
        self.refused("not trusted", "prove", "--c1", C1, "--miner-id", 1000, "--sector-num", 1, "--params", copy)
        self.refused("query", "prove", "--c1", C1, "--miner-id", 1000, "--sector-num", 1, "--params", copy, "--allow-test-params")
        os.truncate(copy, 1_000_000_000)
        self.refused("ends after 1000000000 bytes", "prove", "--c1", C1, "--miner-id", 1000, "--sector-num", 1, "--params", copy,
                     "--allow-test-params")

    def test_output_not_writable(self):
        self.refused("/proc/none", "prove", "--c1", C1, "--miner-id", 1000, "--sector-num", 1, "--params", PARAMS, "--allow-test-params",
                     "--output", "/proc/none")

    def test_interrupt(self):
        p = subprocess.Popen([TOOL, "prove", "--c1", C1, "--miner-id", "1000", "--sector-num", "1", "--params", PARAMS,
                              "--allow-test-params"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        started = time.monotonic()
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 1)
        self.assertIn("cancel", err)
        self.assertLess(time.monotonic() - started, 10)


if __name__ == "__main__":
    argv = [a for a in sys.argv if a != "prove"]
    if len(argv) != len(sys.argv) and not os.path.exists(PARAMS):
        sys.exit(f"CUZK_TEST_PARAMS must name the parameters of porep-2k, not {PARAMS!r}")
    unittest.main(argv=argv, defaultTest=None if "prove" not in sys.argv else "Prove", verbosity=1)
