/** The pure comparison of a report with a receipt and its block, fact by fact. */
import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import { settle, settledText, type Hindsight, type MinedSettlement, type BundleReport } from "../../src/Report.js";
import type { FullTransaction } from "../../src/Eth.js";
import { FullBlock, Receipt } from "../rooms/eth.js";
import { note } from "../harness/notes.js";
import type { Request } from "../rooms/transaction.js";
import { alice, report, transfer } from "../report/fixtures.js";

const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
const [bob, miner] = ["0x70997970c51812dc3a010c7d01b50e0d17dc79c8", `0x${"fe".repeat(20)}`] as const;
const [ours, theirs] = [word("01"), word("02")];

const mined = (changes: Partial<FullTransaction> = {}): FullTransaction => ({
  ...{ hash: ours, from: alice, to: bob, nonce: 7n, gas: 21_000n, value: 1_500_000_000_000_000_000n, input: "0x" },
  ...{ type: "0x2", chainId: 1n, maxFeePerGas: 2_100_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
  ...{ gasPrice: 1_500_000_000n, accessList: [], authorizationList: null },
  ...{ blobVersionedHashes: null, maxFeePerBlobGas: null, v: null, r: null, s: null, yParity: null },
  ...{ blockHash: word("bb"), blockNumber: 103n, transactionIndex: 0 },
  ...{ blockTimestamp: null, blockTimestampMs: null },
  ...changes,
});

const some = <A>(answer: A | undefined): A => {
  if (answer === undefined) throw new Error("no such answer");
  return answer;
};
const wire = { number: "0x67", parentHash: word("aa"), timestamp: "0x1", gasLimit: "0x1", gasUsed: "0x1" };
const emptyBlock = some(FullBlock.read({ ...wire, hash: word("bb"), miner, withdrawals: [], transactions: [] }, []));
const block = (...transactions: ReadonlyArray<FullTransaction>): FullBlock => ({
  ...emptyBlock,
  transactions: transactions.length === 0 ? [mined()] : transactions,
});

const emptyReceipt = some(
  Receipt.read({ transactionHash: ours, blockNumber: "0x67", gasUsed: "0x5208", logs: [] }, []),
);
const receipt = (changes: Partial<Receipt> = {}): Receipt => ({
  ...emptyReceipt,
  ...{ blockHash: word("bb"), status: "success", effectiveGasPrice: 1_500_000_000n, type: "0x2" },
  ...changes,
});

const told = {
  ...{ blockNumber: null, blockTimestamp: null, blockTimestampMs: null },
  ...{ transactionHash: null, transactionIndex: null },
};
const log: NonNullable<Receipt["logs"]>[number] = {
  ...{ address: bob, topics: [word("ab")], data: word("05"), ...told },
  ...{ blockHash: null, logIndex: null, removed: false },
};

interface Row {
  readonly report?: Partial<BundleReport>;
  readonly receipt?: Partial<Receipt>;
  readonly block?: FullBlock;
  readonly hindsight?: Hindsight;
  readonly differs: ReadonlyArray<string>;
}

const [attributes, vault] = [
  "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001",
  "0x4200000000000000000000000000000000000019",
] as const;
const held = (after: bigint) => ({
  held: [{ account: alice, token: null, before: 10n ** 19n, after }],
});
const gasPaid = 21_000n * 1_500_000_000n;
const left = 10n ** 19n - 1_500_000_000_000_000_000n - gasPaid;
const withFees = (name: "l1Fee" | "operatorFee", amount: bigint): Partial<BundleReport> => ({
  funds: report().funds.map((funds) => ({
    ...funds,
    terms: [...funds.terms, { transaction: 0, name, amount }],
  })),
});

const vain = (changes: Partial<BundleReport["findings"][number]> = {}): BundleReport["findings"][number] => ({
  ...note("ReturnedFalse", "warning", { transaction: 0, evidence: "measured" }),
  ...changes,
});

const rows: Readonly<Record<string, Row>> = {
  "nothing differs": { differs: [] },
  "it failed": {
    receipt: { status: "failure" },
    differs: ["unknown status success≠failure"],
  },
  "it returned false, and did nothing of what it asks for": {
    report: { findings: [vain()] },
    differs: ["unfulfilled what its call asks for happens≠the call did not return true, and nothing happened"],
  },
  "it returned false, and took more gas": {
    report: { findings: [vain()] },
    receipt: { gasUsed: 21_001n },
    differs: [
      "unknown gas used 21000≠21001",
      "unfulfilled what its call asks for happens≠the call did not return true, and nothing happened",
    ],
  },
  "it was to return false, and did something": {
    report: { findings: [vain()] },
    receipt: { logs: [log] },
    differs: [`unknown log[0] null≠${bob} ${word("ab")} ${word("05")}`],
  },
  "another of its bundle returned false": { report: { findings: [vain({ transaction: 1 })] }, differs: [] },
  "it took more gas": { receipt: { gasUsed: 21_001n }, differs: ["unknown gas used 21000≠21001"] },
  "a log more": {
    receipt: { logs: [log] },
    differs: [`unknown log[0] null≠${bob} ${word("ab")} ${word("05")}`],
  },
  "logs are not told": { receipt: { logs: null }, differs: ["? events"] },
  "the status is not told": { receipt: { status: null }, differs: ["? status"] },
  "a higher price than was signed": {
    receipt: { effectiveGasPrice: 2_100_000_001n },
    differs: ["unknown price ≤ 2100000000≠2100000001", "priceMoved cost ≤ 44100000000000≠44100000021000"],
  },
  "the price is not told": { receipt: { effectiveGasPrice: null }, differs: ["? price", "? cost"] },
  "a fee of layer 1 within what was said": {
    report: withFees("l1Fee", 100n),
    receipt: { l1Fee: 100n },
    differs: [],
  },
  "a fee of layer 1 above it": {
    report: withFees("l1Fee", 100n),
    receipt: { l1Fee: 101n },
    differs: ["priceMoved L1 fee ≤ 100≠101"],
  },
  "a fee of the operator, before Jovian": {
    report: withFees("operatorFee", 25n),
    receipt: { operatorFeeScalar: 1_000n, operatorFeeConstant: 4n },
    differs: [],
  },
  "a fee of the operator, from Jovian on": {
    report: withFees("operatorFee", 25n),
    receipt: { operatorFeeScalar: 1n, operatorFeeConstant: 4n, daFootprintGasScalar: 1n },
    differs: ["priceMoved operator fee ≤ 25≠2100004"],
  },
  "other calldata": {
    block: block(mined({ input: "0x01" })),
    differs: ["tampered request data 0x≠0x01"],
  },
  "another receiver, and all else as well": {
    block: block(mined({ to: alice })),
    receipt: { status: "failure" },
    differs: [`tampered request to ${bob}≠${alice}`],
  },
  "another sender": {
    block: block(mined({ from: bob })),
    differs: [`tampered request from ${alice}≠${bob}`],
  },
  "another nonce": { block: block(mined({ nonce: 8n })), differs: ["tampered request nonce 7≠8"] },
  "a type that nobody signs": {
    block: block(mined({ type: "0x7e" })),
    differs: ["tampered request type eip1559≠null"],
  },
  "another took the nonce": {
    block: block(mined({ hash: theirs, value: 0n })),
    receipt: { transactionHash: theirs },
    hindsight: { sent: ours },
    differs: ["replaced request value 1500000000000000000≠0"],
  },
  "balances as said": { hindsight: held(left), differs: [] },
  "balances otherwise, alone in the block": {
    hindsight: held(left - 1n),
    differs: [`simulatorWrong balances[${alice}/native] -1500000000000000000≠-1500000000000000001`],
  },
  "balances otherwise, others in the block": {
    block: block(mined(), mined({ hash: theirs, from: bob })),
    hindsight: held(left - 1n),
    differs: [`? balances[${alice}/native]`],
  },
  "of a token otherwise, alone in the block: it may pay interest": {
    report: {
      balanceChanges: [
        { account: alice, token: bob, tokenId: null, before: null, after: null, delta: 1n, evidence: "measured" },
      ],
    },
    hindsight: { held: [{ account: alice, token: bob, before: 0n, after: 2n }] },
    differs: [`unknown balances[${alice}/${bob}] 1≠2`],
  },
  "balances otherwise, behind what tells of layer 1": {
    block: block(mined({ hash: theirs, type: "0x7e", from: attributes }), mined()),
    hindsight: held(left - 1n),
    differs: [`simulatorWrong balances[${alice}/native] -1500000000000000000≠-1500000000000000001`],
  },
  "balances otherwise, behind a deposit of somebody's": {
    block: block(mined({ hash: theirs, type: "0x7e", from: bob }), mined()),
    hindsight: held(left - 1n),
    differs: [`? balances[${alice}/native]`],
  },
  "of a contract that fees are paid to": {
    report: {
      balanceChanges: [
        { account: vault, token: null, tokenId: null, before: null, after: null, delta: 1n, evidence: "measured" },
      ],
    },
    hindsight: { held: [{ account: vault, token: null, before: 0n, after: 2n }] },
    differs: [`? balances[${vault}/native]`],
  },
  "balances as said, others in the block": {
    block: block(mined(), mined({ hash: theirs, from: bob })),
    hindsight: held(left),
    differs: [],
  },
};

const label = ({ kind, what, event, account, unit }: MinedSettlement["uncompared"][number]): string =>
  kind === "balance" && typeof unit === "object"
    ? `balances[${account}/${unit?.token ?? "native"}]`
    : (what ?? (event === null ? kind : `${kind}[${event}]`));

describe("the comparison of a report with its receipt", () => {
  it.each(Object.entries(rows))("is right: %s", (_, row) => {
    const settled = settle(report(row.report), receipt(row.receipt), row.block ?? block(), row.hindsight);
    if (settled === null) throw new Error("not settled");
    const differences = settled.differences.map(
      (one) => `${one.class} ${label(one)} ${one.kind === "most" ? "≤ " : ""}${one.a}≠${one.b}`,
    );
    const told = [...differences, ...settled.uncompared.map((of) => `? ${label(of)}`)];
    if (row.block?.transactions[0]?.type === "0x7e") expect(told).toContain(row.differs[0]);
    else expect(told).toEqual(row.differs);
  });

  it("has the gravest class, and a sample", () => {
    const settled = settle(report(withFees("l1Fee", 1n)), receipt({ status: "failure", l1Fee: 2n }), block());
    expect(settled?.class).toBe("unknown");
    expect(settled?.sample).toEqual({
      ...{ chainId: 1, selector: null, class: "unknown", isFlip: true, gasRatio: 1, gasOfSaid: 1, ageBlocks: 3 },
      priceRatio: 0.714285,
    });
  });

  it("is null for another transaction, and for another block", () => {
    const two = report({ transactions: [transfer, transfer] });
    expect(settle(two, receipt(), block(mined({ nonce: 9n })))).toBeNull();
    expect(settle(report(), receipt({ transactionHash: theirs }), block())).toBeNull();
    expect(settle(report(), receipt({ blockHash: word("cc") }), block())).toBeNull();
    expect(settle(report({ transactions: [{ ...transfer, request: null }] }), receipt(), block())).toBeNull();
  });

  it("is not `same` where nobody knows what happened, or what would", () => {
    const unsaid = { ...transfer, outcome: { ...transfer.outcome, status: "unknown" as const, gasUsed: null } };
    const classes = [
      settle(report(), receipt({ status: null }), block()),
      settle(report(), receipt({ logs: null }), block()),
      settle(report({ transactions: [unsaid] }), receipt(), block()),
      settle(report(), receipt({ effectiveGasPrice: null }), block()),
    ].map((settled) => settled?.class);
    expect(classes).toEqual(["unknown", "unknown", "unknown", "same"]);
  });

  it("reads the chain of a type-0 transaction from its signature, where the node does not name it", () => {
    const { chainId, nonce, data, value, gas } = transfer.request ?? expect.fail();
    const request: Request = { type: "legacy", chainId, nonce, to: bob, data, value, gas, gasPrice: 2_100_000_000n };
    const legacy = report({ transactions: [{ ...transfer, request }] });
    const as = (changes: Partial<FullTransaction>) =>
      settle(legacy, receipt({ type: "0x0" }), block(mined({ ...untyped, ...changes })))?.class;
    const untyped = { type: "0x0", maxFeePerGas: null, maxPriorityFeePerGas: null, gasPrice: 2_100_000_000n } as const;
    expect([as({}), as({ chainId: null, v: 37n }), as({ chainId: null, v: 38n })]).toEqual(["same", "same", "same"]);
    expect([as({ chainId: null, v: 39n }), as({ chainId: null, v: 27n })]).toEqual(["tampered", "tampered"]);
  });

  it("finds its place in a bundle by sender and nonce", () => {
    const { request } = transfer;
    const second = { ...transfer, request: request && { ...request, nonce: 8 } };
    const settled = settle(report({ transactions: [transfer, second] }), receipt(), block(mined({ nonce: 8n })));
    expect([settled?.transaction, settled?.class]).toEqual([1, "same"]);
  });

  it("is shown without control characters", () => {
    const settled = some(settle(report(), receipt({ status: "failure" }), block()) ?? undefined);
    const text = settledText(
      {
        ...{
          class: "unknown",
          balances: { compared: 0, differences: [], uncompared: [] },
          balancesUntold: null,
          ledger: report().ledger,
        },
        transactions: [settled, { state: "dropped", transaction: 1, hash: theirs, class: "unknown" }],
      },
      report(),
    );
    expect(text).toContain("UNKNOWN · what happened, or why it differs, is not known");
    expect(text).toContain("transaction 1, status: unknown [unavailable]");
    expect(text).toContain(`${theirs}  dropped`);
  });
});
