"""Forms of integers: arithmetic, logic, shifts, bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptx_form import Form, count_bits, pairs, signed

TYPES = ("s16", "u16", "s32", "u32", "s64", "u64")


def _wide(type_name: str) -> str:
    return type_name[0] + str(2 * count_bits(type_name))


def _divide(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b)


def _by_zero(bits: int, run: Callable[[int, int], int]) -> Callable[[int, int], int]:
    """The manual leaves division by zero open; all ones are what GPUs are known to give."""
    return lambda a, b: run(a, b) if b % (1 << bits) else -1


def arithmetic() -> Iterator[Form]:
    for t in TYPES:
        bits = count_bits(t)
        three = (t, t, t)
        yield Form(f"add.{t}", t, (t, t), lambda a, b: a + b)
        yield Form(f"sub.{t}", t, (t, t), lambda a, b: a - b)
        yield Form(f"mul.lo.{t}", t, (t, t), lambda a, b: a * b)
        yield Form(f"mul.hi.{t}", t, (t, t), lambda a, b, n=bits: a * b >> n)
        yield Form(f"mad.lo.{t}", t, three, lambda a, b, c: a * b + c)
        yield Form(f"mad.hi.{t}", t, three, lambda a, b, c, n=bits: (a * b >> n) + c)
        yield Form(f"sad.{t}", t, three, lambda a, b, c: c + abs(a - b))
        yield Form(f"div.{t}", t, (t, t), _by_zero(bits, _divide))
        yield Form(f"rem.{t}", t, (t, t), _by_zero(bits, _remainder))
        yield Form(f"min.{t}", t, (t, t), min)
        yield Form(f"max.{t}", t, (t, t), max)
        if t[0] == "s":
            yield Form(f"neg.{t}", t, (t,), lambda a: -a)
            yield Form(f"abs.{t}", t, (t,), abs)
        if bits < 64:
            w = _wide(t)
            yield Form(f"mul.wide.{t}", w, (t, t), lambda a, b: a * b)
            yield Form(f"mad.wide.{t}", w, (t, t, w), lambda a, b, c: a * b + c)
    clamp = lambda value: max(-(2**31), min(2**31 - 1, value))  # noqa: E731
    yield Form("add.sat.s32", "s32", ("s32", "s32"), lambda a, b: clamp(a + b))
    yield Form("sub.sat.s32", "s32", ("s32", "s32"), lambda a, b: clamp(a - b))
    yield Form("mad.hi.sat.s32", "s32", ("s32",) * 3, lambda a, b, c: clamp((a * b >> 32) + c))
    for t, low in (("s32", lambda a: signed(a, 24)), ("u32", lambda a: a & 0xFFFFFF)):
        yield Form(f"mul24.lo.{t}", t, (t, t), lambda a, b, low=low: low(a) * low(b))
        yield Form(f"mul24.hi.{t}", t, (t, t), lambda a, b, low=low: low(a) * low(b) >> 16)
        yield Form(f"mad24.lo.{t}", t, (t, t, t), lambda a, b, c, low=low: low(a) * low(b) + c)
        yield Form(f"mad24.hi.{t}", t, (t, t, t), lambda a, b, c, low=low: (low(a) * low(b) >> 16) + c)
    for t in ("s16x2", "u16x2"):
        yield pairs(f"add.{t}", t, 2, lambda a, b: a + b)
        yield pairs(f"min.{t}", t, 2, min)
        yield pairs(f"max.{t}", t, 2, max)
    for a_type in ("s32", "u32"):
        for b_type in ("s32", "u32"):
            out = "u32" if a_type == b_type == "u32" else "s32"
            for name, run in (("dp4a", _dot4), ("dp2a.lo", _dot2(0)), ("dp2a.hi", _dot2(16))):
                typed = lambda a, b, c, f=run, s=a_type, t=b_type: f(a, b, c, s[0] == "s", t[0] == "s")  # noqa: E731
                yield Form(f"{name}.{a_type}.{b_type}", out, ("u32", "u32", out), typed)


def _field(word: int, at: int, bits: int, is_signed: bool) -> int:
    field = word >> at & ((1 << bits) - 1)
    return signed(field, bits) if is_signed else field


def _dot4(a: int, b: int, c: int, a_signed: bool, b_signed: bool) -> int:
    return c + sum(_field(a, at, 8, a_signed) * _field(b, at, 8, b_signed) for at in (0, 8, 16, 24))


def _dot2(begin: int) -> Callable[[int, int, int, bool, bool], int]:
    def run(a: int, b: int, c: int, a_signed: bool, b_signed: bool) -> int:
        return c + sum(_field(a, 16 * i, 16, a_signed) * _field(b, begin + 8 * i, 8, b_signed) for i in (0, 1))

    return run


def carries() -> Iterator[Form]:
    """Two or three words at once: the first instruction's carry is the second's."""
    for t in ("u32", "s32", "u64", "s64"):
        n = count_bits(t)
        u = f"u{n}"
        top = 1 << n
        chain = "{{ .reg .b{n} %x; {first} %x, %a, %b; {second} %d, %c, %c; }}"
        for op, sign in (("add", 1), ("sub", -1)):
            # The second word of (c:a) +- (c:b).
            text = chain.format(n=n, first=f"{op}.cc.{t}", second=f"{op}c.{t}")
            run = lambda a, b, c, s=sign, m=top: (c * m + a + s * (c * m + b)) // m  # noqa: E731
            yield Form(f"{op}c.{t}", u, (u, u, u), run, text)
            # The carry that leaves the second, as a third word.
            third = f"{{ .reg .b{n} %x; {op}.cc.{t} %x, %a, %b; {op}c.cc.{t} %x, %b, %c; {op}c.{t} %d, 0, 0; }}"
            out = lambda a, b, c, s=sign, m=top: (b * m + a + s * (c * m + b)) // (m * m)  # noqa: E731
            yield Form(f"{op}c.cc.{t}", u, (u, u, u), out, third)
    for n in (32, 64):
        u, top = f"u{n}", 1 << n
        # a * b + (c:c) in two words.
        text = f"{{ .reg .b{n} %x; mad.lo.cc.{u} %x, %a, %b, %c; madc.hi.{u} %d, %a, %b, %c; }}"
        yield Form(f"madc.hi.{u}", u, (u, u, u), lambda a, b, c, m=top: (a * b + c * m + c) // m, text)
        text = f"{{ .reg .b{n} %x; mad.hi.cc.{u} %x, %a, %b, %c; madc.lo.{u} %d, %a, %b, %c; }}"
        run = lambda a, b, c, m=top: a * b + c + (a * b // m + c) // m  # noqa: E731
        yield Form(f"madc.lo.{u}", u, (u, u, u), run, text)


def _reversed(a: int, bits: int) -> int:
    return int(format(a, f"0{bits}b")[::-1], 2)


def _highest(a: int, bits: int) -> int:
    """The most significant bit that differs from the sign's; -1 for none."""
    return (a if a >= 0 else ~a).bit_length() - 1


