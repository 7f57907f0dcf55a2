"""Who owns a file on Windows: files have no mode there, but an owner in their security descriptor."""

from __future__ import annotations

import ctypes
from ctypes import wintypes
from pathlib import Path
from typing import Any

_FILE_OBJECT, _OWNER = 1, 1  # SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION
_QUERY, _USER = 8, 1  # TOKEN_QUERY, TokenUser
_TRUSTED = (18, 26)  # WinLocalSystemSid, WinBuiltinAdministratorsSid: who is either needs no cache to run code


def is_ours(path: Path) -> bool:
    """True if the user of this process owns the file or folder, or the system, or its administrators do. False where that can't be
    found out."""
    windows: Any = ctypes.WinDLL("advapi32", use_last_error=True)  # type: ignore[attr-defined]
    owner, descriptor = ctypes.c_void_p(), ctypes.c_void_p()
    name = ctypes.c_wchar_p(str(path))
    failed = windows.GetNamedSecurityInfoW(
        name, _FILE_OBJECT, _OWNER, ctypes.byref(owner), None, None, None, ctypes.byref(descriptor)
    )
    if failed or not owner:
        return False
    try:
        if any(windows.IsWellKnownSid(owner, kind) for kind in _TRUSTED):
            return True
        user = _user(windows)
        return user is not None and bool(windows.EqualSid(owner, ctypes.c_void_p.from_buffer(user)))
    finally:
        _kernel().LocalFree(descriptor)


def _user(windows: Any) -> Any:
    """A TOKEN_USER, which begins with the address of the user's identifier."""
    kernel, token = _kernel(), wintypes.HANDLE()
    if not windows.OpenProcessToken(wintypes.HANDLE(kernel.GetCurrentProcess()), _QUERY, ctypes.byref(token)):
        return None
    try:
        size = wintypes.DWORD()
        windows.GetTokenInformation(token, _USER, None, 0, ctypes.byref(size))
        made = ctypes.create_string_buffer(max(size.value, 16))
        done = windows.GetTokenInformation(token, _USER, made, size, ctypes.byref(size))
        return made if done else None
    finally:
        kernel.CloseHandle(token)


def _kernel() -> Any:
    kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    kernel.LocalFree.argtypes = [ctypes.c_void_p]
    kernel.CloseHandle.argtypes = [wintypes.HANDLE]
    return kernel
