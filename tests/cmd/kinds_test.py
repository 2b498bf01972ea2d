#!/usr/bin/env python3
"""Every kind of proof through the tool: set up, proved from golden vanilla proofs, verified, and refused after any change; inputs
fabricated, inspected and proved by the commands that info.json gives. `kinds_test.py slow` is the part that takes more than
seconds: 2 KiB SnapDeals and PoRep (CUZK_TEST_PARAMS), WinningPoSt of 32 and 64 GiB."""
import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from cli_test import TOOL, Tool

DATA = Path(os.environ["CUZK_TEST_DATA"])
PARAMS = os.environ.get("CUZK_TEST_PARAMS", "")
SLOW = "slow" in sys.argv
COMMITMENTS = json.loads((DATA / "snap-2k/info.json").read_text())
RANDOMNESS = {"winning": "07" * 32, "window": "08" * 32, "wpost": "08" * 32}


class Kinds(Tool):
    """Golden 2 KiB inputs; parameters with the test seed of the golden keys, made once a class unless they stand beside those of
    CUZK_TEST_PARAMS."""
    circuits = ()

    @classmethod
    def setUpClass(cls):
        cls.params = tempfile.TemporaryDirectory(prefix="cuzk-kinds-")
        cls.addClassCleanup(cls.params.cleanup)
        for circuit in cls.circuits:
            if PARAMS and cls.linked(circuit):
                continue
            subprocess.run([TOOL, "setup", "--circuit", circuit, "--out", cls.params.name, "--test-seed", "g16"], check=True,
                           capture_output=True, timeout=600)

    @classmethod
    def linked(cls, circuit):
        path = [TOOL, "params", "path", "--circuit", circuit, "--dir", str(Path(PARAMS).absolute().parent)]
        made = Path(subprocess.run(path, check=True, capture_output=True, text=True).stdout.strip())
        files = (made, made.with_suffix(".vk"))
        if not all(f.exists() for f in files):
            return False
        for f in files:
            (Path(cls.params.name) / f.name).symlink_to(f)
        return True

    def proving(self, kind, files, **change):
        """Arguments of prove: a golden request with changes."""
        a = {"--kind": kind, "--params": self.params.name, "--output": self.dir / "proof"}
        if kind == "snap":
            a |= {"--registered-proof": 0, **{"--" + k.replace("_", "-"): COMMITMENTS[k] for k in ("comm_r_old", "comm_r_new", "comm_d_new")}}
        else:
            a |= {"--registered-proof": 0 if kind == "winning" else 10, "--randomness": RANDOMNESS[kind]}
        a |= {k.replace("_", "-"): v for k, v in change.items()}
        vanilla = [x for f in files for x in ("--vanilla", f)]
        return ["prove", "--allow-test-params", *vanilla, *(str(x) for pair in a.items() for x in pair if pair[1] is not None)]

    def verifying(self, key, proof, kind, *more, **change):
        a = [x for x in self.proving(kind, [], **change)[2:]]
        for option in ("--params", "--output"):
            at = a.index(option)
            del a[at:at + 2]
        return ["verify", "--allow-test-params", "--vk", key, "--proof", proof, *a, *more]

    def changed(self, path, at, mask=1):
        data = bytearray(Path(path).read_bytes())
        data[at] ^= mask
        out = self.dir / "changed"
        out.write_bytes(data)
        return out


