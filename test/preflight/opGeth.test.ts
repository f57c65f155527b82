/** Fees that an OP stack's own client really charges, generation by generation, beside what a report said of them. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { encodeDeployData, getContractAddress, type Hex, type TransactionSerializable } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import * as Eth from "../../src/Eth.js";
import * as Preflight from "../../src/Preflight.js";
import type { BundleReport } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import {
  findOpGethOrWarn,
  generations,
  startOpGeth,
  type Generation,
  type L1,
  type OpGeth,
} from "../harness/opGeth.js";
import { calldata, cleared, codesOf, layerOf, nobody, other, owner, severe, third } from "./scene.js";

const bin = findOpGethOrWarn("fees on an OP-stack node");
const quantity = async (node: OpGeth, method: string, params: ReadonlyArray<unknown>) =>
  BigInt((await rawRequest(node.url, method, params)) as string);
const balanceOf = (node: OpGeth, account: string) => quantity(node, "eth_getBalance", [account, "latest"]);

const preflightOf = (
  node: OpGeth,
  input: unknown,
  options: Preflight.Options = {},
  chain: Partial<Chains.Chain> = {},
) =>
  Effect.runPromise(
    Preflight.preflight(input as never, options).pipe(
      Effect.provide(Layer.merge(layerOf(node.url), Chains.layerWith(node.chainId, chain))),
    ),
  );

/** Signs as it was cleared, and sends. */
const send = async (node: OpGeth, report: BundleReport, key: PrivateKeyAccount): Promise<ReadonlyArray<Hex>> => {
  const { requests } = await cleared(report);
  const hashes: Array<Hex> = [];
  for (const request of requests) {
    const raw = await key.signTransaction(request as TransactionSerializable);
    hashes.push((await rawRequest(node.url, "eth_sendRawTransaction", [raw])) as Hex);
  }
  return hashes;
};

/** The same, mined; gives back the receipts. */
const carryOut = async (node: OpGeth, report: BundleReport, key: PrivateKeyAccount, l1: Partial<L1> = {}) => {
  const hashes = await send(node, report, key);
  await node.mine(l1);
  const mined = await Effect.runPromise(
    Eth.getBlockReceipts({ block: "latest" }).pipe(Effect.provide(layerOf(node.url))),
  );
  const own = mined.slice(-hashes.length);
  expect(own.map(({ transactionHash }) => transactionHash)).toEqual(hashes);
  return own;
};

const sent = async (node: OpGeth, call: { to?: string; data?: Hex; value?: bigint }) => {
  const nonce = Number(await quantity(node, "eth_getTransactionCount", [owner.address, "latest"]));
  const rest = { type: "eip1559", chainId: node.chainId, nonce, gas: 3_000_000n } as const;
  const fees = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 6n };
  const raw = await owner.signTransaction({ ...rest, ...fees, ...call } as never);
  await rawRequest(node.url, "eth_sendRawTransaction", [raw]);
  await node.mine();
  return nonce;
};

/** Bytes that do not compress. */
const noise = (length: number): Hex =>
  `0x${Array.from({ length }, (_, index) =>
    ((Math.imul(index ^ (index >>> 7), 2_246_822_519) >>> 11) & 0xff).toString(16).padStart(2, "0"),
  ).join("")}`;

const token = artifacts.Token;
const deployment = encodeDeployData({ abi: token.abi, bytecode: token.bytecode, args: ["Token", "TOK", 18] });
const transfer = calldata(token, "transfer", [third.address, 5n]);

/** A token of whom `other` has some. */
const deployToken = async (node: OpGeth): Promise<string> => {
  const at = getContractAddress({ from: owner.address, nonce: BigInt(await sent(node, { data: deployment })) });
  await sent(node, { to: at, data: calldata(token, "mint", [other.address, 10n ** 20n]) });
  return at;
};

/** Someone new with this much. */
const someoneWith = async (node: OpGeth, value: bigint): Promise<PrivateKeyAccount> => {
  const key = privateKeyToAccount(generatePrivateKey());
  await sent(node, { to: key.address, value });
  return key;
};

/** As recorded on Base (see opstack.test.ts), and an operator fee. */
const base: Partial<L1> = {
  baseFee: 99_720_435n,
  blobBaseFee: 5_690_171n,
  baseFeeScalar: 2_269,
  blobBaseFeeScalar: 1_055_762,
};
/** Where L1 is most of the cost. */
const dear: Partial<L1> = { baseFee: 60_000_000_000n, blobBaseFee: 900_000_000n };
const operator = {
  isthmus: { operatorFeeScalar: 400_000_000, operatorFeeConstant: 900_000_000n },
  jovian: { operatorFeeScalar: 3_000, operatorFeeConstant: 900_000_000n },
};

