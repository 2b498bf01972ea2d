# Shared by the scripts of this folder: saying what is done, and Debian packages.
# Sourced, never run. Callers have set -u.

CUZK_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cuzk_started=$SECONDS

# say TEXT: a step, with the time since the start.
say() { printf '[%4ds] %s\n' $((SECONDS - cuzk_started)) "$*"; }
die() { printf 'error: %s\n' "$1" >&2; [ -n "${2:-}" ] && printf 'hint: %s\n' "$2" >&2; exit 1; }

# need_packages PACKAGE...: installs what is missing (as root), or says the command that does (otherwise).
need_packages() {
    local missing=() p
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        die "these Debian packages are missing: ${missing[*]}" "as root: apt-get update && apt-get install -y ${missing[*]}"
    fi
    command -v apt-get >/dev/null || die "apt-get is not here, and these packages are missing: ${missing[*]}" \
        "install them with your system's package manager"
    say "installing from Debian: ${missing[*]} (about a minute)"
    local log
    log=$(mktemp)
    if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install: ${missing[*]}" "see its words above; is the network up?"
    fi
    rm -f "$log"
}

BUILD_PACKAGES=(gcc g++ libc6-dev cmake ninja-build pkg-config libssl-dev libsimdjson-dev)
TEST_PACKAGES=(libcmocka-dev clang libclang-rt-14-dev clang-format python3)
# Node.js may be there without being a Debian package.
command -v node >/dev/null && command -v npm >/dev/null || TEST_PACKAGES+=(nodejs npm)

# configure PRESET [ARG...], build PRESET [TARGET...]: quiet unless they fail.
configure() {
    local preset=$1; shift
    mkdir -p "$CUZK_ROOT/build"
    (cd "$CUZK_ROOT" && cmake --preset "$preset" "$@") >"$CUZK_ROOT/build/$preset-configure.log" 2>&1 ||
        { tail -40 "$CUZK_ROOT/build/$preset-configure.log" >&2; die "configuring the $preset build failed" "the whole log: build/$preset-configure.log"; }
}
build() {
    local preset=$1; shift
    local targets=()
    [ $# -gt 0 ] && targets=(--target "$@")
    (cd "$CUZK_ROOT" && cmake --build --preset "$preset" "${targets[@]}") >"$CUZK_ROOT/build/$preset-build.log" 2>&1 ||
        { grep -E 'error|Error|FAILED' -A5 "$CUZK_ROOT/build/$preset-build.log" | head -60 >&2; die "the $preset build failed" "the whole log: build/$preset-build.log"; }
}
