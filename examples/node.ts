/** A node to try things on: anvil from its npm package, on a free port, mining only when told to. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The first accounts of anvil's well-known test mnemonic, 10,000 ETH each. Never send real money there. */
export const keys = [
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
] as const;

const binary = (): string => {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@foundry-rs/anvil-${process.platform}-${arch}/package.json`,
    );
    return join(dirname(manifest), "bin", process.platform === "win32" ? "anvil.exe" : "anvil");
  } catch {
    return process.env["ANVIL_BIN"] ?? "anvil";
  }
};

/** Starts the node; `stop` ends it, and so does the end of this process. */
export const startNode = (): Promise<{ readonly url: string; readonly stop: () => void }> =>
  new Promise((resolve, reject) => {
    const child = spawn(binary(), ["--host", "127.0.0.1", "--port", "0", "--no-mining"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const stop = () => void child.kill();
    process.once("exit", stop);
    let output = "";
    child.once("error", (error) =>
      reject(new Error(`${error.message}: install anvil, or name it by ANVIL_BIN`, { cause: error })),
    );
    child.once("exit", (code) => reject(new Error(`anvil ended with ${code}\n${output}`)));
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const address = /Listening on ([\d.]+:\d+)/.exec(output)?.[1];
      if (address === undefined) return;
      // the node goes on to write a line for every request, which nobody keeps
      child.stdout.off("data", read).resume();
      resolve({ url: `http://${address}`, stop });
    };
    child.stdout.on("data", read);
  });
