#!/bin/sh
# Builds the OP stack's execution client for the tests that need it, once, into Go's bin directory.
# Never fails: without Go or its module proxy those tests skip and say so.
set -u
cd "$(dirname "$0")/op-geth" || exit 0

if [ -n "${OP_GETH_BIN:-}" ] || command -v op-geth >/dev/null 2>&1; then exit 0; fi
if ! command -v go >/dev/null 2>&1; then
  echo "install-op-geth: no Go here; tests on an OP-stack node will be skipped" >&2
  exit 0
fi
bin="$(go env GOPATH)/bin/op-geth"
if [ -x "$bin" ]; then exit 0; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! go build -o "$bin" github.com/ethereum/go-ethereum/cmd/geth >"$log" 2>&1; then
  tail -n 5 "$log" >&2
  echo "install-op-geth: could not build op-geth; tests on an OP-stack node will be skipped" >&2
fi
exit 0
