"""Names that nothing declares: misspelt ones of Kernpack's, and those of the standard library whose header isn't included."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from . import headers
from .blocks import HEAD, find_errors, find_place, where
from .sources import read_line, read_lines

_OPEN, _CLOSE = "[\u2018'\"]", "[\u2019'\"]"
_KP = r"(?:kp|kernpack(?:::v\d+\w*)?)"
_UNKNOWN = [  # of Kernpack's namespace
    re.compile(pattern)
    for pattern in (
        rf"error: {_OPEN}(?P<name>\w+){_CLOSE} is not a member of {_OPEN}{_KP}{_CLOSE}",
        rf"error: {_OPEN}{_KP}::(?P<name>\w+){_CLOSE} has not been declared",
        rf"error: {_OPEN}(?P<name>\w+){_CLOSE} in namespace {_OPEN}{_KP}{_CLOSE} does not name a ",
        rf"error: no (?:type|member|template) named {_OPEN}(?P<name>\w+){_CLOSE} in namespace {_OPEN}{_KP}{_CLOSE}",
        rf"error: namespace {_OPEN}{_KP}{_CLOSE} has no (?:actual )?member {_OPEN}(?P<name>\w+){_CLOSE}",
    )
]
_MEMBER = [
    re.compile(pattern)
    for pattern in (
        rf"error: {_OPEN}(?:const )?(?:class |struct )?{_KP}::(?P<type>\w+)[^\n]*{_CLOSE} has no member named "
        rf"{_OPEN}(?P<name>\w+){_CLOSE}",
        rf"error: no member named {_OPEN}(?P<name>\w+){_CLOSE} in {_OPEN}(?:const )?{_KP}::(?P<type>\w+)",
        rf"error: class {_OPEN}(?:const )?{_KP}::(?P<type>\w+)[^\n]* has no member {_OPEN}(?P<name>\w+){_CLOSE}",
    )
]
_UNDECLARED = re.compile(
    rf"error: (?:{_OPEN}(?P<gcc>\w+){_CLOSE} (?:was not declared in this scope|has not been declared|does not name a type)"
    rf"|(?:use of undeclared identifier|unknown type name) {_OPEN}(?P<clang>\w+){_CLOSE}"
    rf"|identifier {_OPEN}(?P<nvcc>\w+){_CLOSE} is undefined)"
)
_STD = [
    re.compile(pattern)
    for pattern in (
        rf"error: {_OPEN}(?P<name>\w+){_CLOSE} is not a member of {_OPEN}std{_CLOSE}",
        rf"error: {_OPEN}std::(?P<name>\w+){_CLOSE} has not been declared",
        rf"error: {_OPEN}(?P<name>\w+){_CLOSE} in namespace {_OPEN}std{_CLOSE} does not name a ",
        rf"error: no (?:type|member|template) named {_OPEN}(?P<name>\w+){_CLOSE} in namespace {_OPEN}std{_CLOSE}",
        rf"error: namespace {_OPEN}std{_CLOSE} has no (?:actual )?member {_OPEN}(?P<name>\w+){_CLOSE}",
        r"error: [^\n]*\bstd::(?:__cxx11::)?(?:basic_)?(?P<name>\w+)[^\n]* (?:has initializer but|has) incomplete type",
        r"error: implicit instantiation of undefined template 'std::(?:__cxx11::)?(?:basic_)?(?P<name>\w+)<",
        r"error: incomplete type \"std::(?:__cxx11::)?(?:basic_)?(?P<name>\w+)",
    )
]
_TOLD = re.compile(rf"note: {_OPEN}(?:std::)?\w+{_CLOSE} is defined in header {_OPEN}<(\w+)>{_CLOSE}")
_HEADERS = {
    name: header
    for header, listed in {
        "algorithm": "all_of any_of clamp copy copy_n count count_if equal fill fill_n find find_if for_each lower_bound max "
        "max_element min min_element minmax nth_element partial_sort reverse sort stable_sort swap_ranges transform unique "
        "upper_bound",
        "array": "array",
        "atomic": "atomic",
        "bitset": "bitset",
        "chrono": "chrono",
        "cmath": "abs acos asin atan atan2 cbrt ceil cos cosh erf exp exp2 expm1 fabs floor fma fmod hypot isfinite isinf isnan lgamma "
        "log log10 log1p log2 lround nearbyint pow rint round sin sinh sqrt tan tanh tgamma trunc",
        "complex": "complex",
        "condition_variable": "condition_variable",
        "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
        "cstdio": "fprintf printf puts snprintf",
        "cstdlib": "abort free getenv malloc strtod strtol",
        "cstring": "memcmp memcpy memmove memset strcmp strlen strncmp",
        "deque": "deque",
        "fstream": "fstream ifstream ofstream",
        "functional": "function greater hash less plus multiplies",
        "iostream": "cerr cin cout endl",
        "limits": "numeric_limits",
        "list": "list",
        "map": "map multimap",
        "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
        "mutex": "call_once lock_guard mutex once_flag unique_lock",
        "numeric": "accumulate gcd inner_product iota lcm partial_sum reduce",
        "optional": "nullopt optional",
        "queue": "priority_queue queue",
        "random": "mt19937 mt19937_64 normal_distribution random_device uniform_int_distribution uniform_real_distribution",
        "set": "multiset set",
        "sstream": "istringstream ostringstream stringstream",
        "stack": "stack",
        "stdexcept": "invalid_argument logic_error out_of_range overflow_error runtime_error",
        "string": "getline stod stoi stol string to_string",
        "string_view": "string_view",
        "thread": "this_thread thread",
        "tuple": "make_tuple tie tuple",
        "type_traits": "decay_t enable_if_t is_integral_v is_same is_same_v",
        "unordered_map": "unordered_map",
        "unordered_set": "unordered_set",
        "utility": "exchange forward make_pair move pair swap",
        "variant": "variant visit",
        "vector": "vector",
    }.items()
    for name in listed.split()
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant. The runtime, which can't need the SDK, has its own in `kernpack/_suggest.py`."""
    import difflib  # on the way to an error alone

    return next(iter(difflib.get_close_matches(name, known, 1)), None)


