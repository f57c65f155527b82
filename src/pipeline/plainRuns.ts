/**
 * Runs a user operation's calls without assumed signatures: code in place of the EntryPoint passes them on to the account, and
 * ECRECOVER is the node's own. A difference exposes code that acts otherwise where a signature is assumed. Pure.
 */
import { wordOf } from "../abi/words.js";
import { concat, keccak256 } from "../primitives/bytes.js";
import { isQuantity, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { traceEmitter } from "../effects/movements.js";
import { delegated, type PlacedSigning } from "../signing/index.js";
import { listed, quantity, recordIn, type Wire } from "./wire.js";

/** A user operation whose calls can be run by themselves. */
export interface PlainRun {
  readonly digest: Hash;
  readonly entryPoint: Address;
  /** Calldata for the code in place of the EntryPoint: the account, the gas of its call, and the call. */
  readonly data: Hex;
  readonly bundler: Address;
  /** The call that makes the account, where it is not there yet; else null. */
  readonly deployment: Wire | null;
  /** True if a paymaster may act after the calls. */
  readonly isPaid: boolean;
}

/** `executeUserOp`: the EntryPoint replaces this calldata with its own before it calls the account. */
const executeUserOp = "0x8dd7712f";

/** The first contract that an EntryPoint made: it calls the factories of accounts. */
export const senderCreatorOf = (entryPoint: Address): Address =>
  `0x${keccak256(`0xd694${entryPoint.slice(2)}01`).slice(26)}`;

/** The user operations among signatures; null = the calls of one cannot be run by themselves. */
export const plainRunsOf = (signings: ReadonlyArray<PlacedSigning>): ReadonlyArray<PlainRun> | null => {
  const runs = signings.flatMap(({ sign, stand, use }): ReadonlyArray<PlainRun | null> => {
    if (use.operation === undefined) return [];
    const { operation, entryPoint } = use.operation;
    const { sender, callData, callGasLimit, factory, factoryData, paymaster } = operation;
    if (callData === "0x" || callData.startsWith(executeUserOp)) return [null];
    const isMade = factory !== null && factory !== delegated;
    const creator = senderCreatorOf(entryPoint);
    return [
      {
        ...{ digest: sign.digest, entryPoint, bundler: stand.stranger, isPaid: paymaster !== null },
        data: concat(wordOf(BigInt(sender)), wordOf(callGasLimit), callData),
        deployment: isMade ? { from: creator, to: factory, input: factoryData, gas: deploymentGas } : null,
      },
    ];
  });
  return runs.some((run) => run === null) ? null : runs.filter((run) => run !== null);
};

/** Gas of the call that makes an account. */
const deploymentGas: Hex = "0x4c4b40";

// CALLDATACOPY from 64 on, CALL(word 1, word 0, 0, 0, CALLDATASIZE - 64, 0, 0), and STOP, or REVERT where it fails
const forwarder: Hex = "0x604036036040600037600060006040360360006000600035602035f11561002257005b60006000fd";

/** The user operation whose bundler makes this call; undefined = it is no bundler's call. */
const bundledBy = (call: unknown, runs: ReadonlyArray<PlainRun>): PlainRun | undefined => {
  const { from, to } = recordIn(call);
  return runs.find(
    ({ bundler, entryPoint }) => String(from).toLowerCase() === bundler && String(to).toLowerCase() === entryPoint,
  );
};

/** Wei for the contract that makes accounts. */
const purse = 10n ** 24n;
/** Wei that a bundler gets in addition to the cost of its call. */
const change = 731_904_115_200_337_500n;
/** Wei per gas in a block: twice its base fee, and at least 10 gwei. */
const priceIn = (entry: Wire): bigint => {
  const { baseFeePerGas } = recordIn(entry["blockOverrides"]);
  const price = isQuantity(baseFeePerGas) ? 2n * BigInt(baseFeePerGas) : 0n;
  return price > 10n ** 10n ? price : 10n ** 10n;
};

/** A simulation's blocks with the operations' calls in place of the bundlers' calls; null = no block has a bundler's call. */
export const plainBlocks = (blocks: ReadonlyArray<Wire>, runs: ReadonlyArray<PlainRun>): ReadonlyArray<Wire> | null => {
  if (!blocks.some(({ calls }) => listed(calls).some((call) => bundledBy(call, runs) !== undefined))) return null;
  return blocks.map((entry) => {
    const fee = quantity(priceIn(entry));
    const changed: Record<string, unknown> = { ...recordIn(entry["stateOverrides"]) };
    const put = (account: Address, values: Wire) =>
      void (changed[account] = { ...recordIn(changed[account]), ...values });
    const calls = listed(entry["calls"]).flatMap((call) => {
      const run = bundledBy(call, runs);
      if (run === undefined) return [call];
      const { gas } = recordIn(call);
      put(run.entryPoint, { code: forwarder });
      // why: a usual balance, for code could recognise the simulation by one that is larger than the supply
      put(run.bundler, { balance: quantity((isQuantity(gas) ? BigInt(gas) : 0n) * priceIn(entry) + change) });
      if (run.deployment !== null) put(run.deployment["from"] as Address, { balance: quantity(purse) });
      return [
        ...(run.deployment === null ? [] : [{ ...run.deployment, maxFeePerGas: fee, maxPriorityFeePerGas: "0x0" }]),
        { ...recordIn(call), input: run.data, maxFeePerGas: fee },
      ];
    });
    return { ...entry, stateOverrides: changed, calls };
  });
};

/** `BeforeExecution()` of an EntryPoint. */
const before = "0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972";

/** Logs in one form, without the EntryPoint's own logs and those of wei that it gets or pays. */
const told = (logs: ReadonlyArray<unknown>, { entryPoint }: PlainRun): ReadonlyArray<string> => {
  const word = `0x${entryPoint.slice(2).padStart(64, "0")}`;
  return logs.flatMap((log) => {
    const { address, topics, data } = recordIn(log);
    const emitter = String(address).toLowerCase();
    const names = listed(topics).map((topic) => String(topic).toLowerCase());
    const isOwn = emitter === entryPoint || (emitter === traceEmitter && names.slice(1).includes(word));
    return isOwn ? [] : [JSON.stringify([emitter, names, String(data).toLowerCase()])];
  });
};

/** The result of a run's bundler call in the answer to `blocks`; null = there is none. */
const bundlingIn = (blocks: ReadonlyArray<Wire>, answer: unknown, run: PlainRun): Wire | null => {
  const all = listed(answer);
  for (const [index, entry] of blocks.entries()) {
    const place = listed(entry["calls"]).findIndex((call) => bundledBy(call, [run]) !== undefined);
    // why: a node may put blocks of its own in front
    const result = recordIn(all[index + all.length - blocks.length]);
    if (place >= 0) return recordIn(listed(result["calls"])[place]);
  }
  return null;
};

/**
 * True if the account's calls did the same in two answers: `assumed` answers `blocks`, where a signature is assumed; `plain`
 * answers `alone`, where the calls run by themselves.
 */
export const isSameWithoutAssumption = (
  [blocks, assumed]: readonly [ReadonlyArray<Wire>, unknown],
  [alone, plain]: readonly [ReadonlyArray<Wire>, unknown],
  run: PlainRun,
): boolean => {
  const [first, other] = [bundlingIn(blocks, assumed, run), bundlingIn(alone, plain, run)];
  if (first === null || other?.["status"] !== "0x1") return false;
  const logs = listed(first["logs"]);
  const at = logs.findLastIndex((log) => {
    const { address, topics } = recordIn(log);
    return String(address).toLowerCase() === run.entryPoint && listed(topics)[0] === before;
  });
  const [own, plainly] = [told(logs.slice(at + 1), run), told(listed(other["logs"]), run)];
  const isSame = plainly.every((log, place) => own[place] === log);
  // why: what a paymaster does afterwards is no call of the account
  return isSame && (run.isPaid || own.length === plainly.length);
};
