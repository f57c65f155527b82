#!/bin/sh
# viem 2.57.20 with TypeScript 5.9.3: a CommonJS file cannot import viem under `module` node16 or node18.
# Guess: viem ships CommonJS (require("viem") works at run time), so its types are right for both kinds of module.
# Seen: error TS1479, for the one set of declarations lies in a folder that says "type": "module"; nodenext lets it pass,
# since Node can require ES modules by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=commonjs >/dev/null
npm install --no-audit --no-fund --silent viem@2.57.20 typescript@5.9.3
cat >first.ts <<'TS'
import { parseEther } from "viem";
export const wei: bigint = parseEther("1");
TS
echo "exports of viem: $(node -p 'JSON.stringify(require("./node_modules/viem/package.json").exports["."])')"
echo "_types/package.json: $(cat node_modules/viem/_types/package.json)"
echo "at run time: require(\"viem\").parseEther(\"1\") is $(node -p 'require("viem").parseEther("1")')"
for module in node16 node18 nodenext; do
  answer=$(npx --no-install tsc --noEmit --strict --skipLibCheck --target es2022 --module "$module" first.ts) || true
  echo "module $module: ${answer:-compiles}"
  case "$module" in
  nodenext) [ -z "$answer" ] || exit 1 ;;
  *) case "$answer" in *TS1479*) ;; *) exit 1 ;; esac ;;
  esac
done