def _extract(a: int, b: int, c: int, t: str) -> int:
    """bfe as its pseudocode has it: bits beyond the field, or beyond the register, are copies of its last one, or zeros.

    Places and lengths above 255 are undefined: GPUs take the last 8 bits of them for a word, all of them for 64 bits."""
    n = count_bits(t)
    at, length = (b, c) if n == 64 else (b & 255, c & 255)
    word = a & ((1 << n) - 1)
    sign = 0 if length == 0 or t[0] == "u" else word >> min(at + length - 1, n - 1) & 1
    return sum((word >> (at + i) & 1 if i < length and at + i < n else sign) << i for i in range(n))


def _insert(a: int, b: int, c: int, d: int, n: int) -> int:
    out, at = b, c & 255
    for i in range(min(d & 255, n)):
        if at + i < n:
            out = out & ~(1 << (at + i)) | (a >> i & 1) << (at + i)
    return out


def _permuted(a: int, b: int, c: int) -> int:
    data = (b << 32 | a).to_bytes(8, "little")
    out = []
    for i in range(4):
        byte = data[c >> 4 * i & 7]
        out.append((255 if byte & 128 else 0) if c >> 4 * i & 8 else byte)
    return int.from_bytes(bytes(out), "little")


_MODES = {
    "f4e": lambda data, s: [data[(s + i) % 8] for i in range(4)],
    "b4e": lambda data, s: [data[(s - i) % 8] for i in range(4)],
    "rc8": lambda data, s: [data[s]] * 4,
    "ecl": lambda data, s: [data[max(s, i)] for i in range(4)],
    "ecr": lambda data, s: [data[min(s, i)] for i in range(4)],
    "rc16": lambda data, s: [data[2 * (s & 1) + i % 2] for i in range(4)],
}