describe.skipIf(bin === null).each([
  ["ecotone", {}],
  ["fjord", {}],
  ["isthmus", operator.isthmus],
  ["jovian", { ...operator.jovian, minBaseFee: 2_000_000 }],
] as ReadonlyArray<[Generation, Partial<L1>]>)("fees under the rules of %s", (generation, l1) => {
  let node: OpGeth;
  let at = "";
  beforeAll(async () => {
    node = await startOpGeth(bin ?? "", { generation, l1: { ...base, ...l1 } });
    await node.mine();
    at = await deployToken(node);
  });
  afterAll(() => node?.stop());

  const from = other.address;
  const padded = (more: string) => ({ from, to: at, data: `${transfer}${more}` });
  const cases: ReadonlyArray<readonly [string, () => unknown]> = [
    ["a transfer", () => ({ from, to: nobody, value: 7n })],
    ["a transfer of a token", () => padded("")],
    ["bytes that do not compress", () => padded(noise(3_000).slice(2))],
    ["zeros", () => padded("00".repeat(6_000))],
    // before Fjord there is no formula to put in its place
    ...(generation === "ecotone"
      ? []
      : [["more than an oracle can compress", () => padded(noise(30_000).slice(2))] as const]),
    ["an access list", () => ({ ...padded(""), accessList: [{ address: at, storageKeys: [noise(32)] }] })],
    ["a legacy transaction", () => ({ ...padded(""), gasPrice: 30_000_000n })],
    ["a deployment", () => ({ from, data: deployment })],
    ["a bundle", () => [padded(""), { from, to: nobody, value: 3n }, padded("00".repeat(500))]],
  ];
  /** What was paid, value and fees, and what the report said of it. */
  const paidFor = async (
    input: unknown,
    key: PrivateKeyAccount,
    moves: Partial<L1> = {},
    options?: Preflight.Options,
  ) => {
    const report = await preflightOf(node, input, options);
    expect(severe(report)).toEqual([]);
    for (const code of ["L1FeeDisagrees/info", "ProxiesNotSeen/info"]) expect(codesOf(report)).not.toContain(code);
    const had = await balanceOf(node, key.address);
    const receipts = await carryOut(node, report, key, moves);
    for (const { status } of receipts) expect(status).toBe("success");
    const [{ required, expected } = { required: null, expected: null }] = report.funds;
    if (required === null || expected === null) throw new Error("the funds are not known");
    const paid = had - (await balanceOf(node, key.address));
    // what the receipts say is what left the account
    const fees = receipts.reduce((sum, { l1Fee, gasUsed, effectiveGasPrice, ...one }) => {
      const scaled = gasUsed * (one.operatorFeeScalar ?? 0n);
      const byGas = generation === "jovian" ? scaled * 100n : scaled / 1_000_000n;
      return sum + (l1Fee ?? 0n) + gasUsed * (effectiveGasPrice ?? 0n) + byGas + (one.operatorFeeConstant ?? 0n);
    }, 0n);
    const value = report.transactions.reduce((sum, one) => sum + one.input.value, 0n);
    expect(fees + value).toBe(paid);
    expect(required).toBeGreaterThanOrEqual(paid);
    const off = expected > paid ? expected - paid : paid - expected;
    return { required, expected, paid, perMille: Number((off * 100_000n) / fees) / 100 };
  };

  it.each(cases)("of %s are as expected, and no more than was required", async (_, inputOf) => {
    const { perMille } = await paidFor(inputOf(), other);
    expect(perMille).toBeLessThanOrEqual(1);
  });
  it("covered by the required sum include L1 base fees that rise until inclusion", async () => {
    await node.mine(dear);
    const { baseFee = 0n } = dear;
    const bytes = padded(noise(2_000).slice(2));
    // the length of a signature's compressed bytes is not known before it is signed
    expect((await paidFor(bytes, other)).perMille).toBeLessThanOrEqual(2);
    await paidFor(bytes, other, { baseFee: (baseFee * 9n) / 8n });
    await node.mine(dear);
    // six blocks of L1 double its base fee at most, five do not
    await paidFor(bytes, other, { baseFee: baseFee * 2n }, { feeHorizon: "72 seconds" });
    await node.mine(base);
  });
  it("are payable with exactly the required balance, and one wei less than can be paid is reported", async () => {
    const rich = await someoneWith(node, 10n ** 18n);
    const minted = `${calldata(token, "mint", [third.address, 1n])}${noise(500).slice(2)}`;
    const inputOf = ({ address }: PrivateKeyAccount) => ({ from: address, to: at, data: minted });
    const asked = await preflightOf(node, inputOf(rich));
    const required = asked.funds[0]?.required ?? 0n;
    const just = await someoneWith(node, required);
    await paidFor(inputOf(just), just);
    const { expected } = (await preflightOf(node, inputOf(rich))).funds[0] ?? {};
    const poor = await someoneWith(node, (expected ?? 0n) - 10n ** 6n);
    const report = await preflightOf(node, inputOf(poor));
    expect(report.verdict).toBe("blocked");
    expect(codesOf(report)).toContain("InsufficientFunds/blocker");
  });
  it("are the same for a chain of the table and one that nobody described", async () => {
    const input = padded(noise(100).slice(2));
    const chain = { feeModel: "opstack", elasticity: 6n, denominator: 250n, blockTimeMs: 12_000 } as const;
    // why: of a chain whose pace is known the age of the head counts, and the harness dates its blocks 30 s back
    await node.mine(base);
    const [known, found] = [await preflightOf(node, input, {}, chain), await preflightOf(node, input)];
    expect(known.verdict).toBe(found.verdict);
    // another block time makes another fee cap, and that a byte more or less to compress
    const ratio = Number(known.funds[0]?.expected) / Number(found.funds[0]?.expected);
    expect(Math.abs(ratio - 1)).toBeLessThan(0.001);
    expect(severe(known)).toEqual([]);
  });
  it("come from blocks and receipts that are read in full", async () => {
    await node.mine(base);
    await carryOut(node, await preflightOf(node, padded("")), other);
    const on = Effect.provide(layerOf(node.url));
    const block = await Effect.runPromise(Eth.getBlock({ block: "latest" }).pipe(on));
    const receipts = await Effect.runPromise(Eth.getBlockReceipts({ block: "latest" }).pipe(on));
    const [deposit, mined] = receipts;
    expect(block.transactions).toEqual(receipts.map(({ transactionHash }) => transactionHash));
    expect(deposit).toMatchObject({ type: "0x7e", status: "success", depositReceiptVersion: 1n, l1Fee: null });
    expect(deposit?.depositNonce).toBeGreaterThan(0n);
    const isFrom = (first: Generation) => generations.indexOf(generation) >= generations.indexOf(first);
    expect(mined).toMatchObject({
      ...{ type: "0x2", l1GasPrice: base.baseFee, l1BlobBaseFee: base.blobBaseFee, depositNonce: null },
      ...{ l1BaseFeeScalar: 2_269n, l1BlobBaseFeeScalar: 1_055_762n, l1FeeScalar: null },
      operatorFeeScalar: isFrom("isthmus") ? BigInt(l1.operatorFeeScalar ?? 0) : null,
      operatorFeeConstant: isFrom("isthmus") ? l1.operatorFeeConstant : null,
      // the smallest size of a transaction is 100 bytes, at 400 gas each
      ...(isFrom("jovian") ? { daFootprintGasScalar: 400n, blobGasUsed: 40_000n } : { daFootprintGasScalar: null }),
    });
    expect(mined?.l1Fee).toBeGreaterThan(0n);
    expect(block.blobGasUsed).toBe(isFrom("jovian") ? 40_000n : 0n);
    expect(block.requestsHash === null).toBe(!isFrom("isthmus"));
    expect(block.extraData?.length).toBe(isFrom("jovian") ? 36 : isFrom("holocene") ? 20 : 2);
    expect(block.miner).toBe("0x4200000000000000000000000000000000000011");
  });
});

