#!/usr/bin/env python3
"""What the README, the pages under docs/ and the manual say can be typed: every command names a program that exists, with
options that it has, and every file they point to is there. A command of a kind that this test does not know fails it: then
it needs a rule here. `readme_test.py prove` types the README's commands for a sector, word for word, and needs
CUZK_TEST_PARAMS (`cuzk setup` made them: half a minute that is not spent twice)."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = {name: os.environ.get(variable, "") for name, variable in
            (("cuzk", "CUZK_TEST_TOOL"), ("cuzk-daemon", "CUZK_TEST_DAEMON"), ("cuzk-bench", "CUZK_TEST_BENCH"))}
# Of other projects or of the system: what they do is not ours to test. cc and cmake --install: tests/api/install_test.
FOREIGN = {"cc", "cd", "cmake", "curio", "grpcurl", "sh", "systemctl"}


def joined(lines):
    """Lines with those that end in a backslash joined to the next."""
    return re.sub(r"\\\n\s*", " ", "\n".join(lines)).split("\n")


def commands_of_page(path):
    """(line number, command) of each shell block's line and each code span that is a command."""
    found, block, number, fence = [], [], 0, None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("```"):
            if fence in ("", "sh"):
                found += [(number, command) for command in joined(block)]
            fence, block = (line[3:].strip(), []) if fence is None else (None, [])
        elif fence is not None:
            block.append(line)
        else:
            for span in re.findall(r"`([^`]+)`", line):
                word = span.split()[0] if span.split() else ""
                if re.match(r"cuzk(-bench)? \w|cuzk-daemon -", span) or word.startswith("tools/") or word in FOREIGN and " " in span:
                    found.append((number, span))
    return [(n, re.sub(r"\s+#.*", "", c).strip()) for n, c in found if c.strip()]


def commands_of_manual(path):
    text = path.read_text()
    blocks = re.findall(r"^\.nf\n(.*?)^\.fi", text[text.find(".SH EXAMPLE"):] if ".SH EXAMPLE" in text else "", re.M | re.S)
    return [(0, c.strip()) for block in blocks for c in joined(block.replace("\\e\n", "\\\n").split("\n")) if c.strip()]


def all_commands():
    for page in PAGES:
        for number, command in commands_of_page(page):
            yield f"{page.relative_to(ROOT)}:{number}", command
    for page in sorted((ROOT / "man").glob("*.1")):
        for _, command in commands_of_manual(page):
            yield str(page.relative_to(ROOT)), command


def options_of(words):
    return [w.split("=")[0] for w in words if re.match(r"^--?[a-z]", w)]


class Commands(unittest.TestCase):
    def help_text(self, program, subcommand):
        """Help of a program or one of its commands; where the program is not built (an option of the build), its manual."""
        if not PROGRAMS[program]:
            return (ROOT / "man" / f"{program}.1").read_text().replace("\\-", "-")
        r = subprocess.run([PROGRAMS[program], *subcommand, "--help"], capture_output=True, text=True, timeout=60)
        self.assertEqual(r.returncode, 0, f"{program} {subcommand} --help: {r.stderr}")
        return r.stdout

    def check_ours(self, program, words):
        subcommand = words[:1] if words and not words[0].startswith("-") else []
        text = self.help_text(program, subcommand)
        own, rest = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
        for option in options_of(own):
            self.assertRegex(text, rf"(?<![\w-]){re.escape(option)}(?![\w-])", f"{program} has no option {option}")
        for alternatives in (w for w in own[1:2] if "|" in w):
            for word in alternatives.split("|"):
                self.assertIn(word, text)
        if rest and rest[0].startswith("-"): # of sweep and stress: options of a batch
            self.check_ours(program, ["batch", *rest])
        elif rest:
            self.check(rest)

    def check(self, words):
        program, words = words[0], words[1:]
        if program in PROGRAMS:
            self.check_ours(program, words)
        elif program.startswith("tools/"):
            script = ROOT / program
            self.assertTrue(os.access(script, os.X_OK), f"{program} cannot be run")
            for option in options_of(words):
                self.assertIn(option, script.read_text(), f"{program} has no option {option}")
        elif program == "man":
            self.assertTrue(list((ROOT / "man").glob(words[0] + ".[0-9]")), f"there is no manual page {words[0]}")
        elif program == "ctest" or program == "ninja" or program in FOREIGN:
            pass
        else:
            self.fail(f"no rule in {Path(__file__).name} for {program}")

    def test_every_command(self):
        seen = list(all_commands())
        self.assertGreater(len(seen), 12)
        for where, command in seen:
            with self.subTest(where=where, command=command):
                self.check(shlex.split(command))

    def test_every_file(self):
        folders = {p.name for p in ROOT.iterdir() if p.is_dir()} | {p.name for p in (ROOT / "src").iterdir()}
        for page in PAGES:
            for span in re.findall(r"`([\w.-]+/[\w./*-]*)`", page.read_text()):
                if span.split("/")[0] in folders and not span.startswith("build/"):
                    with self.subTest(page=page.name, path=span):
                        self.assertTrue(any(any(base.glob(span.rstrip("/"))) for base in (ROOT, ROOT / "src", ROOT / "src/device")),
                                        f"{span} does not exist")

    def test_scripts_parse(self):
        for script in (ROOT / "tools").iterdir():
            shell = re.match(r"#!.*\b(bash|sh)\b", script.read_text().split("\n")[0])
            if shell:
                subprocess.run([shell.group(1), "-n", script], check=True, timeout=60)


class Prove(unittest.TestCase):
    def test_sector(self):
        """setup's line is checked above; prove and verify run as they stand, on a fresh folder."""
        params = Path(os.environ["CUZK_TEST_PARAMS"])
        data = Path(os.environ["CUZK_TEST_DATA"]) / "porep-2k"
        typed = [shlex.split(c) for _, c in commands_of_page(ROOT / "README.md") if re.match(r"cuzk (prove|verify|inspect) ", c)]
        typed = [c for c in typed if "--c1" in c or "inspect" in c]
        self.assertEqual([c[1] for c in typed], ["prove", "verify", "inspect"])
        with tempfile.TemporaryDirectory() as folder:
            proof = str(Path(folder) / "proof")
            for command in typed:
                command = [PROGRAMS["cuzk"], *command[1:]]
                if command[1] == "inspect":
                    command = [*command[:2], "proof", proof]
                for option, value in (("--c1", data / "c1.json"), ("--params", params.parent), ("--vk", params.with_suffix(".vk")),
                                      ("--output", proof), ("--proof", proof)):
                    if option in command:
                        command[command.index(option) + 1] = str(value)
                r = subprocess.run(command, capture_output=True, text=True, timeout=600)
                self.assertEqual(r.returncode, 0, f"{command}: {r.stdout}{r.stderr}")
            self.assertEqual(Path(proof).stat().st_size, 192)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "Prove" if sys.argv[1:] == ["prove"] else "Commands"], verbosity=1)
