#!/usr/bin/env python3
"""Writes manifest.c from the published parameter manifest: manifest_generate.py params-manifest.json > manifest.c"""
import json
import sys

entries = json.load(open(sys.argv[1]))
print("/* The published parameter files. Made by manifest_generate.py; do not edit. */")
print("/* clang-format off */")
print('#include "filecoin/registry.h"\n')
print("const struct manifest_entry MANIFEST[] = {")
for name in sorted(entries):
    digest = bytes.fromhex(entries[name]["digest"])
    assert len(digest) == 16
    print('    {"%s",\n     {%s}, UINT64_C(%d)},' % (
        name, ", ".join("0x%02x" % b for b in digest), entries[name]["sector_size"]))
print("};")
print("const size_t MANIFEST_COUNT = sizeof MANIFEST / sizeof MANIFEST[0];")