describe.skipIf(bin === null)("the base fee of an OP-stack chain", () => {
  const feesOf = async (node: OpGeth, chain: Partial<Chains.Chain> = {}) => {
    const report = await preflightOf(node, { from: other.address, to: nobody, value: 1n }, {}, chain);
    await node.mine();
    const { baseFeePerGas } = (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as {
      readonly baseFeePerGas: string;
    };
    return { codes: codesOf(report), said: report.transactions[0].fee.baseFeePerGas, is: BigInt(baseFeePerGas) };
  };
  const started: Array<OpGeth> = [];
  const start = async (options: Parameters<typeof startOpGeth>[1]) => {
    const node = await startOpGeth(bin ?? "", options);
    started.push(node);
    await node.mine();
    return node;
  };
  afterAll(() => Promise.all(started.map((node) => node.stop())));

  it("follows the parameters in the header (Holocene)", async () => {
    const node = await start({ generation: "holocene", l1: base, eip1559: { denominator: 8, elasticity: 2 } });
    const { codes, said, is } = await feesOf(node);
    expect([codes, said]).toEqual([[], is]);
  });
  it("follows the table's parameters without a header's, and the simulation without a table", async () => {
    const node = await start({ generation: "ecotone", l1: base });
    const unknown = await feesOf(node);
    expect([unknown.codes, unknown.said]).toEqual([["BaseFeeDisagrees/info"], unknown.is]);
    const known = await feesOf(node, { feeModel: "opstack", elasticity: 20n, denominator: 1_000n });
    expect([known.codes, known.said]).toEqual([[], known.is]);
  });
  it("has a floor, and data fills a block like gas does (Jovian)", async () => {
    const eip1559 = { denominator: 8, elasticity: 6 };
    const l1 = { ...base, minBaseFee: 9_500_000, daFootprintGasScalar: 4_000 };
    const node = await start({ generation: "jovian", l1, eip1559 });
    await node.mine();
    expect(await feesOf(node)).toEqual({ codes: [], said: 9_500_000n, is: 9_500_000n });
    await sent(node, { to: nobody, data: noise(9_000) });
    const full = await feesOf(node);
    expect([full.codes, full.said]).toEqual([[], full.is]);
    expect(full.is).toBeGreaterThan(9_500_000n);
    // one transaction whose data no block takes
    await node.mine({ daFootprintGasScalar: 60_000 });
    const report = await preflightOf(node, { from: other.address, to: nobody, data: noise(9_000) });
    expect(report.findings.find(({ code }) => code === "BlockGasLimitExceeded")?.sentence).toContain("data footprint");
  });
});

describe.skipIf(bin === null)("the pending block of an OP-stack node", () => {
  const simple = { from: other.address, to: nobody, value: 1n };
  it.each([
    ["is the latest", "isthmus", false, 0n],
    ["is one of its own where the node computes it", "fjord", true, 1n],
    // such a node lacks the parameters that Holocene wants of every block
    ["is not there where the node cannot compute it", "isthmus", true, null],
  ] as const)("%s (%s)", async (_, generation, computesPending, beyond) => {
    const l1 = { ...base, ...(generation === "isthmus" ? operator.isthmus : {}) };
    const node = await startOpGeth(bin ?? "", { generation, l1, computesPending });
    try {
      const pendingBeyond = async () => {
        const numberOf = async (block: string) => {
          const answer = await rawRequest(node.url, "eth_getBlockByNumber", [block, false]);
          return BigInt((answer as { readonly number: string }).number);
        };
        const latest = await numberOf("latest");
        return numberOf("pending").then(
          (pending) => pending - latest,
          () => null,
        );
      };
      // at the genesis L1 has no price yet
      for (let block = 0; block < 2; block++) {
        expect(await pendingBeyond()).toBe(beyond);
        const report = await preflightOf(node, simple);
        expect([report.verdict, report.observed.blockTag]).toEqual(["ready", beyond === null ? "latest" : "pending"]);
        await carryOut(node, report, other);
      }
      expect((await preflightOf(node, simple, { block: "latest" })).verdict).toBe("ready");
      const asked = await preflightOf(node, simple, { block: "pending" });
      expect(asked.verdict).toBe(beyond === null ? "unknown" : "ready");
      // what is in the pool counts, whether or not a pending block has it
      await send(node, await preflightOf(node, simple), other);
      const queued = await preflightOf(node, simple);
      expect(severe(queued)).toEqual(["PredecessorsNotSimulated/warning"]);
      const receipts = await carryOut(node, queued, other);
      expect(receipts.map(({ status }) => status)).toEqual(["success"]);
    } finally {
      await node.stop();
    }
  });
});

describe.skipIf(bin === null)("predeploys that missed Isthmus", () => {
  it("leave out the operator fee that the node charges: the report says so, and the required sum covers it", async () => {
    const l1 = { ...base, ...operator.isthmus };
    const node = await startOpGeth(bin ?? "", { generation: "isthmus", predeploys: "fjord", l1 });
    try {
      await node.mine();
      for (const input of [
        { from: other.address, to: nobody, value: 1n },
        { from: other.address, data: deployment },
      ]) {
        const report = await preflightOf(node, input);
        expect(severe(report)).toEqual(["L1FeeUnknown/unavailable"]);
        expect(report.verdict).toBe("unknown");
        const had = await balanceOf(node, other.address);
        const { request } = report.transactions[0];
        await rawRequest(node.url, "eth_sendRawTransaction", [await other.signTransaction(request as never)]);
        await node.mine();
        expect(report.funds[0]?.required).toBeGreaterThanOrEqual(had - (await balanceOf(node, other.address)));
      }
    } finally {
      await node.stop();
    }
  });
});
