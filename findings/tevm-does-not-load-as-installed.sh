#!/bin/sh
# tevm 2.0.0-next.101 (npm's latest): after `npm install tevm`, `import "tevm"` fails.
# Guess: a package loads with the dependencies that npm chooses for it.
# Seen: @ethereumjs/trie 6.2.0 imports `isHexPrefixed` of @ethereumjs/util ^9.0.3, and 9.1.0 does not export it. An override
# to @ethereumjs/trie 6.2.1 helps.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --ignore-scripts tevm@2.0.0-next.101
said=$(node --input-type=module -e 'await import("tevm"); console.log("it loads")' 2>&1 | grep -E "SyntaxError|it loads" || true)
echo "tevm 2.0.0-next.101 as installed: $said"
rm -rf node_modules package-lock.json
npm pkg set overrides.@ethereumjs/trie=6.2.1
npm install --no-audit --no-fund --silent --ignore-scripts
then=$(node --input-type=module -e 'await import("tevm"); console.log("it loads")' 2>&1 | grep -E "SyntaxError|it loads" || true)
echo "with @ethereumjs/trie 6.2.1: $then"
case "$said" in *isHexPrefixed*) [ "$then" = "it loads" ] ;; *) exit 1 ;; esac
