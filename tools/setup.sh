#!/usr/bin/env bash
# Installs the distribution's packages that assay needs, those that are missing only. Debian 12 and its kin.
#   tools/setup.sh build   what it takes to build and run the program
#   tools/setup.sh dev     and to test, lint and fuzz it
set -euo pipefail

build_packages=(g++ cmake ninja-build make pkg-config ccache mold
  libfmt-dev nlohmann-json3-dev libcli11-dev libssl-dev libhwy-dev
  libzip-dev)
dev_packages=(libgtest-dev libgmock-dev python3 python3-numpy python3-venv python3-pip git
  clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19 valgrind)

packages=("${build_packages[@]}")
case "${1:-build}" in
  build) ;;
  dev) packages+=("${dev_packages[@]}") ;;
  *) echo "usage: tools/setup.sh [build|dev]" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "tools/setup.sh: no apt-get here; install these yourself: ${packages[*]}" >&2
  exit 2
fi
missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
