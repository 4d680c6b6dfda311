#!/usr/bin/env bash
# Format, layers, C++ and Python lint. tools/oracle is the makers' reference, taken as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "clang-format"
git ls-files '*.cc' '*.h' | xargs clang-format-19 --dry-run -Werror

echo "layers"
python3 tools/check_layers.py --compile

venv=build/lint-venv
if ! cmp -s tools/requirements-lint.txt "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r tools/requirements-lint.txt
  cp tools/requirements-lint.txt "$venv/installed.txt"
fi
echo "ruff"
"$venv/bin/ruff" check .
"$venv/bin/ruff" format --check .
echo "mypy"
git ls-files '*.py' | grep -v '^tools/oracle/' | xargs "$venv/bin/mypy"

if [ "${1:-}" != quick ]; then
  echo "clang-tidy"
  cmake --preset dev >/dev/null
  git ls-files 'src/*.cc' | grep -v '_test\.cc$' |
    xargs -P "$(nproc)" -n 1 clang-tidy-19 -p build/dev --quiet --warnings-as-errors='*' 2>/dev/null
fi
echo "lint: all clean"
