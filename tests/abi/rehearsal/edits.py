"""Edits that turn today's sources into ABI 1.1 and 2.0: the edits that a developer of those versions would begin with.

Each edit must match, so that a change of the sources that leaves one behind fails the rehearsal instead of thinning it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ABI = "ffi/include/kernpack/abi.h"
_DEVICE = "ffi/include/kernpack/device_api.h"
# A struct of the ABI that begins with its size. KpHost and KpDeviceApi, which are none of these, grow by a service.
_SIZED = re.compile(r"typedef struct (Kp\w+) \{\n  uint32_t struct_size")

Files = dict[str, str]


class _Sources:
    def __init__(self, files: Files) -> None:
        self.files = files

    def sub(self, file: str, pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> None:
        """Replaces the one place of a file that the pattern matches."""
        text, count = re.subn(pattern, replacement, self.files[file], flags=re.DOTALL | re.MULTILINE)
        if count != 1:
            raise AssertionError(f"{file}: expected one match of {pattern!r}, got {count}: adapt the rehearsal's edits")
        self.files[file] = text

    def everywhere(self, old: str, new: str) -> None:
        count = 0
        for file, text in self.files.items():
            count += text.count(old)
            self.files[file] = text.replace(old, new)
        if not count:
            raise AssertionError(f"no file says {old!r}: adapt the rehearsal's edits")

    def add(self, file: str, text: str) -> None:
        if file in self.files:
            raise AssertionError(f"{file} is there already: adapt the rehearsal's edits")
        self.files[file] = text


def _version(s: _Sources, major: int, minor: int) -> None:
    s.sub(_ABI, r"(#define KP_ABI_MAJOR )\d+", rf"\g<1>{major}")
    s.sub(_ABI, r"(#define KP_ABI_MINOR )\d+", rf"\g<1>{minor}")
    s.sub(_DEVICE, r"(#define KP_DEVICE_ABI_MAJOR )\d+", rf"\g<1>{major}")
    s.sub(_DEVICE, r"(#define KP_DEVICE_ABI_MINOR )\d+", rf"\g<1>{minor}")
    s.sub("ffi/include/kernpack/module.h", r'(#define KP_SDK_VERSION )"[^"]+"', rf'\g<1>"{major}.{minor}.0"')


def _without_plugins(s: _Sources) -> None:
    """The drivers of real devices are not rehearsed: a small backend is."""
    s.sub("ffi/CMakeLists.txt", r"^add_subdirectory\(backends/cuda\)\nadd_subdirectory\(backends/opencl\)\n", "")


def _fields_at_the_end(s: _Sources) -> None:
    for file in [name for name in s.files if name.startswith("ffi/include/kernpack/")]:
        for struct in _SIZED.findall(s.files[file]):
            s.sub(file, rf"^\}} {struct};", f"  const char* rehearsal; /* since 1.1; nullable */\n}} {struct};")
    # The host reads one of them, so that a host that reads past the end of an older table is seen.
    s.sub(
        "ffi/src/modules/check.cc",
        r"^  if \(module->reserved != 0\)",
        """  const char* rehearsal = KP_FIELD_OR(KpModule, module, rehearsal, nullptr);
  if (rehearsal && !*rehearsal)
    return kp_raise("ImportError", "kernpack.load: '%s': the rehearsal's field is empty", where);
  if (module->reserved != 0)""",
    )


def _spare_claimed(s: _Sources) -> None:
    def claim(found: re.Match[str]) -> str:
        return f"{found[1]}  const char* claimed; /* since 1.1; nullable */\n  const void* spare[{int(found[2]) - 1}];"

    s.sub(_ABI, r"(typedef struct KpModule \{(?:(?!\n\}).)*?)  const void\* spare\[(\d)\];", claim)
    s.sub(
        "ffi/include/kernpack/module.h",
        r"\{nullptr, (nullptr(?:, nullptr)*)\}\};",
        r"KP_REHEARSAL_CLAIM, {\1}, nullptr};",
    )
    s.sub(
        "ffi/include/kernpack/module.h",
        r"^#define KP_SDK_VERSION",
        "#ifndef KP_REHEARSAL_CLAIM\n#define KP_REHEARSAL_CLAIM nullptr\n#endif\n#define KP_SDK_VERSION",
    )
    s.sub("sdk/author/python/kernpack_sdk/hosts.py", r"^(_MODULE = .*?80: )None", r"\1(1, 1)")


def _host_service(s: _Sources) -> None:
    row = "(const KpHost* host, int64_t value, int64_t* out)"
    s.sub(_ABI, r"(  X\(0, get_extension, [^\n]*?\)\)) *\n", rf"\1 \\\n  X(1, rehearse, {row})\n")
    s.add(
        "ffi/src/host/rehearse.cc",
        '#include "base/services.h"\n\nnamespace kernpack::host::service {\n'
        "int rehearse(const KpHost*, int64_t value, int64_t* out) noexcept {\n"
        "  *out = value + 1;\n  return 0;\n}\n}  // namespace kernpack::host::service\n",
    )


def _device_service(s: _Sources) -> None:
    row = "(const KpDeviceApi* api, KpDLDevice device, int64_t value, int64_t* out)"
    s.sub(
        _DEVICE,
        r"(  X\(0, KP_DEVICE_OPTIONAL, trim, [^\n]*?\)\)) *\n",
        rf"\1 \\\n  X(1, KP_DEVICE_OPTIONAL, rehearse, {row})\n",
    )
    s.sub(
        "ffi/src/devices/fallback.cc",
        r"^(int trim\([^\n]*\n)",
        r"\1int rehearse(const KpDeviceApi*, KpDLDevice, int64_t value, int64_t* out) noexcept {"
        "\n  *out = -value;\n  return 0;\n}\n",
    )


def _grammar_word(s: _Sources) -> None:
    s.sub(
        "ffi/include/kernpack/host/signature.h",
        r"^(  KP_PROP_WORKSPACE = 8,)\n",
        r"\1\n  KP_PROP_REHEARSED = 32, /* since 1.1 */\n",
    )
    s.sub(
        "ffi/include/kernpack/signature/clauses.h",
        r'^(    if \(IsWord\("quick"\)\) [^\n]*\n)',
        r'\1    if (IsWord("rehearsed")) return Since(1), Flag(KP_PROP_REHEARSED);' "\n",
    )


def _minor(s: _Sources) -> None:
    _version(s, 1, 1)
    _host_service(s)
    _device_service(s)
    _fields_at_the_end(s)
    _spare_claimed(s)
    _grammar_word(s)


def _major(s: _Sources) -> None:
    """Name and version of KpModule change places, and so do two services of the host and two of a device."""
    _version(s, 2, 0)
    s.everywhere("kp_module_v1", "kp_module_v2")
    s.everywhere("kp_backend_v1", "kp_backend_v2")
    s.sub(_ABI, r"^(  const char\* name; /\* \[A-Za-z_\][^\n]*\n)(  const char\* version;[^\n]*\n)", r"\2\1")
    s.sub("ffi/include/kernpack/module.h", r"^( +)name,( +\\\n +)version,", r"\1version,\2name,")
    s.sub(_ABI, r"^(  X\(0, raise_object, [^\n]*\n)(  X\(0, take_error, [^\n]*\n)", r"\2\1")
    s.sub(
        _DEVICE,
        r"^(  X\(0, KP_DEVICE_OPTIONAL, set_device, [^\n]*\n)(  X\(0, KP_DEVICE_OPTIONAL, get_device, [^\n]*\n)",
        r"\2\1",
    )


_EDITS = {"1.1": _minor, "2.0": _major}


def apply(files: dict[str, bytes], version: str) -> dict[str, bytes]:
    """The files of a version, out of today's."""
    sources = _Sources({name: content.decode() for name, content in files.items()})
    _without_plugins(sources)
    _EDITS[version](sources)
    return {name: text.encode() for name, text in sources.files.items()}
