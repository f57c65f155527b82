/**
 * Two steps of one's own: a screen that asks a sanctions registry about everybody who is called, or named in a word of the
 * calldata, and a look at an oracle's price before and after the transactions, which costs no request.
 *
 *     npx tsx examples/own-step.ts http://127.0.0.1:8545 0xRegistry 0xOracle 0xSender 0xReceiver
 */
import { pathToFileURL } from "node:url";
import * as Effect from "effect/Effect";
import { Chains, Eth, Preflight, Report, Rpc, Step } from "evm-preflight";
import { encodeFunctionData, parseAbi, toFunctionSelector, type Address, type Hex } from "viem";

const registryAbi = parseAbi(["function isSanctioned(address account) view returns (bool)"]);

/**
 * Whom a transaction calls, and every address in a word of its calldata: of a token transfer `to` is the token, not the
 * receiver. Calls packed inside others (`multicall(bytes[])`) stand between the words: screen `report.transfers`, too.
 */
const partiesOf = ({ to, data }: { readonly to: Address | null; readonly data: Hex }): ReadonlyArray<Address> => {
  const words = Array.from({ length: Math.floor((data.length - 10) / 64) }, (_, index) =>
    data.slice(10 + 64 * index, 74 + 64 * index),
  );
  // words with eight zero bytes more are taken for amounts: nobody finds a key for such an address
  const named = words.filter((word) => /^0{24}(?!0{16})/.test(word)).map((word): Address => `0x${word.slice(24)}`);
  return [...new Set(to === null ? named : [to, ...named])];
};

/** Nobody on the registry's list is called, or named in a word. A registry that does not answer makes the report `unknown`. */
export const sanctions = (registry: Address) =>
  Step.make({
    name: "acme/sanctions",
    // one request for each party, in the same network round as everything else
    ask: (bundle, { block }) =>
      Effect.forEach(
        bundle,
        (transaction) =>
          Effect.filter(
            partiesOf(transaction),
            (party) => {
              const data = encodeFunctionData({ abi: registryAbi, functionName: "isSanctioned", args: [party] });
              // an address without code answers nothing, which is no answer
              return Effect.map(Eth.call({ to: registry, data, block }), (answer) => BigInt(answer) !== 0n);
            },
            { concurrency: "unbounded" },
          ),
        { concurrency: "unbounded" },
      ),
    check: (_, { answer }) =>
      answer.flatMap((listed, transaction) =>
        listed.map((party) =>
          Step.blocker("acme/Sanctioned", "the receiver is on the sanctions list", {
            numbers: [{ name: "receiver", unit: "address", value: party }],
            remedy: "send to another address",
            transaction,
          }),
        ),
      ),
  });

/** Whether the transactions themselves move the price that `oracle` names. */
export const price = (oracle: Address) => {
  const query = Step.staticCall(oracle, toFunctionSelector("weiPerByte()"));
  return Step.make({
    name: "acme/price",
    // read inside the simulation, before and after
    looks: () => [query],
    check: (_, { before, after }) => {
      const [was, is] = [Chains.readUint256(before.call(query)), Chains.readUint256(after.call(query))];
      // never a pass for want of an answer
      if (was === null || is === null) return [Step.blocker("acme/NoPrice", "the oracle named no price")];
      const numbers = [
        { name: "before", unit: "wei", value: was },
        { name: "after", unit: "wei", value: is },
      ] as const;
      return was === is
        ? [Step.info("acme/Price", "the price stays where it is", { numbers })]
        : [Step.warning("acme/PriceMoved", "the transactions move the price", { numbers })];
    },
  });
};

/** A report of a transfer that both steps have seen. */
export const screened = (
  url: string,
  contracts: { readonly registry: Address; readonly oracle: Address },
  transfer: { readonly from: Address; readonly to: Address; readonly value: bigint; readonly data?: Hex },
): Promise<Report.Report> =>
  Preflight.make({ steps: [sanctions(contracts.registry), price(contracts.oracle)] })
    .preflight(transfer)
    .pipe(Effect.provide(Rpc.layerHttp(url)), Effect.runPromise);

const main = async () => {
  const [url = "http://127.0.0.1:8545", ...addresses] = process.argv.slice(2);
  const [registry, oracle, from, to] = addresses as ReadonlyArray<Address>;
  if (registry === undefined || oracle === undefined || from === undefined || to === undefined) {
    console.error(
      "A report with two steps of one's own: a sanctions registry, and an oracle's price. Usage: npx tsx own-step.ts URL REGISTRY ORACLE SENDER RECEIVER",
    );
    process.exitCode = 64;
    return;
  }
  console.log(Report.toText(await screened(url, { registry, oracle }, { from, to, value: 1n })));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