def undeclared(block: str) -> str:
    """The cure for a name that isn't declared; "" if it isn't known."""
    error = find_errors(block)
    said = _of_kernpack(error) or _of_std(block, error) or _bare(error) or _macro(block, error)
    return f"{HEAD}{where(block)}{said}" if said else ""


def exported(block: str) -> str:
    """A misspelt function in a KP_EXPORT, for which the compiler has a near name that is one of the same source."""
    place, found = find_place(block), _EXPORTED.search(block)
    if place is None or found is None or not re.search(rf"\b{found[2]}\s*\(", "\n".join(read_lines(place.file))):
        return ""
    said = f"KP_EXPORT names the C++ function '{found[1]}', which isn't declared above that line; did you mean '{found[2]}'?"
    return f"{HEAD}{where(block)}{said}"


_EXPORTED = re.compile(
    rf"error: {_OPEN}(\w+){_CLOSE} was not declared in this scope; did you mean {_OPEN}(\w+){_CLOSE}\?\n[^\n]*KP_EXPORT"
)


def header(block: str) -> str:
    """A misspelt header of ours."""
    found = _HEADER.search(find_errors(block))
    place = headers.folder()
    if found is None or place is None or (place / found[1]).is_file():
        return ""
    meant = nearest(found[1], [str(file.relative_to(place)) for file in place.rglob("*.h")])
    return (
        f"{HEAD}{where(block)}there is no header kernpack/{found[1]}; did you mean kernpack/{meant}?" if meant else ""
    )


_HEADER = re.compile(rf"fatal error: {_OPEN}?kernpack/([\w/.]+){_CLOSE}?(?:: No such file| file not found)")


def _of_kernpack(error: str) -> str:
    for pattern in _UNKNOWN:
        if found := pattern.search(error):
            return _kp(found["name"])
    for pattern in _MEMBER:
        if found := pattern.search(error):
            name, of = found["name"], found["type"]
            meant = nearest(name, _members(of))
            return f"kp::{of} has no member {name}; did you mean {meant}?" if meant else ""
    return ""


def _kp(name: str) -> str:
    known = headers.names()
    if name in known:
        return f"kp::{name} is declared in kernpack/{known[name]}, which isn't included; add #include <kernpack/{known[name]}>"
    if name in _HEADERS:
        return f"kp::{name} isn't a name of Kernpack; did you mean std::{name}?"
    meant = nearest(name, known) or nearest(name.lower(), known)
    return f"kp::{name} isn't a name of Kernpack; did you mean kp::{meant}?" if meant else ""


def _of_std(block: str, error: str) -> str:
    for pattern in _STD:
        if found := pattern.search(error):
            name = found["name"]
            told = _TOLD.search(block)
            if header := told[1] if told else _HEADERS.get(name, ""):
                return f"std::{name} is declared in <{header}>, which isn't included; add #include <{header}>"
            meant = nearest(name, _HEADERS)
            return f"std::{name} isn't a name of the standard library; did you mean std::{meant}?" if meant else ""
    return ""


def _bare(error: str) -> str:
    """A name without a namespace, or a macro of ours."""
    found = _UNDECLARED.search(error)
    if found is None:
        return ""
    name = found["gcc"] or found["clang"] or found["nvcc"]
    if name.startswith("KP_"):
        return _misspelt_macro(name)
    if name in headers.names() and name[0].isupper():
        return f"{name} is a name of Kernpack's namespace; write kp::{name}"
    if (header := _HEADERS.get(name)) and (header[0] == "c" or name in ("cerr", "cout", "string", "vector")):
        known = f"{name} is std::{name}, declared in <{header}>"
        return f"{known}; write std::{name}, and #include <{header}> if it isn't there"
    return ""


def _macro(block: str, error: str) -> str:
    """A misspelt macro outside functions, which compilers take for a declaration; or in one."""
    place = find_place(block)
    word = re.match(r"\s*(KP_\w+)\s*\(", read_line(place.file, place.line)) if place else None
    return _misspelt_macro(word[1]) if word and _UNEXPECTED.search(error) else ""


_UNEXPECTED = re.compile(
    r"expected constructor, destructor|type specifier|does not name a type|expected unqualified-id|expected a declaration"
    r"|was not declared|undeclared|is undefined|has no storage class"
)


def _misspelt_macro(name: str) -> str:
    known = headers.macros()
    if name in known:
        return ""
    meant = nearest(name, known)
    return f"{name} isn't a macro of Kernpack; did you mean {meant}?" if meant else ""


@functools.cache
def _members(of: str) -> set[str]:
    """Names that are called on objects of a class of ours and of the ones that it derives from."""
    file = headers.names().get(of)
    text = headers.header(file) if file else ""
    pattern = rf"^(?:class|struct) {of}\b(?: : public (\w+))?[^;{{]*\{{(.*?)^\}};"
    found = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    if found is None:
        return set()
    return set(re.findall(r"\b([a-z]\w*)\(", found[2])) | (_members(found[1]) if found[1] else set())
