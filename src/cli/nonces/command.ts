/** `evm-preflight nonces`: where the lanes of shared senders stand, and what repairs them. */
import * as Command from "effect/cli/Command";
import * as Effect from "effect/Effect";
import { flow } from "effect/Function";
import { withExitCodes } from "../exit.js";
import { sharedFlags, type LaneFlags } from "./laneInput.js";
import { adopt, fill, forget, nonceFlags, replaceAt, resend, signedFlags, yesFlag } from "./repair.js";
import { check, perform, status } from "./show.js";

/** Of `nonces` and all its verbs. */
const codes = withExitCodes(
  "0 healthy, 1 damaged or refused by a node, 2 needs attention (a refused or old transaction, a gap, a chain that went back), 3 no lanes or one that cannot be read",
  "69 the store cannot be reached, or cannot be used",
);

const root = Command.make("nonces").pipe(Command.withSharedFlags(sharedFlags), Command.withHandler(status));

/** A verb beside `status`, with the flags that all have. */
const shared = Effect.suspend(() => root);

/** A verb that repairs a lane. */
const repairing =
  <F extends { readonly yes: boolean }>(act: Parameters<typeof perform<LaneFlags & F>>[1]) =>
  (input: F) =>
    Effect.flatMap(shared, (all) => perform({ ...all, ...input }, act));

/** What a verb's help says. */
const described = (words: string) => flow(Command.withDescription(words), codes);

const verbs = [
  Command.make("status", {}, () => Effect.flatMap(shared, status)).pipe(
    described("Show the lanes and whether they are healthy; with an endpoint, beside the chain"),
  ),
  Command.make("check", {}, () => Effect.flatMap(shared, check)).pipe(
    described("Check the store, and list every broken rule of a lane"),
  ),
  Command.make("resend", yesFlag, repairing(resend)).pipe(
    described("Send committed transactions again, byte for byte"),
  ),
  Command.make("cancel", nonceFlags, repairing(replaceAt("cancel"))).pipe(
    described("Replace the transaction at a nonce by a payment of 0 to the account itself"),
  ),
  Command.make("replace", nonceFlags, repairing(replaceAt("replace"))).pipe(
    described("Replace the transaction at a nonce: by the same with higher fees, or by your own"),
  ),
  Command.make("fill", signedFlags, repairing(fill)).pipe(
    described("Fill the lowest gap, so that the transactions above it can be mined"),
  ),
  Command.make("adopt", yesFlag, repairing(adopt)).pipe(
    described("Start a lane at the chain's counts, or reset a known lane to them; you vouch for the counts"),
  ),
  Command.make("forget", yesFlag, repairing(forget)).pipe(
    described("Remove a lane and everything in it from the store"),
  ),
] as const;

export const nonces = root.pipe(
  Command.withDescription(
    "Show and repair the nonces of shared senders. Nothing is changed without --yes, and no key is ever asked for",
  ),
  Command.withShortDescription("Show and repair the nonces of shared senders"),
  codes,
  Command.withExamples([
    {
      command: "evm-preflight nonces --redis-url redis://127.0.0.1:6379 --rpc-url https://your.node",
      description: "All lanes of a store",
    },
    {
      command: "evm-preflight nonces cancel --postgres-url postgres://… --chain-id 1 --address 0x… --nonce 7",
      description: "What to sign in place of nonce 7; then the same with --raw 0x… and --yes",
    },
    {
      command:
        "cast mktx 0xTheAccount --value 0 --nonce 7 --chain 1 --gas-limit 21000 --gas-price 20gwei --priority-gas-price 2gwei --rpc-url https://your.node --keystore key.json",
      description:
        "Signs it, with Foundry: nonce, fees and the rest from what was printed. With viem: await account.signTransaction({ ...printed, nonce: 7 }), numbers as BigInt",
    },
  ]),
  Command.withSubcommands(verbs),
);
