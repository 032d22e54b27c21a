# Sourced by scripts/run and scripts/test: makes .venv hold exactly what uv.lock says, or says in words what is in the way.
# Works with bash 3.2 (macOS). Needs: Python >= 3.11, and the network the first time and after each change of uv.lock.

die() {
  printf 'citebound: %s\n' "$1" >&2
  exit 1
}

find_python() {
  for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if command -v "$candidate" >/dev/null 2>&1 &&
      "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      command -v "$candidate"
      return 0
    fi
  done
  die "needs Python 3.11 or newer, and found $(python3 --version 2>/dev/null || echo none). Install one (Debian/Ubuntu: apt-get install python3 python3-venv; macOS: brew install python) and run this again."
}

make_venv() {
  python=$(find_python) || exit 1
  echo "citebound: making .venv with $("$python" --version)" >&2
  rm -rf "$root/.venv/bin" "$root/.venv/pyvenv.cfg" # what a moved or upgraded Python leaves behind makes venv fail
  if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then # Debian and Ubuntu keep it in a package of its own
    package="$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
      echo "citebound: installing $package" >&2
      { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"; } >&2 ||
        die "could not install $package, which Python needs to make .venv. Install it by hand and run this again."
    else
      die "this Python can't make environments: its venv module is not installed. Install it (Debian/Ubuntu: sudo apt-get install $package) and run this again."
    fi
  fi
  "$python" -m venv "$root/.venv" >&2 ||
    die "could not make $root/.venv. Is the disk full, or the folder not yours to write? Then run this again."
}

usable_venv() {
  [ -x "$root/.venv/bin/python" ] &&
    "$root/.venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

not_installed() {
  die "could not install the packages; the reason is above. If it is the network: the first start needs pypi.org and files.pythonhosted.org once; behind a proxy set HTTPS_PROXY, with a company certificate SSL_CERT_FILE and PIP_CERT. Then run this again; what is done stays done."
}

# prepare_environment STAMP UV_ARGUMENTS...: STAMP names the kind of environment; a copy of the lock says what it was made from.
prepare_environment() {
  stamp="$root/.venv/.made-for-$1"
  shift
  if [ -x "$root/.venv/bin/python" ] && [ -f "$stamp" ] && [ "$(<"$stamp")" = "$(<"$root/uv.lock")" ]; then
    return 0
  fi
  exec 9<"$root/uv.lock"
  lock_with=$(find_python) || exit 1
  # Two starts at once: the second waits. The lock belongs to this shell's descriptor, so it outlives the little Python.
  "$lock_with" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)' || die "could not lock $root/uv.lock."
  if [ ! -f "$stamp" ] || [ "$(<"$stamp")" != "$(<"$root/uv.lock")" ] || ! usable_venv; then
    usable_venv || make_venv
    uv="$root/.venv/bin/uv"
    uv_wanted=$(sed -n 's/^uv==\([^ ]*\).*/uv \1/p' "$root/scripts/uv-requirements.txt")
    case "$("$uv" --version 2>/dev/null)" in
      "$uv_wanted"*) ;;
      *)
        echo "citebound: installing $uv_wanted" >&2
        "$root/.venv/bin/python" -m pip --version >/dev/null 2>&1 || "$root/.venv/bin/python" -m ensurepip >&2 || make_venv
        "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
          -r "$root/scripts/uv-requirements.txt" >&2 || not_installed
        ;;
    esac
    echo "citebound: installing the packages of uv.lock" >&2
    # --inexact: leave uv itself, and what a person added, in place
    (cd "$root" && UV_PROJECT_ENVIRONMENT="$root/.venv" UV_SYSTEM_CERTS=1 UV_PYTHON_DOWNLOADS=never \
      "$uv" sync --frozen --inexact --quiet --python "$root/.venv/bin/python" "$@" >&2) || not_installed
    cp "$root/uv.lock" "$stamp.new" && mv "$stamp.new" "$stamp" || die "could not write $stamp. Is the disk full?"
    case $stamp in *testing) cp "$stamp" "$root/.venv/.made-for-running" ;; esac # it holds all of that, and more
  fi
  exec 9<&-
}
