#!/usr/bin/env python3
"""Writes self_test_data.c: the parameter file of the self-test circuit, computed from its definition with Python integers,
independently of the C code. Usage: self_test_generate.py > self_test_data.c"""
import hashlib
import sys

r = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
p = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
ALPHA, BETA, GAMMA, DELTA, TAU = 48577, 22580, 53332, 5481, 3673
G1 = (0x17F1D3A73197D7942695638C4FA9AC0FC3688C4F9774B905A14E3A3F171BAC586C55E83FF97A1AEFFB3AF00ADB22C6BB,
      0x08B3F481E3AAA0F1A09E30ED741D8AE4FCF5E095D5D00AF600DB18CB2C04B3EDD03CC744A2888AE40CAA232946C5E7E1)
G2 = ((0x024AA2B2F08F0A91260805272DC51051C6E47AD4FA403B02B4510B647AE3D1770BAC0326A805BBEFD48056C8C121BDB8,
       0x13E02B6052719F607DACD3A088274F65596BD0D09920B61AB5DA61BBDC7F5049334CF11213945D57E5AC7D055D042B7E),
      (0x0CE5D527727D6E118CC9CDC6DA2E351AADFD9BAA8CBDD3A76D429A695160D12C923AC9CC3BACA289E193548608B82801,
       0x0606C4A02EA734CC32ACD2B02BC28B99CB3E287E85A763AF267492AB572E99AB3F370D275CEC1DA1AAA9075FF05F79BE))


class F:
    """c0 + c1 u in Fp2; G1 uses c1 = 0."""

    def __init__(self, c0, c1=0):
        self.c = (c0 % p, c1 % p)

    def __add__(self, o):
        return F(self.c[0] + o.c[0], self.c[1] + o.c[1])

    def __sub__(self, o):
        return F(self.c[0] - o.c[0], self.c[1] - o.c[1])

    def __mul__(self, o):
        return F(self.c[0] * o.c[0] - self.c[1] * o.c[1], self.c[0] * o.c[1] + self.c[1] * o.c[0])

    def inv(self):
        n = pow(self.c[0] ** 2 + self.c[1] ** 2, -1, p)
        return F(self.c[0] * n, -self.c[1] * n)

    def __eq__(self, o):
        return self.c == o.c


def add(a, b):
    if a is None:
        return b
    if b is None:
        return a
    if a[0] == b[0]:
        if not a[1] == b[1]:
            return None
        slope = F(3) * a[0] * a[0] * (F(2) * a[1]).inv()
    else:
        slope = (b[1] - a[1]) * (b[0] - a[0]).inv()
    x = slope * slope - a[0] - b[0]
    return (x, slope * (a[0] - x) - a[1])


def mul(k, point):
    out = None
    for bit in bin(k % r)[2:]:
        out = add(out, out) if out is not None else None
        if bit == "1":
            out = add(out, point)
    return out


def g1(k):
    x, y = mul(k, (F(G1[0]), F(G1[1])))
    return x.c[0].to_bytes(48, "big") + y.c[0].to_bytes(48, "big")


def g2(k):
    x, y = mul(k, (F(*G2[0]), F(*G2[1])))
    return b"".join(v.to_bytes(48, "big") for v in (x.c[1], x.c[0], y.c[1], y.c[0]))


m = 8
omega = pow(7, (r - 1) // m, r)
z = (pow(TAU, m, r) - 1) % r
lagrange = [z * pow(m, -1, r) * pow(omega, k, r) * pow(TAU - pow(omega, k, r), -1, r) % r for k in range(m)]
# Variables: ONE, out, a, b. Rows (1-a)a=0, (1-b)b=0, 2a*b=a+b-out, ONE*0=0, out*0=0.
A = [{0: 1, 2: -1}, {0: 1, 3: -1}, {2: 2}, {0: 1}, {1: 1}]
B = [{2: 1}, {3: 1}, {3: 1}, {}, {}]
C = [{}, {}, {2: 1, 3: 1, 1: -1}, {}, {}]
at, bt, ct = ([sum(row.get(v, 0) * lagrange[k] for k, row in enumerate(M)) % r for v in range(4)] for M in (A, B, C))
ext = [(BETA * at[v] + ALPHA * bt[v] + ct[v]) * pow(GAMMA if v < 2 else DELTA, -1, r) % r for v in range(4)]


def array(points):
    return len(points).to_bytes(4, "big") + b"".join(points)


data = g1(ALPHA) + g1(BETA) + g2(BETA) + g2(GAMMA) + g1(DELTA) + g2(DELTA) + array([g1(ext[0]), g1(ext[1])])
data += array([g1(pow(TAU, i, r) * z * pow(DELTA, -1, r)) for i in range(m - 1)])
data += array([g1(ext[2]), g1(ext[3])])
data += array([g1(v) for v in at if v])
data += array([g1(v) for v in bt if v])
data += array([g2(v) for v in bt if v])
assert hashlib.sha256(data).hexdigest() == "f325c818d6a46e6b3be79d2142d3587b34c9a780e000da5f1d6820b373cd6950"
PROOF = bytes.fromhex(
    "8436964be148cb27c63afecd109cce219f8d4a94f61005fbacc727cfeab65a7641dc4a1facbd72e7ebef116c512fb6b2"
    "8de6ee64574c9e2a542db1b71f5b639dfbd1b510ad4ab11df91b55682bcd0284215de0b6591ee532bd2a9f9f39daf8b4"
    "00a8832abdb511b3d8587de7ecd138129cd2b03adc430f7338b1a1b66ee909c7610cd1624a9be84aeb54c58414933a12"
    "96e1eac5738576be5c6410ded96b1ced85219650ded2dd7cbdfffea7f7d4a0341f2f8ce4e143ef2cdb6bd9b4653fd1be")


def emit(name, blob):
    sys.stdout.write(f"const uint8_t {name}[{len(blob)}] = {{\n")
    for i in range(0, len(blob), 16):
        sys.stdout.write("    " + ", ".join(f"0x{x:02x}" for x in blob[i:i + 16]) + ",\n")
    sys.stdout.write("};\n")


print("/* Written by self_test_generate.py: the parameter file and the proof of the self-test circuit. */")
print('#include "device/self_test.h"\n\n/* clang-format off */')
emit("SELF_TEST_PARAMS", data)
emit("SELF_TEST_PROOF", PROOF)
print("/* clang-format on */")
