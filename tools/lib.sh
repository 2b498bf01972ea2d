# Shared by the scripts of this folder: saying what is done, Debian packages, quiet builds.
# Sourced, never run. Callers have set -u.

CUZK_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cuzk_started=$SECONDS

# say TEXT: a step, with the time since the start.
say() { printf '[%4ds] %s\n' $((SECONDS - cuzk_started)) "$*"; }
die() { printf 'error: %s\n' "$1" >&2; [ -n "${2:-}" ] && printf 'hint: %s\n' "$2" >&2; exit 1; }
# help_of SCRIPT: prints the comment that the script opens with.
help_of() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; }

# need_packages PACKAGE...: installs what is missing (as root), or says the command that does (otherwise).
need_packages() {
    local missing=() p install='apt-get install -y --no-install-recommends'
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "this is not a Debian system; taking it on trust that it has what these packages hold: $*"
        return 0
    fi
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        die "these Debian packages are missing: ${missing[*]}" "as root: apt-get update && $install ${missing[*]}"
    fi
    say "installing from Debian (1 to 3 minutes): ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive $install -qq -o DPkg::Lock::Timeout=120 "${missing[@]}"; } \
        >"$log" 2>&1; then
        tail -20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install: ${missing[*]}" "see its words above; is the network up?"
    fi
    rm -f "$log"
}

BUILD_PACKAGES=(gcc g++ libc6-dev cmake ninja-build pkg-config libssl-dev libsimdjson-dev libsqlite3-dev
    libmicrohttpd-dev libnghttp2-dev libprotobuf-c-dev protobuf-c-compiler libtomlplusplus-dev)
TEST_PACKAGES=(libcmocka-dev clang-format python3 valgrind)
FUZZ_PACKAGES=(clang libclang-rt-14-dev)
# Node.js may be there without being a Debian package.
command -v node >/dev/null && command -v npm >/dev/null || TEST_PACKAGES+=(nodejs npm)

need_build_folder() {
    mkdir -p "$CUZK_ROOT/build" 2>/dev/null && [ -w "$CUZK_ROOT/build" ] ||
        die "cannot write to $CUZK_ROOT/build" "it belongs to $(stat -c %U "$CUZK_ROOT/build" 2>/dev/null || stat -c %U "$CUZK_ROOT")"
}

# configure PRESET [ARG...], build PRESET [TARGET...]: quiet unless they fail; then they show why and return 1.
configure() {
    local preset=$1; shift
    local log=$CUZK_ROOT/build/$preset-configure.log
    (cd "$CUZK_ROOT" && cmake --preset "$preset" "$@") >"$log" 2>&1 && return 0
    tail -40 "$log" >&2
    printf 'error: configuring the %s build failed\nhint: the whole log is %s\n' "$preset" "$log" >&2
    return 1
}
build() {
    local preset=$1; shift
    local targets=() log=$CUZK_ROOT/build/$preset-build.log
    [ $# -gt 0 ] && targets=(--target "$@")
    (cd "$CUZK_ROOT" && cmake --build --preset "$preset" "${targets[@]}") >"$log" 2>&1 && return 0
    grep -E 'error|Error|FAILED' -A5 "$log" | head -60 >&2
    printf 'error: the %s build failed\nhint: the whole log is %s\n' "$preset" "$log" >&2
    return 1
}
