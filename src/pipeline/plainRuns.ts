/**
 * The calls of a user operation on a node as it is: its EntryPoint has code that passes them on to the account, and nothing stands
 * in place of ECRECOVER. Code that does something else where a signature is assumed is found out by the difference. Pure.
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
  /** Calldata of the code in place of the EntryPoint: the account, the gas of its call, and the call. */
  readonly data: Hex;
  readonly bundler: Address;
  /** The call that makes the account, where it is not there yet; else null. */
  readonly deployment: Wire | null;
  /** True if a paymaster may do something behind them. */
  readonly isPaid: boolean;
}

/** `executeUserOp`, of which the EntryPoint makes another call. */
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

/** The operation that a call of a simulation bundles. */
const bundledBy = (call: unknown, runs: ReadonlyArray<PlainRun>): PlainRun | undefined => {
  const { from, to } = recordIn(call);
  return runs.find(
    ({ bundler, entryPoint }) => String(from).toLowerCase() === bundler && String(to).toLowerCase() === entryPoint,
  );
};

/** Wei of who makes accounts. */
const purse = 10n ** 24n;
/** Wei that a bundler has beside what its call costs. */
const change = 731_904_115_200_337_500n;
/** Wei per gas in a block: twice its base fee, and at least 10 gwei. */
const priceIn = (entry: Wire): bigint => {
  const { baseFeePerGas } = recordIn(entry["blockOverrides"]);
  const price = isQuantity(baseFeePerGas) ? 2n * BigInt(baseFeePerGas) : 0n;
  return price > 10n ** 10n ? price : 10n ** 10n;
};

/** The blocks of a simulation in which the calls are run in place of the bundlers'; null = they are in none. */
export const plainBlocks = (blocks: ReadonlyArray<Wire>, runs: ReadonlyArray<PlainRun>): ReadonlyArray<Wire> | null => {
  if (!blocks.some(({ calls }) => listed(calls).some((call) => bundledBy(call, runs) !== undefined))) return null;
  return blocks.map((entry, index) => {
    const fee = quantity(priceIn(entry));
    const state = recordIn(entry["stateOverrides"]);
    const changed: Record<string, unknown> = { ...state };
    const put = (account: Address, values: Wire) =>
      void (changed[account] = { ...recordIn(changed[account]), ...values });
    const calls = listed(entry["calls"]).flatMap((call) => {
      const run = bundledBy(call, runs);
      if (run === undefined) return [call];
      const { gas } = recordIn(call);
      put(run.entryPoint, { code: forwarder });
      // why: as much as bundlers have, for nobody's purse is larger than all there is
      put(run.bundler, { balance: quantity((isQuantity(gas) ? BigInt(gas) : 0n) * priceIn(entry) + change) });
      if (run.deployment !== null) put(run.deployment["from"] as Address, { balance: quantity(purse) });
      return [
        ...(run.deployment === null ? [] : [{ ...run.deployment, maxFeePerGas: fee, maxPriorityFeePerGas: "0x0" }]),
        { ...recordIn(call), input: run.data, maxFeePerGas: fee },
      ];
    });
    // why: a later block has the code of the first
    return { ...entry, stateOverrides: index === 0 || calls.length > 0 ? changed : state, calls };
  });
};

/** `BeforeExecution()` of an EntryPoint. */
const before = "0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972";

/** Logs in one form, without those of the EntryPoint and of what it is paid or pays. */
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

/** The bundler's call of a run in the answer to blocks. */
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
 * True if the account's calls did the same in two answers: `assumed` to `blocks`, by the bundler, who is believed to have a
 * signature, and `plain` to `alone`, by themselves.
 */
export const isAlikePlain = (
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
