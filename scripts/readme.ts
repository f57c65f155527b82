/** Writes into the README what is true: examples/first.ts, what it prints, and the picture of a report. `npm run readme` */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { createTestClient, getContractAddress, http, walletActions } from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { foundry } from "viem/chains";
import { Token } from "../examples/contracts.js";
import { keys, startNode } from "../examples/node.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs the sample on a new node. */
export const runSample = async () => {
  const node = await startNode();
  try {
    return spawnSync(process.execPath, ["--import", "tsx", "--conditions=@evm-preflight/source", "examples/first.ts"], {
      cwd: root,
      encoding: "utf8",
      timeout: 60_000,
      env: { ...process.env, ETH_RPC_URL: node.url },
    });
  } finally {
    node.stop();
  }
};

/** The picture of a real report: a token transfer. */
const picture = async (): Promise<string> => {
  const node = await startNode();
  const preflight = createPreflight({ url: node.url });
  try {
    const [account, receiver] = [privateKeyToAccount(keys[0]), privateKeyToAddress(keys[1])];
    const client = createTestClient({ account, mode: "anvil", chain: foundry, transport: http(node.url) }).extend(
      walletActions,
    );
    await client.deployContract({ abi: Token.abi, bytecode: Token.bytecode, args: [1_000_000_000_000n] });
    await client.mine({ blocks: 1 });
    const report = await preflight.preflight({
      from: account.address,
      to: getContractAddress({ from: account.address, nonce: 0n }),
      abi: Token.abi,
      functionName: "transfer",
      args: [receiver, 25_000_000n],
    });
    return Report.toSvg(report);
  } finally {
    await preflight.dispose();
    node.stop();
  }
};

/** The README with the content of its first block of this language replaced. */
const withBlock = (readme: string, language: string, content: string): string =>
  readme.replace(
    new RegExp(`(\`\`\`${language}\\n)[^]*?(\`\`\`)`),
    (_, open: string, close: string) => open + content + close,
  );

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { stdout, stderr, status } = await runSample();
  if (status !== 0) throw new Error(stderr);
  const path = join(root, "README.md");
  const sample = readFileSync(join(root, "examples/first.ts"), "utf8");
  writeFileSync(path, withBlock(withBlock(readFileSync(path, "utf8"), "ts", sample), "text", `${stdout.trimEnd()}\n`));
  writeFileSync(join(root, "docs/report.svg"), await picture());
}
