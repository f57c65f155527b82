#!/bin/sh
# Builds BNB Smart Chain's client for `npm run beds`, once, into Go's bin directory, as `bsc-geth`; about eight minutes.
# Its go.mod replaces modules, which `go install` refuses: it is built inside the downloaded module.
# Never fails: without Go or its module proxy the row of that node says so.
set -u
version=v1.7.8

if [ -n "${BSC_GETH_BIN:-}" ] || command -v bsc-geth >/dev/null 2>&1; then exit 0; fi
if ! command -v go >/dev/null 2>&1; then
  echo "install-bsc: no Go here; BNB Smart Chain's client cannot be built" >&2
  exit 0
fi
bin="$(go env GOPATH)/bin/bsc-geth"
if [ -x "$bin" ]; then exit 0; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { go mod download "github.com/bnb-chain/bsc@$version" &&
  cd "$(go env GOMODCACHE)/github.com/bnb-chain/bsc@$version" &&
  go build -o "$bin" ./cmd/geth; } >"$log" 2>&1; then
  tail -n 5 "$log" >&2
  echo "install-bsc: could not build $version" >&2
fi
exit 0