@unittest.skipIf(SLOW, "the quick part")
class PoSts(Kinds):
    circuits = ("winning-2k", "wpost-2k")
    winning = [DATA / "winning-2k/sector-1.vproof"]
    window = [DATA / f"window-2k/v1_2-sector-{i}.vproof" for i in (1, 2)]
    padded = [DATA / "window-2k/v1_2-sector-3.vproof"]

    def test_winning(self):
        key, comm_r = DATA / "winning-2k/winning-2k.vk", json.loads((DATA / "winning-2k/info.json").read_text())["sectors"][0]["comm_r"]
        facts = json.loads(self.cuzk(*self.proving("winning", self.winning), "--json").stdout)
        self.assertEqual((facts["circuit"], facts["partitions"], facts["verified"]), ("winning-2k", 1, True))
        proof = self.dir / "proof"
        self.assertEqual(facts["proof"], proof.read_bytes().hex())
        for p in (proof, DATA / "winning-2k/winning-2k.proof"):
            self.cuzk(*self.verifying(key, p, "winning", "--vanilla", self.winning[0]))
            self.cuzk(*self.verifying(key, p, "winning", "--sector", f"1:{comm_r}"))
        refused = lambda *a, **kw: self.refused("does not verify", *self.verifying(key, proof, "winning", *a, **kw), code=7)
        refused("--sector", f"2:{comm_r}")
        refused("--sector", "1:" + "11" * 32)
        refused("--sector", f"1:{comm_r}", **{"--randomness": "06" * 32})
        for at in (10, 60, 150):
            self.refused("", *self.verifying(key, self.changed(proof, at), "winning", "--sector", f"1:{comm_r}"), code=7)
        self.refused("another circuit", *self.verifying(DATA / "window-2k/window-2k.vk", proof, "winning", "--sector", f"1:{comm_r}"))
        self.refused("field element", *self.verifying(key, proof, "winning", "--sector", "1:" + "ff" * 32))
        self.refused("at most 1", *self.verifying(key, proof, "winning", "--sector", f"1:{comm_r}", "--sector", f"2:{comm_r}"))
        self.refused("--sector wants", *self.verifying(key, proof, "winning", "--sector", "1"))

    def test_window(self):
        key = DATA / "window-2k/window-2k.vk"
        array = self.dir / "array.json"
        array.write_text(json.dumps([base64.b64encode(f.read_bytes()).decode() for f in self.window], indent=1))
        for files in (self.window, [array]):
            self.cuzk(*self.proving("window", files))
            self.cuzk(*self.verifying(key, self.dir / "proof", "window", *(x for f in files for x in ("--vanilla", f))))
        self.cuzk(*self.proving("wpost", self.padded, **{"--partition": 1}))
        golden = (DATA / "window-2k/v1_2.proof").read_bytes()
        (self.dir / "golden").write_bytes(golden[192:])
        for proof in (self.dir / "proof", self.dir / "golden"):
            args = self.verifying(key, proof, "window", "--vanilla", self.padded[0], **{"--partition": 1})
            self.cuzk(*args)
        # The order is proved: the same sectors the other way round are another statement.
        self.cuzk(*self.proving("window", self.window))
        swapped = [x for f in reversed(self.window) for x in ("--vanilla", f)]
        self.refused("does not verify", *self.verifying(key, self.dir / "proof", "window", *swapped), code=7)

    def test_refused_before_parameters(self):
        nothing = {"--params": "/nonexistent.params"}
        for at in (0, 20, 48, 60, 300, 5000, 36800):
            bad = self.changed(self.winning[0], at)
            self.refused("", *self.proving("winning", [bad], **nothing))
        self.refused("the path opens leaf", *self.proving("winning", self.winning, **nothing, **{"--randomness": "06" * 32}))
        self.refused("at most 1", *self.proving("winning", self.winning * 2, **nothing))
        self.refused("at most 2", *self.proving("window", self.window + self.padded, **nothing))
        self.refused("does not exist for kind winning", *self.proving("winning", self.winning, **nothing, **{"--registered-proof": 5}))
        self.refused("vanilla proof 0", *self.proving("winning", self.window[:1], **nothing))
        bad = self.dir / "bad.json"
        text = '["' + base64.b64encode(self.window[0].read_bytes()).decode() + '"]'
        for wrong, part in (("[]", "empty"), (text[:-1], "comma"), (text + "x", "follows"), (text[:-2], "does not end"),
                            (text.replace("A", "*", 1), "not base64"), ("[1]", "in quotes"), ("[", "in quotes")):
            bad.write_text(wrong)
            self.refused(part, *self.proving("window", [bad], **nothing))
        self.refused("/nonexistent.params", *self.proving("winning", self.winning, **nothing))

    def test_other_parameters(self):
        self.refused("", *self.proving("winning", self.winning, **{"--params": next(Path(self.params.name).glob("*0170db*.params"))}))
        self.refused("No such file", *self.proving("snap", [DATA / "snap-2k/partition-0.vproof"]))

    def test_shape(self):
        shape = self.dir / "shape"
        self.cuzk("setup", "--circuit", "winning-2k", "--save-shape", shape)
        facts = json.loads(self.cuzk("inspect", "shape", shape, "--json").stdout)
        self.assertEqual((facts["rows"], facts["aux"], facts["inputs"]), (90750, 91674, 133))
        self.refused("--out DIR or --save-shape", "setup", "--circuit", "winning-2k", code=2)
        self.refused("no circuit is called", "setup", "--circuit", "winning-3k", "--out", self.dir)

    def test_params_check(self):
        text = self.cuzk("params", "check", "--kinds", "wpost,winning", "--sizes", "2KiB", "--dir", self.params.name, code=1)
        self.assertEqual(text.stdout.count("wrong digest"), 4)
        r = self.cuzk("params", "check", "--sizes", "32GiB,64g", "--dir", self.dir, "--json", code=1)
        files = json.loads(r.stdout)["files"]
        self.assertEqual((len(files), {f["state"] for f in files}), (16, {"missing"}))
        self.assertIn(f'16 are missing in "{self.dir}"', r.stderr)
        self.assertIn("missing", self.cuzk("params", "check", "--kinds", "snap", code=1, env={"FIL_PROOFS_PARAMETER_CACHE": "/nowhere"}).stdout)
        self.refused('--kinds does not know "posts"', "params", "check", "--kinds", "posts", code=2)
        self.refused('--sizes does not know "3KiB"', "params", "check", "--sizes", "2KiB,3KiB", code=2)

    def test_inspect(self):
        facts = json.loads(self.cuzk("inspect", "vanilla", self.winning[0], "--json").stdout)
        self.assertEqual((facts["kind"], facts["sector_size"], facts["challenges"]), ("winning", "2KiB", 66))
        facts = json.loads(self.cuzk("inspect", "vanilla", DATA / "snap-2k/partition-0.vproof", "--json").stdout)
        for k in ("comm_r_old", "comm_r_new", "comm_d_new"):
            self.assertEqual(facts[k], COMMITMENTS[k])
        facts = json.loads(self.cuzk("inspect", "vanilla", DATA / "production/window-32g-sector.vproof", "--json").stdout)
        self.assertEqual((facts["kind"], facts["sector_size"]), ("window", "32GiB"))
        self.assertEqual(facts["sector_1"], "df691086e3c673c95a45908713d4c5938e5ced43f21b888bd9bc6e181c9f326b")
        self.refused("do not lead to comm_r_last", "inspect", "vanilla", self.changed(self.winning[0], 100))
        self.refused("comm_r is not the hash", "inspect", "vanilla", self.changed(self.winning[0], 8))
        self.refused("", "inspect", "vanilla", self.changed(DATA / "snap-2k/partition-0.vproof", 9000))
        self.refused("no vanilla proof is", "inspect", "vanilla", DATA / "porep-2k/c1.json")


