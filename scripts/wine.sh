# shellcheck shell=bash
# For the scripts that run programs for Windows by Debian's Wine: a folder of its own for Wine, a limit for each program, and an end for
# everything that Wine still runs when the script ends. Without a locale in UTF-8, Wine finds no path outside ASCII.
export WINEPREFIX=${WINEPREFIX:-$ROOT/build/wine} WINEDEBUG=-all LC_ALL=C.UTF-8
export WINEDLLOVERRIDES=winedbg.exe=d # a process that crashes ends; Wine's debugger would wait

# limited <seconds> <command>...: without an input. Wine's programs want pipes as standard streams; its own servers get no stream of ours,
# which would stay open as long as they run.
limited() { timeout -k 10 "$@" </dev/null 2>&1 | stdbuf -o0 tr -d '\r'; }

# begin_wine: installs Wine as root (else says how), and makes its folder where that is missing.
begin_wine() {
  need_debian wine
  trap 'timeout -k 5 30 wineserver -k || true' EXIT
  timeout -k 10 300 wine wineboot --init </dev/null >/dev/null 2>&1 && return
  echo "wineboot --init failed, or took more than 5 minutes" >&2
  return 1
}
