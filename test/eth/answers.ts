/** Minimal answers that are valid, to be broken one field at a time. */
export const word = `0x${"11".repeat(32)}`;
export const account = `0x${"22".repeat(20)}`;

export const log = { address: account, topics: [word], data: "0x01" };
export const callResult = { status: "0x1", gasUsed: "0x5208", returnData: "0x", logs: [log] };
export const block = {
  number: "0x10",
  hash: word,
  parentHash: word,
  timestamp: "0x5",
  gasLimit: "0x1c9c380",
  gasUsed: "0x0",
};
export const simulated = { ...block, calls: [callResult, callResult] };
export const receipt = {
  transactionHash: word,
  blockNumber: "0x1",
  gasUsed: "0x5208",
  status: "0x1",
  type: "0x2",
  logs: [log],
};
export const feeHistory = { oldestBlock: "0x1", baseFeePerGas: ["0x7", "0x8"], gasUsedRatio: [0.5] };

/** `value` with what stands at `path` replaced, or removed when `by` is undefined. */
export const broken = (value: unknown, path: ReadonlyArray<string | number>, by: unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? broken(item, rest, by) : (item as unknown)));
  const entries = {
    ...(value as Record<string, unknown>),
    [key]: broken((value as Record<string, unknown>)[key], rest, by),
  };
  return Object.fromEntries(Object.entries(entries).filter(([, inner]) => inner !== undefined));
};

/** The path as `MalformedResponse` names it. */
export const named = (path: ReadonlyArray<string | number>): string =>
  path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${key}`), "result");
