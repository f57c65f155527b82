/**
 * What reading movements, rights and balances out of a run costs: client CPU and memory for 1,000 to 8,000
 * logs between 100 parties, without any network.
 *
 *     npm run bench:movements
 */
import type { Address, Hash, Hex } from "../src/primitives/hex.js";
import { measureOf } from "../src/pipeline/limits.js";
import { everyStep } from "../src/pipeline/steps.js";
import { effectsOf, movementsOf } from "../src/pipeline/worlds/movements.js";
import * as Assets from "../src/steps/assets.js";
import { bundleOf, type Bundle, type Filled } from "../src/steps/reading/bundle.js";
import { compareEffects } from "../src/steps/reading/compare.js";
import { transfersOf } from "../src/effects/movements.js";
import { unread } from "../src/steps/reading/outcome.js";
import type { Run } from "../src/steps/simulate.js";
import { unseen } from "../src/witness/view.js";

const parties = 100;
const address = (index: number): Address => `0x${(index + 1).toString(16).padStart(40, "a")}` as Address;
const word = (value: string): Hash => `0x${value.padStart(64, "0")}` as Hash;
const transfer = word("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

const readingOf = (count: number) => {
  const logs = Array.from({ length: count }, (_, index) => ({
    address: address(1000 + (index % 5)),
    topics: [transfer, word(address(index % parties).slice(2)), word(address((index * 7 + 1) % parties).slice(2))],
    data: word((index + 1).toString(16)) as string as Hex,
    decoded: null,
  }));
  const outcome = { ...unread(null).outcome, status: "success" as const, logs, evidence: "measured" as const };
  return { outcome, transfers: transfersOf(logs, 0, "measured") };
};

const bare = { value: 0n, chainId: null, gas: null, nonce: null, maxFeePerGas: null, maxPriorityFeePerGas: null };
const more = { gasPrice: null, accessList: null, authorizationList: null, blobVersionedHashes: null };
const transaction = {
  from: address(0),
  to: address(1000),
  data: "0x12345678" as Hex,
  ...bare,
  ...more,
  maxFeePerBlobGas: null,
  item: null,
};

const bundleWith = (count: number): Bundle<Filled> => {
  const [one] = bundleOf([transaction]);
  const unchosen = { by: "us", evidence: "unavailable" } as const;
  const price = { gasPrice: null, maxFeePerGas: null, maxPriorityFeePerGas: null };
  const tip = { tipSource: "unknown", tipNamed: null, horizonSeconds: null, shortenedFrom: null } as const;
  const somebody = { kind: "nobody", delegate: null, delegateHasCode: null, evidence: "unavailable" } as const;
  return [
    {
      ...one,
      ...readingOf(count),
      nonce: { value: null, ...unchosen },
      gas: { value: null, estimate: null, refusal: null, ...unchosen },
      fee: { value: price, ...tip, ...unchosen },
      code: { from: { account: address(0), ...somebody }, to: null, creates: null },
      charged: { extra: null, findings: [] },
      request: null,
    },
  ];
};

/** A run that nobody watched: only what the logs tell is read. */
const runOf = (bundle: Bundle<Filled>): Run => ({
  ...{ name: "ample", at: null, isCodeless: false },
  plan: {
    ...{ name: "ample", calls: [], before: [], after: [], block: "latest" },
    ...{ stateOverrides: null, blockOverrides: null, pretended: false },
  },
  block: {} as Run["block"],
  ...{ cut: null, gasCap: null, spent: 0n },
  ahead: null,
  readings: bundle,
  before: unseen,
  after: unseen,
  met: [],
  witnessed: false,
  traced: true,
  second: unseen,
  slots: null,
});

/** One scan's reading, and the two of a proof with their comparison. */
const report = (count: number): number => {
  const started = process.cpuUsage();
  const bundle = bundleWith(count);
  const run = runOf(bundle);
  const limits = { holdings: 320, rights: 64, tokens: 48 };
  const asked = measureOf(bundle, Assets.transfers(bundle), [], limits, everyStep);
  const told = movementsOf(bundle, run, asked, 1);
  const terms = { tolerance: 0.005, whose: new Set<string>(), concerned: new Set<string>(), numbers: null };
  const found = compareEffects(effectsOf(bundle, run, asked), effectsOf(bundle, run, asked), terms);
  const { user, system } = process.cpuUsage(started);
  if (told.transfers.length !== count || found.length > 0) throw new Error("the runs were read wrongly");
  return (user + system) / 1000;
};

console.log("logs   CPU ms   heap MB");
for (const count of [1000, 2000, 4000, 8000]) {
  for (let warm = 0; warm < 5; warm++) report(count);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const samples = Array.from({ length: 9 }, () => report(count)).sort((x, y) => x - y);
  const used = (process.memoryUsage().heapUsed - before) / samples.length / 2 ** 20;
  console.log(`${String(count).padEnd(6)} ${(samples[4] ?? 0).toFixed(1).padStart(6)} ${used.toFixed(1).padStart(9)}`);
}
