#!/bin/sh
# Installs the reference client for the tests that need it, once, into Go's bin directory.
# Never fails: without Go or its module proxy those tests skip and say so.
set -u
version=v1.17.10

if [ -n "${GETH_BIN:-}" ] || command -v geth >/dev/null 2>&1; then exit 0; fi
if ! command -v go >/dev/null 2>&1; then
  echo "install-geth: no Go here; tests on the reference client will be skipped" >&2
  exit 0
fi
if [ -x "$(go env GOPATH)/bin/geth" ]; then exit 0; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! GOBIN="$(go env GOPATH)/bin" go install "github.com/ethereum/go-ethereum/cmd/geth@$version" >"$log" 2>&1; then
  tail -n 5 "$log" >&2
  echo "install-geth: could not build geth $version; tests on the reference client will be skipped" >&2
fi
exit 0
