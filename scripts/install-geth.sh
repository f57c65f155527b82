#!/bin/sh
# Installs the reference client for the tests that need it, once, into Go's bin directory.
# With a version, e.g. `sh scripts/install-geth.sh v1.16.9`, that release beside it, as `geth-1.16.9`: for GETH_OLD_BIN.
# Never fails: without Go or its module proxy those tests skip and say so.
set -u
version=${1:-v1.17.10}
name=geth${1:+-${1#v}}

if [ $# -eq 0 ] && { [ -n "${GETH_BIN:-}" ] || command -v geth >/dev/null 2>&1; }; then exit 0; fi
if ! command -v go >/dev/null 2>&1; then
  echo "install-geth: no Go here; tests on the reference client will be skipped" >&2
  exit 0
fi
bin="$(go env GOPATH)/bin"
if [ -x "$bin/$name" ]; then exit 0; fi

log=$(mktemp)
# why: Go names what it builds itself
build=$(mktemp -d)
trap 'rm -rf "$log" "$build"' EXIT
if GOBIN="$build" go install "github.com/ethereum/go-ethereum/cmd/geth@$version" >"$log" 2>&1; then
  mkdir -p "$bin" && mv "$build/geth" "$bin/$name"
else
  tail -n 5 "$log" >&2
  echo "install-geth: could not build geth $version; tests on the reference client will be skipped" >&2
fi
exit 0
