#!/usr/bin/env python3
"""Known answers for field/: Python integers and polynomials only, no code shared with the library.

    tests/field/make_vectors.py > tests/data/field/vectors.txt

One case a line: operation, inputs, "=", outputs; numbers are canonical integers in hexadecimal. Elements of
Fp2 are two numbers (c0 c1), of Fp12 twelve, by rising powers of w with w^6 = 1 + u.
"""
import random

P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
rng = random.Random("cuzk field vectors 1")


def line(name, inputs, outputs):
    print(name, *("%x" % x for x in inputs), "=", *("%x" % x for x in outputs))


def edge_values(m):
    n = (m.bit_length() + 63) // 64
    radix = 1 << (64 * n)
    return [0, 1, 2, m - 1, m - 2, (m - 1) // 2, (m + 1) // 2, radix % m, radix * radix % m,
            pow(radix, -1, m), (1 << 64) - 1, 1 << 64, (1 << (m.bit_length() - 1)) - 1]


def some(m):
    return rng.randrange(m) if rng.random() < 0.8 else rng.choice(edge_values(m))


def prime_field(name, m, pairs):
    edges = edge_values(m)
    todo = [(a, b) for a in edges for b in edges] + [(rng.randrange(m), rng.randrange(m)) for _ in range(pairs)]
    for a, b in todo:
        line(name + "_mul", [a, b], [a * b % m])
        line(name + "_add", [a, b], [(a + b) % m])
        line(name + "_sub", [a, b], [(a - b) % m])
    for a in edges + [rng.randrange(m) for _ in range(pairs)]:
        line(name + "_sqr", [a], [a * a % m])
        line(name + "_inv", [a], [pow(a, -1, m) if a else 0])
        e = rng.randrange(1 << 64)
        line(name + "_pow", [a, e], [pow(a, e, m)])


def add2(a, b):
    return ((a[0] + b[0]) % P, (a[1] + b[1]) % P)


def mul2(a, b):
    return ((a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P)


def mul12(a, b):
    out = [(0, 0)] * 6
    for i in range(6):
        for j in range(6):
            t = mul2(a[i], b[j])
            if i + j >= 6:
                t = mul2(t, (1, 1))
            out[(i + j) % 6] = add2(out[(i + j) % 6], t)
    return out


def pow12(a, e):
    out = [(1, 0)] + [(0, 0)] * 5
    for bit in bin(e)[2:]:
        out = mul12(out, out)
        if bit == "1":
            out = mul12(out, a)
    return out


def inverse_by_norm(a):
    """1/a = (product of the other five conjugates over Fp2) / norm, w -> zeta w for zeta^6 = 1 in Fp2."""
    half = next(g for g in range(2, 50) if pow(g, (P - 1) // 2, P) != 1 and pow(g, (P - 1) // 3, P) != 1)
    zeta = pow(half, (P - 1) // 6, P)
    others = [(1, 0)] + [(0, 0)] * 5
    for k in range(1, 6):
        conjugate = [mul2(a[i], (pow(zeta, i * k, P), 0)) for i in range(6)]
        others = mul12(others, conjugate)
    norm = mul12(a, others)
    assert all(c == (0, 0) for c in norm[1:])
    d = pow(norm[0][0] ** 2 + norm[0][1] ** 2, -1, P)
    inverse = (norm[0][0] * d % P, -norm[0][1] * d % P)
    return [mul2(c, inverse) for c in others]


def flat(a):
    return [x for c in a for x in c]


def tower():
    for _ in range(60):
        a, b = (some(P), some(P)), (some(P), some(P))
        line("fp2_mul", a + b, mul2(a, b))
        line("fp2_sqr", a, mul2(a, a))
        n = (a[0] ** 2 + a[1] ** 2) % P
        d = pow(n, -1, P) if n else 0
        line("fp2_inv", a, (a[0] * d % P, -a[1] * d % P))
    for k in range(12):
        a = [(some(P), some(P)) for _ in range(6)]
        b = [(some(P), some(P)) for _ in range(6)]
        line("fp12_mul", flat(a) + flat(b), flat(mul12(a, b)))
        line("fp12_sqr", flat(a), flat(mul12(a, a)))
        line("fp12_inv", flat(a), flat(inverse_by_norm(a)))
        if k < 3:
            power = k + 1
            line("fp12_frobenius", [power] + flat(a), flat(pow12(a, P**power)))


print("# made by tests/field/make_vectors.py")
prime_field("fr", R, 80)
prime_field("fp", P, 80)
for order in range(33):
    line("fr_root", [order], [pow(7, (R - 1) >> order, R)])
for x in edge_values(P) + [rng.randrange(P) for _ in range(60)]:
    square = pow(x, (P - 1) // 2, P) != P - 1
    root = pow(x, (P + 1) // 4, P) if square else 0
    line("fp_sqrt", [x], [int(square), min(root, P - root) if root else 0])
for _ in range(40):
    length = rng.randrange(65)
    value = rng.randrange(256**length) if length else 0
    line("fr_reduce", [length, value], [value % R])
tower()
