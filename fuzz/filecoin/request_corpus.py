#!/usr/bin/env python3
"""Makes the seeds of request_fuzz from tests/data; the form is described in request_fuzz.c."""
import json
import struct
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent
data = root / "tests" / "data"
out = root / "fuzz" / "corpus" / "request_fuzz"
POREP, WINNING, WINDOW, SNAP = range(4)


def seed(name, kind, number, files, randomness=bytes(32), partition=0, commitments=(bytes(32),) * 3, sector=1):
    parts = [bytes([kind, number, partition, len(files)]), struct.pack("<Q", sector), randomness, *commitments]
    for file in files:
        text = (data / file).read_bytes()
        parts += [struct.pack("<I", len(text)), text]
    (out / name).write_bytes(b"".join(parts))


out.mkdir(parents=True, exist_ok=True)
info = json.loads((data / "snap-2k/info.json").read_text())
seed("porep-2k", POREP, 5, ["porep-2k/c1.json"])
seed("winning-2k", WINNING, 0, ["winning-2k/sector-1.vproof"], bytes([7]) * 32)
seed("window-2k", WINDOW, 5, ["window-2k/v1-sector-1.vproof", "window-2k/v1-sector-2.vproof"], bytes([8]) * 32)
seed("window-2k-1", WINDOW, 5, ["window-2k/v1-sector-3.vproof"], bytes([8]) * 32, 1)
seed("window-2k-v1_2", WINDOW, 10, ["window-2k/v1_2-sector-1.vproof"], bytes([8]) * 32)
seed("window-32g", WINDOW, 13, ["production/window-32g-sector.vproof"])
seed("snap-2k", SNAP, 0, ["snap-2k/partition-0.vproof"],
     commitments=[bytes.fromhex(info[key]) for key in ("comm_r_old", "comm_r_new", "comm_d_new")])