@unittest.skipIf(SLOW, "the quick part")
class Statements(Kinds):
    """The reference's proofs hold for the public values they were made for; with any one of them changed they are refused."""

    def each(self, kind, vk, proof, good, *changes):
        """good and changes: option -> value, or a list of values."""
        def command(values):
            options = [x for k, v in values.items() for one in (v if isinstance(v, list) else [v]) for x in (k, one)]
            return ["verify", "--allow-test-params", "--kind", kind, "--vk", vk, "--proof", proof, *options]
        self.cuzk(*command(good))
        for change in changes:
            with self.subTest(kind=kind, change=change):
                self.refused("does not verify", *command(good | change), code=7)

    def test_porep(self):
        info = json.loads((DATA / "porep-2k/info.json").read_text())
        good = {"--registered-proof": 5, "--miner-id": 1000, "--sector-num": 1,
                **{f"--{k.replace('_', '-')}": info[k] for k in ("comm_r", "comm_d", "seed", "ticket")}}
        self.each("porep", DATA / "porep-2k/porep-2k.vk", DATA / "porep-2k/porep-2k.proof", good,
                  *({k: "11" * 32} for k in ("--comm-r", "--comm-d", "--seed", "--ticket")),
                  {"--miner-id": 1001}, {"--sector-num": 2}, {"--registered-proof": 0})

    def test_window(self):
        for name, number in (("v1", 5), ("v1_2", 10)):
            info = json.loads((DATA / f"window-2k/{name}.info.json").read_text())
            proofs = (DATA / f"window-2k/{name}.proof").read_bytes()
            for partition in (0, 1):
                proof = self.dir / f"{name}-{partition}"
                proof.write_bytes(proofs[192 * partition:192 * partition + 192])
                sectors = [f"{s['sector']}:{s['comm_r']}" for s in info["sectors"]][2 * partition:2 * partition + 2]
                good = {"--registered-proof": number, "--partition": partition, "--randomness": info["randomness"], "--sector": sectors}
                changes = [{"--randomness": "09" * 32}]
                for i, s in enumerate(sectors):
                    n, comm_r = s.split(":")
                    for other in (f"{int(n) + 7}:{comm_r}", f"{n}:{'11' * 32}"):
                        changes.append({"--sector": sectors[:i] + [other] + sectors[i + 1:]})
                if len(sectors) == 2:
                    changes += [{"--sector": sectors[::-1]}, {"--sector": sectors[:1]}]
                if name == "v1":  # the index of a challenge depends on the partition; not in the later generation
                    changes.append({"--partition": 1 - partition})
                changes.append({"--registered-proof": 15 - number})
                self.each("window", DATA / "window-2k/window-2k.vk", proof, good, *changes)

    def test_winning_and_snap(self):
        info = json.loads((DATA / "winning-2k/info.json").read_text())
        comm_r = info["sectors"][0]["comm_r"]
        good = {"--registered-proof": 0, "--randomness": info["randomness"], "--sector": f"1:{comm_r}"}
        self.each("winning", DATA / "winning-2k/winning-2k.vk", DATA / "winning-2k/winning-2k.proof", good,
                  {"--randomness": "06" * 32}, {"--sector": f"2:{comm_r}"}, {"--sector": f"1:{'11' * 32}"})
        good = {"--registered-proof": 0, **{f"--{k.replace('_', '-')}": v for k, v in COMMITMENTS.items() if k.startswith("comm_")}}
        self.each("snap", DATA / "snap-2k/snap-2k.vk", DATA / "snap-2k/snap-2k.proof", good,
                  *({k: "11" * 32} for k in ("--comm-r-old", "--comm-r-new", "--comm-d-new")))