def bits() -> Iterator[Form]:
    for n in (16, 32, 64):
        b, t = f"b{n}", f"u{n}"
        ones = (1 << n) - 1
        yield Form(f"and.{b}", t, (t, t), lambda a, b: a & b)
        yield Form(f"or.{b}", t, (t, t), lambda a, b: a | b)
        yield Form(f"xor.{b}", t, (t, t), lambda a, b: a ^ b)
        yield Form(f"not.{b}", t, (t,), lambda a, m=ones: a ^ m)
        yield Form(f"cnot.{b}", t, (t,), lambda a: int(a == 0))
        # A shift by more than the width is one by the width.
        yield Form(f"shl.{b}", t, (t, "u32"), lambda a, s, n=n: a << min(s, n))
        for u in (b, t, f"s{n}"):
            operand = "s" + str(n) if u[0] == "s" else t
            yield Form(f"shr.{u}", operand, (operand, "u32"), lambda a, s, n=n: a >> min(s, n))
    for side, wrap in (("l", True), ("l", False), ("r", True), ("r", False)):
        limit = (lambda c: c & 31) if wrap else (lambda c: min(c, 32))
        shift = lambda a, b, c, f=limit, left=side == "l": (  # noqa: E731
            (b << 32 | a) << f(c) >> 32 if left else (b << 32 | a) >> f(c)
        )
        yield Form(f"shf.{side}.{'wrap' if wrap else 'clamp'}.b32", "u32", ("u32",) * 3, shift)
    for n in (32, 64):
        t = f"u{n}"
        yield Form(f"popc.b{n}", "u32", (t,), int.bit_count)
        yield Form(f"clz.b{n}", "u32", (t,), lambda a, n=n: n - a.bit_length())
        yield Form(f"brev.b{n}", t, (t,), lambda a, n=n: _reversed(a, n))
        for s in (t, f"s{n}"):
            yield Form(f"bfind.{s}", "u32", (s,), lambda a, n=n: _highest(a, n))
            shift = lambda a, n=n: -1 if _highest(a, n) < 0 else n - 1 - _highest(a, n)  # noqa: E731
            yield Form(f"bfind.shiftamt.{s}", "u32", (s,), shift)
            yield Form(f"bfe.{s}", s, (s, "u32", "u32"), lambda a, b, c, t=s: _extract(a, b, c, t))
        for at, length in ((0, 8), (5, 7), (n - 3, 9), (255, 255), (3, 0)):
            run = lambda a, b, n=n, c=at, d=length: _insert(a, b, c, d, n)  # noqa: E731
            yield Form(f"bfi.b{n}", t, (t, t), run, f"bfi.b{n} %d, %a, %b, {at}, {length};")
    ones = lambda a, b: ((1 << b) - 1) << a  # noqa: E731
    yield Form("bmsk.clamp.b32", "u32", ("u32", "u32"), lambda a, b: ones(min(a, 32), min(b, 32)))
    yield Form("bmsk.wrap.b32", "u32", ("u32", "u32"), lambda a, b: ones(a & 31, b & 31))
    yield Form("szext.clamp.u32", "u32", ("u32", "u32"), lambda a, b: a & ((1 << min(b, 32)) - 1))
    yield Form("szext.wrap.u32", "u32", ("u32", "u32"), lambda a, b: a & ((1 << (b & 31)) - 1))
    # The sign of a field of no bits is left open: the manual's pseudocode gives zero.
    yield Form("szext.clamp.s32", "s32", ("s32", "u32"), lambda a, b: signed(a, min(b, 32)) if b else 0)
    yield Form("szext.wrap.s32", "s32", ("s32", "u32"), lambda a, b: signed(a, b & 31) if b & 31 else 0)
    yield Form("prmt.b32", "u32", ("u32",) * 3, _permuted)
    for mode, pick in _MODES.items():
        run = lambda a, b, c, f=pick: (  # noqa: E731
            int.from_bytes(bytes(f((b << 32 | a).to_bytes(8, "little"), c & 3)), "little")
        )
        yield Form(f"prmt.b32.{mode}", "u32", ("u32",) * 3, run)
    for table in (0x80, 0x96, 0xE8, 0x1B, 0xCA):
        run = lambda a, b, c, t=table: sum(  # noqa: E731
            (t >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32)
        )
        yield Form("lop3.b32", "u32", ("u32",) * 3, run, f"lop3.b32 %d, %a, %b, %c, {table};")


def moves() -> Iterator[Form]:
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"):
        u = f"u{t[1:]}"
        yield Form(f"mov.{t}", u, (u,), lambda a: a)
    for t in ("f32", "f64"):
        yield Form(f"mov.{t}", t, (t,), lambda a: a)


def forms() -> list[Form]:
    return [*arithmetic(), *carries(), *bits(), *moves()]
