/**
 * What the net holds of a report: every fact, no text. The only file here that knows what a report's
 * fields are called; when one is renamed, its line here follows and the frozen lines stay as they are.
 *
 * Left out, because they differ from run to run on the same state: `observed.at`, `timestamp`, `parentHash`
 * and block numbers (wall clock), the ledger's times, sizes and endpoints, the digest's value (it follows from the
 * requests). Left out as prose: messages, remedies, token names in words other than the token's own.
 */
import { keccak256, type Hex } from "viem";
import type { Report, Settled } from "../../src/Report.js";

type Transaction = Report["transactions"][number];

/** JSON without loss: bigints as decimal strings, nothing that is undefined. */
export type Plain = null | boolean | number | string | ReadonlyArray<Plain> | { readonly [key: string]: Plain };

const longest = 2 + 2 * 256;
const most = 64;

const hashOf = (value: unknown): string => keccak256(new TextEncoder().encode(JSON.stringify(value)));

/** Bytes as they are; long ones, like long lists, by size and hash, so that a line stays readable. */
const bytes = (data: string): string =>
  data.length <= longest ? data : `${(data.length - 2) / 2} bytes ${keccak256(data as Hex)}`;

const plain = (value: unknown): Plain => {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return value.startsWith("0x") ? bytes(value) : value;
  if (value === null || value === undefined || typeof value === "boolean" || typeof value === "number")
    return value ?? null;
  if (Array.isArray(value)) {
    const items = value.map(plain);
    return items.length <= most ? items : `${items.length} items ${hashOf(items)}`;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [key, plain(inner)]),
  );
};

const revertOf = ({ revert }: Transaction["outcome"]) =>
  revert === null
    ? null
    : {
        data: revert.data,
        layers: revert.layers.map(({ path, layer }) => {
          const named = "signature" in layer ? layer.signature : "code" in layer ? `0x${layer.code.toString(16)}` : "";
          const candidates = "candidates" in layer ? layer.candidates.map(({ signature }) => signature) : [];
          return [path, layer._tag, named, ...candidates].filter((part) => part !== "").join(" ");
        }),
      };

const logsOf = ({ logs }: Transaction["outcome"]) => ({
  count: logs.length,
  decoded: logs.filter(({ decoded }) => decoded !== null).length,
  hash: hashOf(logs.map(({ address, topics, data }) => [address, topics, data])),
});

const outcomeOf = ({ outcome }: Transaction) => ({
  status: outcome.status,
  gasUsed: outcome.gasUsed,
  returnData: outcome.returnData,
  result: outcome.result?.name ?? null,
  failure: outcome.failure?._tag ?? null,
  revert: revertOf(outcome),
  logs: logsOf(outcome),
  evidence: outcome.evidence,
});

const accountOf = (account: Transaction["code"]["from"] | null) =>
  account === null
    ? null
    : {
        kind: account.kind,
        delegate: account.delegate,
        delegateHasCode: account.delegateHasCode,
        evidence: account.evidence,
      };

const codeOf = ({ code }: Transaction) => ({
  from: accountOf(code.from),
  to: accountOf(code.to),
  creates: code.creates,
});

const gasOf = ({ gas }: Transaction) => ({
  limit: gas.limit,
  used: gas.used,
  peak: gas.peak,
  estimate: gas.estimate,
  cap: gas.cap,
  byCaller: gas.by === "caller",
  evidence: gas.evidence,
});

const nonceOf = ({ nonce }: Transaction) => ({
  value: nonce.value,
  next: nonce.next,
  latest: nonce.latest,
  inFlight: nonce.inFlight,
  gap: nonce.gap,
  byCaller: nonce.by === "caller",
  evidence: nonce.evidence,
});

const feeOf = ({ fee }: Transaction) => ({
  maxFeePerGas: fee.maxFeePerGas,
  maxPriorityFeePerGas: fee.maxPriorityFeePerGas,
  gasPrice: fee.gasPrice,
  baseFeePerGas: fee.baseFeePerGas,
  tipSource: fee.tipSource,
  horizonSeconds: fee.horizonSeconds,
  evidence: fee.evidence,
});

const transactionOf = (transaction: Transaction) => ({
  request: transaction.request,
  code: codeOf(transaction),
  outcome: outcomeOf(transaction),
  gas: gasOf(transaction),
  nonce: nonceOf(transaction),
  fee: feeOf(transaction),
});

const transferOf = (one: Report["transfers"][number]) => ({
  standard: one.standard,
  token: one.token,
  tokenId: one.tokenId,
  from: one.from,
  to: one.to,
  amount: one.amount,
  transaction: one.transaction,
  evidence: one.evidence,
});

const changeOf = (one: Report["balanceChanges"][number]) => ({
  account: one.account,
  token: one.token,
  tokenId: one.tokenId,
  before: one.before,
  after: one.after,
  delta: one.delta,
  evidence: one.evidence,
});

const approvalOf = (one: Report["approvals"][number]) => ({
  standard: one.standard,
  token: one.token,
  tokenId: one.tokenId,
  owner: one.owner,
  spender: one.spender,
  spenderKind: one.spenderKind,
  before: one.before,
  after: one.after,
  expiration: one.expiration,
  unlimited: one.unlimited,
  transaction: one.transaction,
  evidence: one.evidence,
});

const tokenOf = (one: Report["tokens"][number]) => ({
  token: one.token,
  name: one.name,
  symbol: one.symbol,
  decimals: one.decimals,
});

const fundsOf = (one: Report["funds"][number]) => ({
  account: one.account,
  balance: one.balance,
  required: one.required,
  expected: one.expected,
  shortfall: one.shortfall,
  terms: one.terms.map(({ name, amount, transaction }) => `${transaction} ${name} ${amount}`),
  evidence: one.evidence,
});

const findingsOf = ({ findings }: Report): ReadonlyArray<string> =>
  findings.map(({ code, severity, transaction }) => `${code}/${severity}/${transaction ?? "-"}`).sort();

/** What was asked: `round run method, because`, and how often where it is more than once. */
const askedOf = ({ ledger }: Report | Settled) => {
  const lines = ledger.requests
    .filter(({ tries }) => tries > 0)
    .map(
      ({ round, run, method, because }) => `${round} ${run ?? "-"} ${method}${because === null ? "" : `, ${because}`}`,
    )
    .sort();
  const times = new Map<string, number>();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  return {
    rounds: ledger.rounds,
    requests: [...times].map(([line, count]) => (count === 1 ? line : `${line} × ${count}`)),
  };
};

const byText = (a: Plain, b: Plain): number => {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : one > other ? 1 : 0;
};

const reportOf = (report: Report) => ({
  verdict: report.verdict,
  stage: report.stage,
  tier: report.observed.tier,
  block: report.observed.blockTag,
  chainId: report.chainId,
  digest: report.digest !== null,
  transactions: report.transactions.map(transactionOf),
  transfers: report.transfers.map(transferOf),
  balanceChanges: report.balanceChanges.map(changeOf),
  approvals: report.approvals.map(approvalOf),
  payees: report.payees,
  // the order in which tokens are described says nothing
  tokens: report.tokens.map(tokenOf).map(plain).sort(byText),
  funds: report.funds.map(fundsOf),
  findings: findingsOf(report),
  asked: askedOf(report),
});

const settlementOf = (settled: Settled) => ({
  class: settled.class,
  transactions: settled.transactions.map((one) => `${one.state} ${one.class}`),
  asked: askedOf(settled),
});

/** The projection of one report, or of what came of it. */
export const project = (told: Report | Settled): Plain =>
  plain("verdict" in told ? reportOf(told) : settlementOf(told));
