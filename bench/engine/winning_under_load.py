#!/usr/bin/env python3
"""How long a WinningPoSt of 2 KiB takes when nothing else runs, and while ten PoRep jobs do: the bar is p95 at most twice the idle
time and 250 ms. Not a test: it asserts no time.

    winning_under_load.py --build FOLDER --params FOLDER [--samples N]

FOLDER of --params holds porep-2k and winning-2k (cuzk setup makes them)."""
import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(p * len(values)))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--params", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=100)
    options = parser.parse_args()
    programs = options.build / "src/cmd"
    bench = programs / "bench/cuzk-bench"
    folder = Path(tempfile.mkdtemp(prefix="cuzk-w-"))
    config = folder / "cuzk.toml"
    config.write_text(f"""[daemon]
listen = "unix://{folder}/s"
state_dir = "{folder}/state"
[srs]
param_cache = "{options.params.resolve()}"
allow_test_params = true
preload = ["winning-2k", "porep-2k"]
[logging]
file = "{folder}/log"
""")
    info = json.loads((DATA / "winning-2k/info.json").read_text())
    winning = ["-t", "winning", "--registered-proof", "0", "--miner-id", str(info["miner"]), "--randomness", info["randomness"],
               "--vanilla", str(DATA / "winning-2k/sector-1.vproof")]
    info = json.loads((DATA / "porep-2k/info.json").read_text())
    porep = ["-t", "porep", "--c1", str(DATA / "porep-2k/c1-wrapped.json"), "--sector-num", str(info["sector"]),
             "--miner-id", str(info["miner"])]
    subprocess.run([bench, "wait", "--", programs / "daemon/cuzk-daemon", "-c", config], check=True, stdout=subprocess.DEVNULL)
    try:
        def sample(n):
            out = []
            for _ in range(n):
                r = subprocess.run([bench, "single", "--config", config, *winning, "--json"], check=True, capture_output=True, text=True)
                out.append(1000 * json.loads(r.stdout)["seconds"])
            return out

        idle = sample(min(20, options.samples))
        load = subprocess.Popen([bench, "batch", "--config", config, *porep, "-c", "10", "-j", "10"], stdout=subprocess.DEVNULL)
        time.sleep(2)
        busy = []
        while len(busy) < options.samples and load.poll() is None:
            busy += sample(1)
        beside = load.poll() is None
        load.kill()
        bar = 2 * percentile(idle, 0.5) + 250
        print(f"idle: p50 {percentile(idle, 0.5):.0f} ms, p95 {percentile(idle, 0.95):.0f} ms of {len(idle)}")
        print(f"beside ten PoReps{'' if beside else ' (which ended first)'}: p50 {percentile(busy, 0.5):.0f} ms, "
              f"p95 {percentile(busy, 0.95):.0f} ms of {len(busy)}; bar {bar:.0f} ms")
    finally:
        subprocess.run([bench, "stop", "--config", config], stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
