#!/usr/bin/env bash
# Answers the example requests with the demo model: tools/demo.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."
for request in demo/requests/*.json; do
  "$1" decide demo/d1-demo "$request" --table
  echo
done