@unittest.skipIf(SLOW, "the quick part")
class Points(Kinds):
    """params check --subgroup looks at every point of whatever file bears the name; these have three thousand bytes."""
    small = DATA.parent.parent / "fuzz/corpus/params_fuzz/t3.params"
    third_h = 868 + 2 * 96 + 4 + 2 * 96

    def check(self, data, *options):
        name = Path(self.cuzk("params", "path", "--circuit", "winning-2k").stdout.strip()).name
        (self.dir / name).write_bytes(data)
        r = self.cuzk("params", "check", "--kinds", "winning", "--sizes", "2KiB", "--dir", self.dir, *options, "--json", code=1)
        self.text = self.cuzk("params", "check", "--kinds", "winning", "--sizes", "2KiB", "--dir", self.dir, *options, code=1).stdout
        return {f["file"].split(".")[-1]: f for f in json.loads(r.stdout)["files"]}

    def outside(self):
        """A point of the curve of another order: the first x from 1 on that has a y."""
        p = int("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)
        x = next(x for x in range(1, 100) if pow(x ** 3 + 4, (p - 1) // 2, p) == 1)
        return x.to_bytes(48, "big") + pow(x ** 3 + 4, (p + 1) // 4, p).to_bytes(48, "big")

    def test_subgroup(self):
        good = self.small.read_bytes()
        files = self.check(good, "--subgroup")
        self.assertEqual((files["params"]["state"], files["params"]["points"], files["vk"]["state"]), ("wrong digest", "ok", "missing"))
        self.assertIn("every point is on its curve and of the right order", self.text)
        self.assertNotIn("points", self.check(good)["params"])
        bad = good[:self.third_h] + self.outside() + good[self.third_h + 96:]
        file = self.check(bad, "--subgroup")["params"]
        self.assertEqual((file["state"], file["points"]), ("bad points", "bad"))
        self.assertIn("query h, point 2", file["why"])
        self.assertIn("query h, point 2", self.text)
        self.assertNotIn("points", self.check(bad)["params"])
        cut = self.check(good[:-1], "--subgroup")["params"]
        self.assertEqual((cut["state"], cut["points"]), ("bad points", "bad"))


class Fabricating(Kinds):
    def make(self, *args, **kw):
        out = self.dir / "made"
        self.cuzk("fabricate", *args, "--out", out, **kw)
        return out, json.loads((out / "info.json").read_text())

    def digest(self, path):
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def opens(self, *sizes):
        for kind in ("porep", "winning", "window", "snap"):
            for size in sizes:
                out, info = self.make(kind, "--size", size, "--seed", f"open-{size}")
                for c in [info] if "prove" in info else info["proofs"]:
                    r = subprocess.run(["bash", "-c", c["prove"].replace("--params params", "--params /nonexistent.params")], cwd=out,
                                       capture_output=True, text=True, env=self.path())
                    self.assertEqual(r.returncode, 1)
                    self.assertIn("/nonexistent.params", r.stderr)

    def path(self):
        return dict(os.environ, PATH=f"{Path(TOOL).parent}:{os.environ['PATH']}", CUZK_STATE_DIR=str(self.dir / "state"))


@unittest.skipIf(SLOW, "the quick part")
class Fabricate(Fabricating):
    circuits = ("wpost-2k",)

    def test_published(self):
        out, info = self.make("winning", "--size", "32GiB", "--sector-num", 7)
        self.assertEqual(self.digest(out / "sector-7.vproof"), "01f90af55c3040073b42b444bab4e02ddceb5897e1231f99a9f1098c4b73b268")
        self.assertEqual(info["proofs"][0]["sectors"][0]["comm_r"], "36082f186195eccbde4abbbd2dcd49a4d9c287a7ca64871161f25ddf40750a26")
        out, info = self.make("snap", "--size", "2k")
        self.assertEqual(self.digest(out / "partition-0.vproof"), "6e2764ec5d0ae36ca11248c002654c4a9fac680c0ada6de2b579efdec6ef7a13")

    def test_honest(self):
        out, info = self.make("porep", "--size", "2KiB", "--honest")
        self.assertEqual((out / "c1.json").read_bytes(), (DATA / "porep-2k/c1.json").read_bytes())
        self.assertEqual((out / "c1-wrapped.json").read_bytes(), (DATA / "porep-2k/c1-wrapped.json").read_bytes())
        golden = json.loads((DATA / "porep-2k/info.json").read_text())
        for key in ("comm_r", "comm_d", "replica_id", "seed", "ticket"):
            self.assertEqual(info[key], golden[key])

    def test_honest_others(self):
        """The golden sectors: sealed, opened and updated here, they give the reference's bytes."""
        out, info = self.make("winning", "--size", "2KiB", "--honest")
        self.assertEqual((out / "sector-1.vproof").read_bytes(), (DATA / "winning-2k/sector-1.vproof").read_bytes())
        for number, name in ((5, "v1"), (10, "v1_2")):
            out, info = self.make("window", "--sectors", 3, "--registered-proof", number, "--honest")
            for i in (1, 2, 3):
                self.assertEqual((out / f"sector-{i}.vproof").read_bytes(), (DATA / f"window-2k/{name}-sector-{i}.vproof").read_bytes())
        out, info = self.make("snap", "--size", "2KiB", "--honest")
        self.assertEqual((out / "partition-0.vproof").read_bytes(), (DATA / "snap-2k/partition-0.vproof").read_bytes())
        self.assertEqual({k: info[k] for k in ("comm_r_old", "comm_r_new", "comm_d_new")},
                         {k: COMMITMENTS[k] for k in ("comm_r_old", "comm_r_new", "comm_d_new")})
        one, two = (self.make("winning", "--size", "2KiB", "--honest", "--seed", s)[1]["proofs"][0] for s in ("a", "b"))
        self.assertNotEqual(one["randomness"], two["randomness"])
        self.assertNotEqual(one["sectors"], two["sectors"])

    def test_every_kind_opens(self):
        """What is fabricated passes every check of prove, which then only lacks the parameters."""
        self.opens("2KiB", "8MiB")

    def test_commands_of_info(self):
        out, info = self.make("window", "--size", "2KiB", "--sectors", 3, "--registered-proof", 5)
        self.assertEqual([len(p["sectors"]) for p in info["proofs"]], [2, 1])
        for p in info["proofs"]:
            for name in ("prove", "verify"):
                command = p[name].replace("--params params", f"--params {self.params.name}").replace(
                    "--dir params", f"--dir {self.params.name}")
                r = subprocess.run(["bash", "-c", command], cwd=out, capture_output=True, text=True, env=self.path())
                self.assertEqual(r.returncode, 0, f"{command}: {r.stdout}{r.stderr}")

    def test_wrong_use(self):
        out = str(self.dir / "x")
        self.refused("wants a kind", "fabricate", "--out", out, code=2)
        self.refused("needs --size", "fabricate", "porep", "--out", out, code=2)
        self.refused("does not know", "fabricate", "porep", "--size", "3KiB", "--out", out, code=2)
        self.refused("is of 2KiB sectors", "fabricate", "porep", "--size", "8MiB", "--registered-proof", 5, "--out", out, code=2)
        self.refused("has 1 partitions", "fabricate", "porep", "--size", "2KiB", "--partitions", 2, "--out", out, code=2)
        self.refused("at most 8MiB", "fabricate", "porep", "--size", "512MiB", "--honest", "--out", out, code=2)
        self.refused("not both", "fabricate", "window", "--size", "2KiB", "--partitions", 2, "--sectors", 2, "--out", out, code=2)
        self.refused("no sectors", "fabricate", "window", "--size", "2KiB", "--sectors", 0, "--out", out, code=2)
        self.refused("cannot be fabricated", "fabricate", "porep", "--registered-proof", 10, "--out", out)
        self.refused("cannot make folder", "fabricate", "porep", "--size", "2KiB", "--out", "/proc/none/x")
        self.refused("cannot make folder", "fabricate", "porep", "--size", "2KiB", "--out", out + "/a/b")


@unittest.skipUnless(SLOW, "kinds_test.py slow")
class FabricateLarge(Fabricating):
    def test_every_kind_opens(self):
        self.opens("512MiB")


@unittest.skipUnless(SLOW, "kinds_test.py slow")
class SnapDeals(Kinds):
    circuits = ("snap-2k",)

    def test_snap(self):
        key, vanilla = DATA / "snap-2k/snap-2k.vk", DATA / "snap-2k/partition-0.vproof"
        self.assertEqual(key.read_bytes(), next(Path(self.params.name).glob("*.vk")).read_bytes())
        self.cuzk(*self.proving("snap", [vanilla]))
        for proof in (self.dir / "proof", DATA / "snap-2k/snap-2k.proof"):
            self.cuzk(*self.verifying(key, proof, "snap"))
            self.refused("", *self.verifying(key, self.changed(proof, 150), "snap"), code=7)
            for name in ("--comm-r-old", "--comm-r-new", "--comm-d-new"):
                self.refused("does not verify", *self.verifying(key, proof, "snap", **{name: "11" * 32}), code=7)
        for at in (0, 40, 100, 400, 8000, 15000):
            self.refused("", *self.proving("snap", [self.changed(vanilla, at)]))
        self.refused("", *self.proving("snap", [vanilla], **{"--comm-r-new": "11" * 32}))
        self.refused("", *self.proving("snap", [vanilla, vanilla]))


@unittest.skipUnless(SLOW, "kinds_test.py slow")
class PoRep(Kinds):
    def test_fabricated(self):
        """A fabricated 2 KiB sector proves and verifies as a sealed one does."""
        made = self.dir / "made"
        self.cuzk("fabricate", "porep", "--size", "2KiB", "--seed", "x", "--out", made)
        args = ["--c1", made / "c1-wrapped.json", "--miner-id", 1000]
        self.cuzk("prove", *args, "--params", PARAMS, "--allow-test-params", "--output", self.dir / "proof")
        key = PARAMS.removesuffix(".params") + ".vk"
        check = ["verify", "--allow-test-params", "--vk", key, "--proof"]
        self.cuzk(*check, self.dir / "proof", *args)
        self.refused("does not verify", *check, self.dir / "proof", "--c1", DATA / "porep-2k/c1-wrapped.json", "--miner-id", 1000, code=7)


@unittest.skipUnless(SLOW, "kinds_test.py slow")
class Production(Kinds):
    circuits = ("winning-32g", "winning-64g")

    def test_winning(self):
        """Real proofs of production circuits: 370,590 and 391,314 rows."""
        for size, name in (("32GiB", "winning-32g"), ("64GiB", "winning-64g")):
            made = self.dir / name
            self.cuzk("fabricate", "winning", "--size", size, "--sector-num", 7, "--out", made)
            p = json.loads((made / "info.json").read_text())["proofs"][0]
            number = 3 if size == "32GiB" else 4
            change = {"--registered-proof": number, "--randomness": p["randomness"]}
            facts = json.loads(self.cuzk(*self.proving("winning", [made / "vanilla.json"], **change), "--json").stdout)
            print(f"{name}: proved in {facts['prove_seconds']} s, parameters in {facts['parameters_seconds']} s")
            self.assertEqual(facts["circuit"], name)
            key = self.cuzk("params", "path", "--circuit", name, "--dir", self.params.name, "--vk").stdout.strip()
            sector = f"7:{p['sectors'][0]['comm_r']}"
            self.cuzk(*self.verifying(key, self.dir / "proof", "winning", "--sector", sector, **change))
            self.refused("does not verify", *self.verifying(key, self.dir / "proof", "winning", "--sector", sector.replace("7:", "8:"),
                                                            **change), code=7)


if __name__ == "__main__":
    argv = [a for a in sys.argv if a != "slow"]
    if SLOW and not os.path.exists(PARAMS):
        sys.exit(f"CUZK_TEST_PARAMS must name the parameters of porep-2k, not {PARAMS!r}")
    unittest.main(argv=argv, verbosity=1)
