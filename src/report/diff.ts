/** Which facts of two reports differ, and by how much. Pure. */
import type { Report } from "./schema.js";

/** One fact that moved. `by` is `after − before` where both are amounts. */
export interface Difference {
  /** Path of the fact, e.g. `transactions[0].gas.limit`, `verdict`. */
  readonly path: string;
  /** The figure of the first report, as text. */
  readonly before: string;
  /** The figure of the second report, as text. */
  readonly after: string;
  /** How much larger it became, in its unit; null where it is no number. */
  readonly by: bigint | null;
}

type Facts = ReadonlyMap<string, bigint | string>;

const factsOf = (report: Report): Facts => {
  const facts = new Map<string, bigint | string>();
  const set = (path: string, value: bigint | string | number | boolean | null) => {
    if (value !== null) facts.set(path, typeof value === "bigint" ? value : String(value));
  };
  set("verdict", report.verdict);
  set("stage", report.stage);
  set("chainId", report.chainId);
  set("digest", report.digest);
  set("observed.baseFeePerGas", report.observed.baseFeePerGas);
  report.transactions.forEach(({ request, code, outcome, gas, nonce, fee }, index) => {
    const at = `transactions[${index}]`;
    set(`${at}.code.from`, code.from.kind);
    set(`${at}.code.to`, code.to?.kind ?? null);
    set(`${at}.outcome.status`, outcome.status);
    set(`${at}.outcome.gasUsed`, outcome.gasUsed);
    set(`${at}.outcome.returnData`, outcome.returnData);
    set(
      `${at}.outcome.logs`,
      outcome.logs.map(({ address, topics, data }) => `${address} ${topics.join(",")} ${data}`).join("; "),
    );
    set(`${at}.gas.limit`, request?.gas ?? gas.limit);
    set(`${at}.nonce.value`, nonce.value);
    set(`${at}.fee.baseFeePerGas`, fee.baseFeePerGas);
    set(`${at}.fee.maxFeePerGas`, fee.maxFeePerGas ?? fee.gasPrice);
    set(`${at}.fee.maxPriorityFeePerGas`, fee.maxPriorityFeePerGas);
  });
  for (const { account, balance, required, expected, shortfall } of report.funds) {
    set(`funds[${account}].balance`, balance);
    set(`funds[${account}].required`, required);
    set(`funds[${account}].expected`, expected);
    set(`funds[${account}].shortfall`, shortfall);
  }
  for (const { account, token, tokenId, delta } of report.balanceChanges) {
    set(`balanceChanges[${account}/${token ?? "native"}${tokenId === null ? "" : `/${tokenId}`}]`, delta);
  }
  for (const { token, owner, spender, tokenId, after } of report.approvals) {
    set(`approvals[${token}/${owner}/${spender}${tokenId === null ? "" : `/${tokenId}`}]`, after);
  }
  for (const { code, step, transaction, severity } of report.findings) {
    set(`findings[${step}/${transaction ?? "all"}/${code}]`, severity);
  }
  return facts;
};

/** What moved from `a` to `b`, in the order of the report; empty when nothing did. */
export const diff = (a: Report, b: Report): ReadonlyArray<Difference> => {
  const [before, after] = [factsOf(a), factsOf(b)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path): ReadonlyArray<Difference> => {
    const [one, other] = [before.get(path), after.get(path)];
    if (one === other) return [];
    const by =
      typeof one === "bigint" || typeof other === "bigint"
        ? (typeof other === "bigint" ? other : 0n) - (typeof one === "bigint" ? one : 0n)
        : null;
    return [
      {
        path,
        before: one === undefined ? "none" : String(one),
        after: other === undefined ? "none" : String(other),
        by,
      },
    ];
  });
};
