#!/usr/bin/env bash
# The tokenizer against PyPI tokenizers, over every code point and generated texts: tools/tokenizer_diff.py on the tiny d1
# file, and the Kev files of both patterns with 8,192 ranks and with all. Makes its own Python environment and the files.
#   tools/tokenizer_diff.sh [ENCODE_LINES]     the assay_encode_lines program; build/dev's if absent
#   tools/tokenizer_diff.sh --cost             what wrong tokenizers would cost, on the same texts
set -euo pipefail
cd "$(dirname "$0")/.."
texts=50000

venv=build/tokenizer-venv
if ! cmp -s tools/requirements-tokenizer.txt "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r tools/requirements-tokenizer.txt
  cp tools/requirements-tokenizer.txt "$venv/installed.txt"
fi

files=build/tokenizers
tools/kev_tokenizers.sh

tiny=tests/data/d1_tiny/tokenizer.json
if [ "${1:-}" = --cost ]; then
  exec "$venv/bin/python" tools/tokenizer_diff.py --cost --count "$texts" "$tiny" "$files"/{8192,all}/kev/tokenizer.json
fi
exec "$venv/bin/python" tools/tokenizer_diff.py --engine "${1:-build/dev/src/text/assay_encode_lines}" --count "$texts" \
  "$tiny" "$files"/8192/{kev,base}/tokenizer.json "$files"/all/{kev,base}/tokenizer.json
