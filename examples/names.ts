/**
 * Names from sources of one's own: ABIs as Sourcify's API gives them, signatures as 4byte's does, labels by ENS with viem.
 * By itself it asks stand-ins of this machine: an HTTP server that answers in the shapes of both, and a contract in place of
 * ENS's Universal Resolver. Nothing is asked of the internet.
 *
 *     npx tsx examples/names.ts
 *
 * In production: `sourcify: "https://sourcify.dev/server"`, `fourByte: "https://www.4byte.directory"`, and for ENS a client of
 * mainnet with its chain, which knows the resolver.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { createPreflight, Report, type NameSources } from "evm-preflight/promise";
import {
  createTestClient,
  encodeFunctionData,
  http,
  publicActions,
  toFunctionSelector,
  walletActions,
  type Abi,
  type Address,
  type Client,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { getEnsName } from "viem/actions";
import { foundry } from "viem/chains";
import { Rewards, StandInResolver } from "./contracts.js";
import { keys, startNode } from "./node.js";

/** JSON of a server; nothing where it does not answer with 200, as Sourcify of a contract that it does not know. */
const jsonAt = async <A>(url: string): Promise<A | null> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  return response.ok ? ((await response.json()) as A) : null;
};

/** Asks for each key once: an answer that comes too late for one report is there for the next. */
const remembering = <K extends string, A>(ask: (key: K) => Promise<A>): ((key: K) => Promise<A>) => {
  const known = new Map<K, Promise<A>>();
  return (key) => {
    const answer = known.get(key) ?? ask(key);
    known.set(key, answer);
    // one that failed is asked again
    answer.catch(() => known.delete(key));
    return answer;
  };
};

/** The sources. What they answer is checked by the library, and what they throw is no error of a report. */
export const namesBy = (from: {
  readonly sourcify: string;
  readonly fourByte: string;
  readonly chainId: number;
  readonly ens: Client;
  /** The Universal Resolver; that of the client's chain when left out. */
  readonly resolver?: Address;
}): NameSources => ({
  abi: remembering(async (address: Address) => {
    const url = `${from.sourcify}/v2/contract/${from.chainId}/${address}?fields=abi`;
    return (await jsonAt<{ readonly abi?: Abi }>(url))?.abi;
  }),
  function: remembering(async (selector: Hex) => {
    const url = `${from.fourByte}/api/v1/signatures/?hex_signature=${selector}`;
    const found = await jsonAt<{ readonly results: ReadonlyArray<{ readonly text_signature: string }> }>(url);
    return found?.results.map((row) => row.text_signature);
  }),
  label: remembering((address: Address) =>
    getEnsName(from.ens, {
      address,
      ...(from.resolver !== undefined && { universalResolverAddress: from.resolver }),
    }),
  ),
});

/** A server in the shapes of Sourcify (`/v2/contract/…`) and 4byte (`/api/v1/signatures/`). */
export const serveSources = (known: {
  readonly contracts: Readonly<Record<Address, Abi>>;
  readonly signatures: ReadonlyArray<string>;
}): Promise<{ readonly url: string; readonly asked: ReadonlyArray<string>; readonly stop: () => void }> =>
  new Promise((resolve) => {
    const asked: Array<string> = [];
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
      asked.push(pathname);
      const reply = (status: number, body: unknown) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      if (pathname === "/api/v1/signatures/") {
        const hex = searchParams.get("hex_signature") as Hex;
        const fitting = known.signatures.filter((text) => toFunctionSelector(text) === hex);
        const results = fitting.map((text_signature, id) => ({ id, text_signature, hex_signature: hex }));
        return reply(200, { count: results.length, next: null, previous: null, results });
      }
      const [, chainId, address] = /^\/v2\/contract\/(\d+)\/(0x[0-9a-f]{40})$/.exec(pathname) ?? [];
      const abi = known.contracts[address as Address];
      return abi === undefined
        ? reply(404, { match: null, creationMatch: null, runtimeMatch: null, chainId, address })
        : reply(200, { abi, match: "exact_match", creationMatch: "exact_match", chainId, address });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}`, asked, stop: () => void server.close() });
    });
  });

/** Two reports on an anvil of one's own: a call that Sourcify names, and one of a contract that it does not know. */
export const named = async (): Promise<ReadonlyArray<Report.BundleReport>> => {
  const node = await startNode();
  const client = createTestClient({ mode: "anvil", chain: foundry, transport: http(node.url) })
    .extend(publicActions)
    .extend(walletActions);
  const [owner, bob] = [privateKeyToAccount(keys[0]), privateKeyToAccount(keys[1])];
  const deploy = async (artifact: { readonly abi: Abi; readonly bytecode: Hex }): Promise<Address> => {
    const hash = await client.deployContract({ account: owner, ...artifact });
    await client.mine({ blocks: 1 });
    const { contractAddress } = await client.getTransactionReceipt({ hash });
    if (contractAddress === null || contractAddress === undefined) throw new Error("not deployed");
    return contractAddress.toLowerCase() as Address;
  };
  const [verified, unknown, resolver] = [await deploy(Rewards), await deploy(Rewards), await deploy(StandInResolver)];
  const args = [bob.address, "bob.eth"] as const;
  await client.writeContract({
    account: owner,
    address: resolver,
    abi: StandInResolver.abi,
    functionName: "set",
    args,
  });
  await client.mine({ blocks: 1 });
  const server = await serveSources({
    contracts: { [verified]: Rewards.abi },
    // one that is asked for the same selector by chance fits no calldata, and is not shown
    signatures: ["claimEpoch(uint256)", "claimEpochFor(address,uint256)"],
  });
  const names = namesBy({ sourcify: server.url, fourByte: server.url, chainId: foundry.id, ens: client, resolver });
  const preflight = createPreflight({ url: node.url }, { names });
  try {
    const data = encodeFunctionData({ abi: Rewards.abi, functionName: "claimEpochFor", args: [bob.address, 7n] });
    const reports: Array<Report.BundleReport> = [];
    for (const to of [verified, unknown]) {
      const shown = await preflight.preflight({ from: owner.address, to, data });
      // as a wallet does in front of signing; by now the names are remembered that came too late for a node so near
      reports.push(await preflight.prove(shown));
    }
    return reports;
  } finally {
    await preflight.dispose();
    server.stop();
    node.stop();
  }
};

const main = async () => {
  for (const report of await named()) console.log(Report.toText(report));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
