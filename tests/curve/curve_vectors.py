#!/usr/bin/env python3
"""Prints tests/curve/curve_vectors.h: known answers for points, encodings and the pairing of BLS12-381.

Independent of the library on purpose: affine textbook formulas on Python integers, no endomorphism, no
windows, the pairing's final exponentiation as one plain power. Run: curve_vectors.py > curve_vectors.h"""

import hashlib

P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
Z = 0xD201000000010000  # minus the curve parameter
H1 = 0x396C8C005555E1568C00AAAB0000AAAB
H2 = 0x5D543A95414E7F1091D50792876A202CD91DE4547085ABAA68A205B2E5A7DDFA628F1CB4D9E82EF21537E293A6691AE1616EC6E786F0C70CF1C38E31C7238E5


class Fp2:
    def __init__(self, a, b=0):
        self.a, self.b = a % P, b % P

    def __add__(self, o):
        return Fp2(self.a + o.a, self.b + o.b)

    def __sub__(self, o):
        return Fp2(self.a - o.a, self.b - o.b)

    def __neg__(self):
        return Fp2(-self.a, -self.b)

    def __mul__(self, o):
        return Fp2(self.a * o.a - self.b * o.b, self.a * o.b + self.b * o.a)

    def __eq__(self, o):
        return (self.a, self.b) == (o.a, o.b)

    def inverse(self):
        n = pow(self.a * self.a + self.b * self.b, P - 2, P)
        return Fp2(self.a * n, -self.b * n)

    def power(self, e):
        out, base = Fp2(1), self
        while e:
            if e & 1:
                out = out * base
            base, e = base * base, e >> 1
        return out

    def root(self):
        """Any square root, by p^2 = 9 mod 16: a candidate times one of the eighth roots of unity."""
        c = self.power((P * P + 7) // 16)
        i = Fp2(1, 1).power((P * P - 1) // 8)
        for _ in range(8):
            if c * c == self:
                return c
            c = c * i
        return None

    def large(self):
        return (self.b if self.b else self.a) > (P - 1) // 2

    def bytes(self):
        return self.b.to_bytes(48, "big") + self.a.to_bytes(48, "big")


def root_fp(v):
    c = pow(v, (P + 1) // 4, P)
    return c if c * c % P == v % P else None


def add(p, q):
    if p is None:
        return q
    if q is None:
        return p
    if p[0] == q[0]:
        if not p[1] == q[1]:
            return None
        m = Fp2(3) * p[0] * p[0] * (p[1] + p[1]).inverse()
    else:
        m = (q[1] - p[1]) * (q[0] - p[0]).inverse()
    x = m * m - p[0] - q[0]
    return x, m * (p[0] - x) - p[1]


def mul(k, p):
    out = None
    while k:
        if k & 1:
            out = add(out, p)
        p, k = add(p, p), k >> 1
    return out


def coordinate(v, size):
    return v.a.to_bytes(48, "big") if size == 48 else v.b.to_bytes(48, "big") + v.a.to_bytes(48, "big")


def uncompressed(p, size):
    return bytes([0x40]) + bytes(2 * size - 1) if p is None else coordinate(p[0], size) + coordinate(p[1], size)


def compressed(p, size):
    if p is None:
        return bytes([0xC0]) + bytes(size - 1)
    out = bytearray(coordinate(p[0], size))
    out[0] |= 0x80 | (0x20 if p[1].large() else 0)
    return bytes(out)


G1 = (
    Fp2(0x17F1D3A73197D7942695638C4FA9AC0FC3688C4F9774B905A14E3A3F171BAC586C55E83FF97A1AEFFB3AF00ADB22C6BB),
    Fp2(0x08B3F481E3AAA0F1A09E30ED741D8AE4FCF5E095D5D00AF600DB18CB2C04B3EDD03CC744A2888AE40CAA232946C5E7E1),
)
G2 = (
    Fp2(
        0x024AA2B2F08F0A91260805272DC51051C6E47AD4FA403B02B4510B647AE3D1770BAC0326A805BBEFD48056C8C121BDB8,
        0x13E02B6052719F607DACD3A088274F65596BD0D09920B61AB5DA61BBDC7F5049334CF11213945D57E5AC7D055D042B7E,
    ),
    Fp2(
        0x0CE5D527727D6E118CC9CDC6DA2E351AADFD9BAA8CBDD3A76D429A695160D12C923AC9CC3BACA289E193548608B82801,
        0x0606C4A02EA734CC32ACD2B02BC28B99CB3E287E85A763AF267492AB572E99AB3F370D275CEC1DA1AAA9075FF05F79BE,
    ),
)


def curve_point(size, x):
    """The first point at or after x; on the whole curve, so almost surely outside the subgroup."""
    while True:
        if size == 48:
            y = root_fp(x**3 + 4)
            y = None if y is None else Fp2(y)
            px = Fp2(x)
        else:
            px = Fp2(x, 1)
            y = (px * px * px + Fp2(4, 4)).root()
        if y is not None:
            return px, y
        x += 1


def order_exactly(size, cofactor, prime):
    """A point of prime order dividing the cofactor."""
    rest = cofactor * R
    while rest % prime == 0:
        rest //= prime
    x = 1
    while True:
        base = curve_point(size, x)
        p = mul(rest, base)
        if p is not None:
            break
        x = base[0].a + 1
    while mul(prime, p) is not None:
        p = mul(prime, p)
    return p


def cube_root(c):
    k, t = 0, P * P - 1
    while t % 3 == 0:
        k, t = k + 1, t // 3
    if not c.power((P * P - 1) // 3) == Fp2(1):
        return None
    x = c.power(pow(3, -1, t))  # right up to a 3^k-th root of unity
    a = 1
    while Fp2(a, 1).power((P * P - 1) // 3) == Fp2(1):
        a += 1
    zeta = Fp2(a, 1).power(t)
    for _ in range(3**k):
        if x * x * x == c:
            return x
        x = x * zeta
    return None


def special_y(imaginary):
    """A point of the whole twist whose y lies in Fp, or in u Fp."""
    i = 1
    while True:
        y = Fp2(0, i) if imaginary else Fp2(i)
        x = cube_root(y * y - Fp2(4, 4))
        if x is not None:
            return x, y
        i += 1


# Fp12 as Fp2[w]/(w^6 - (1+u)): six coefficients.
def mul12(a, b):
    t = [Fp2(0) for _ in range(11)]
    for i in range(6):
        for j in range(6):
            t[i + j] = t[i + j] + a[i] * b[j]
    return [t[i] + (t[i + 6] * Fp2(1, 1) if i < 5 else Fp2(0)) for i in range(6)]


def power12(a, e):
    out = None
    for bit in bin(e)[2:]:
        if out is not None:
            out = mul12(out, out)
        if bit == "1":
            out = a if out is None else mul12(out, a)
    return out


def line(m, t, p):
    """The line of slope m through t on the twist, at p, times w^3."""
    return [m * t[0] - t[1], Fp2(0), -(m * p[0]), p[1], Fp2(0), Fp2(0)]


def pairing_cubed(p, q):
    f, t = None, q
    for bit in bin(Z)[3:]:
        m = Fp2(3) * t[0] * t[0] * (t[1] + t[1]).inverse()
        f = line(m, t, p) if f is None else mul12(mul12(f, f), line(m, t, p))
        t = add(t, t)
        if bit == "1":
            f = mul12(f, line((t[1] - q[1]) * (t[0] - q[0]).inverse(), t, p))
            t = add(t, q)
    f = [c if i % 2 == 0 else -c for i, c in enumerate(f)]  # z < 0: power p^6
    return power12(f, 3 * (P**12 - 1) // R)


def t1_input_exponent():
    """Exponent of gamma * (public input sum) of the vector T1: one row x0 x1 = in1, inputs 1 and 35."""
    beta, tau = 22580, 3673
    w = pow(0x16A2A19EDFE81F20D09B681922C813B4B63683508C2280B93829971F439F0D2B, 2**30, R)

    def lagrange(k):
        return (pow(tau, 4, R) - 1) * pow(w, k, R) % R * pow(4 * (tau - pow(w, k, R)), R - 2, R) % R

    return (beta * (lagrange(1) + 35 * lagrange(2)) + 35 * lagrange(0)) % R


def c_bytes(data):
    rows = [data[i : i + 48].hex() for i in range(0, len(data), 48)]
    return "\n     ".join('"%s"' % row for row in rows)


def c_limbs(k, n=4):
    return "{" + ", ".join("UINT64_C(0x%016x)" % (k >> 64 * i & 2**64 - 1) for i in range(n)) + "}"


def scalar(name):
    return int.from_bytes(hashlib.sha512(name.encode()).digest(), "little") % R


def main():
    print("/* Known answers of BLS12-381; printed by curve_vectors.py. */")
    print("#include <stdint.h>\n")
    scalars = [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, Z - 1, Z, Z + 1, Z * Z - 2, Z * Z - 1, Z * Z, Z**3, 2**128 - 1]
    scalars += [2**128, 2**254, R - Z, R - 2, R - 1, R // 2, scalar("curve 1"), scalar("curve 2")]
    print("struct multiple {\n    uint64_t scalar[4];\n    const char *g1, *g2; /* compressed */\n};")
    print("static const struct multiple MULTIPLES[] = {")
    for k in scalars:
        print("    {%s,\n     %s,\n     %s}," % (c_limbs(k), c_bytes(compressed(mul(k, G1), 48)), c_bytes(compressed(mul(k, G2), 96))))
    print("};\n")
    for name, g, size in (("G1", G1, 48), ("G2", G2, 96)):
        k = scalar("uncompressed")
        print("static const char %s_UNCOMPRESSED[] =\n     %s;\n" % (name, c_bytes(uncompressed(mul(k, g), size))))
    print("static const uint64_t UNCOMPRESSED_SCALAR[4] = %s;\n" % c_limbs(scalar("uncompressed")))

    for name, g, size, h, primes in (("G1", G1, 48, H1, (11, 10177)), ("G2", G2, 96, H2, (13, 23))):
        any_point = curve_point(size, 3)
        small = [order_exactly(size, h, q) for q in primes]
        outside = [any_point, mul(R, any_point)] + small + [add(s, mul(scalar("shift"), g)) for s in small]
        assert mul(h * R, any_point) is None and mul(R, any_point) is not None
        print("/* On the curve and not of order r: any point, one of order dividing the cofactor, of orders %d and %d," % primes)
        print(" * and the last two shifted by a point of order r. */")
        print("static const char *const %s_OUTSIDE[] = {" % name)
        for p in outside:
            print("    %s," % c_bytes(uncompressed(p, size)))
        print("};\n")
        print("/* The first of them times the cofactor. */")
        print("static const char %s_CLEARED[] =\n     %s;\n" % (name, c_bytes(compressed(mul(h, any_point), size))))
        n = (h.bit_length() + 63) // 64
        print("static const uint64_t %s_COFACTOR[%d] = %s;\n" % (name, n, c_limbs(h, n)))

    print("/* Points of G2 with y in Fp, -y, y in u Fp, -y: uncompressed and compressed. */")
    print("static const char *const G2_SPECIAL_Y[4][2] = {")
    for imaginary in (False, True):
        x, y = special_y(imaginary)
        for p in ((x, y), (x, -y)):
            print("    {%s,\n     %s}," % (c_bytes(uncompressed(p, 96)), c_bytes(compressed(p, 96))))
    print("};\n")

    a, b = scalar("pairing a"), scalar("pairing b")
    value = pairing_cubed(mul(a, G1), mul(b, G2))
    print("/* e(aG, bH)^3: coefficients of w^0 .. w^5, each c1 then c0. */")
    print("static const uint64_t PAIRING_A[4] = %s;" % c_limbs(a))
    print("static const uint64_t PAIRING_B[4] = %s;" % c_limbs(b))
    print("static const char *const PAIRING_VALUE[6] = {")
    for c in value:
        print("    %s," % c_bytes(c.bytes()))
    print("};\n")
    print("static const uint64_t T1_INPUT_EXPONENT[4] = %s;" % c_limbs(t1_input_exponent()))


if __name__ == "__main__":
    main()
