/** The flags that describe a transaction and its run, by the field or option that they fill. */
import * as CliFlag from "effect/cli/Flag";
import type * as Option from "effect/Option";
import type { times } from "../report/options.js";
import { named } from "../report/options.js";
import type { AbiFields, fields } from "../transaction/fields.js";

type Text = Option.Option<string>;

/** A flag that takes a text and may be left out. */
export const text = (name: string, help: string): CliFlag.Flag<Text> =>
  CliFlag.String(name).pipe(CliFlag.withDescription(help), CliFlag.optional);

/** A flag that is there or not. */
export const toggle = (name: string, help: string): CliFlag.Flag<boolean> =>
  CliFlag.Boolean(name).pipe(CliFlag.withDescription(help), CliFlag.withDefault(false));

/** Name and help of each flag that fills a field of a transaction. */
const ofTransaction = {
  from: ["from", "the sender"],
  to: ["to", "the recipient; absent for a deployment"],
  data: ["data", "calldata or initcode, 0x…"],
  value: ["value", "what is sent along, with its unit: 0.1ether, 2gwei, 5wei"],
  chainId: ["chain-id", "chain the transaction is for; another one at the node is a blocker"],
  gas: ["gas", "gas limit; chosen when absent"],
  nonce: ["nonce", "nonce; read from the node when absent"],
  maxFeePerGas: ["max-fee", "maxFeePerGas with its unit, e.g. 2gwei"],
  maxPriorityFeePerGas: ["tip", "maxPriorityFeePerGas with its unit, e.g. 0.1gwei"],
  gasPrice: ["gas-price", "gasPrice of a legacy transaction, with its unit"],
  abi: [
    "abi",
    'ABI file (JSON, artifact, signatures), or a signature: "transfer(address to, uint256 amount)"; beside --data or a file only for decoding',
  ],
  functionName: ["function", "function of the ABI to call: its name or signature"],
  args: ["args", `arguments as a JSON array, large numbers as strings: '["0x…", "1000000"]'`],
} as const satisfies { readonly [K in keyof typeof fields | keyof AbiFields]?: readonly [name: string, help: string] };

type TransactionFlags = { readonly [K in keyof typeof ofTransaction]: CliFlag.Flag<Text> };

/** A flag for each field of a transaction that has one. */
export const transactionFlags = Object.fromEntries(
  Object.entries(ofTransaction).map(([field, [name, help]]) => [field, text(name, help)]),
  // the same keys
) as TransactionFlags;

/** How each kind of policy is written. */
const policyForms = [
  '{"policy":"maxSpent","token":"native","amount":"1000000000000000000"} (token: native or an address; "account" may be added)',
  "minReceived with the same fields",
  '{"policy":"maxFee","wei":"1000000000000000"}',
  '{"policy":"maxGas","gas":"500000"}',
  '{"policy":"onlyTouches","addresses":["0x…"]}',
  '{"policy":"noNewApprovals"}, noUnlimitedApprovals and denyDelegated without fields',
  '{"policy":"noInnerFailures","allow":[{"to":"0x…","selector":"0xd505accf"}]}, without allow for none',
  '{"policy":"all","policies":[…]} and any',
];

/** Requests carry these, and nothing else does: they may hold keys. */
export const header = CliFlag.String("header").pipe(
  CliFlag.withDescription('an HTTP header for the endpoint, as often as needed: "authorization: Bearer …"'),
  CliFlag.atLeast(0),
);

/** A flag for each option that has one. */
export const optionFlags = {
  block: text("block", "latest, pending, …, a number or a hash (default: the chain's own policy)"),
  policies: text(
    "policies",
    `JSON file with an array of policies that the outcome must satisfy: ${policyForms.join(", ")}; amounts are raw units or wei`,
  ),
  delegateTargets: text(
    "delegate-targets",
    "addresses, separated by commas, whose code a Safe or another account may run in its own place (DELEGATECALL)",
  ),
  deadline: text("deadline", "time for the whole run, with its unit: 500ms, 10s, 1m (default 10s)"),
  feeLevel: CliFlag.Literals("fee-level", named.feeLevel.schema.literals).pipe(
    CliFlag.withDescription("how much tip to propose (default normal)"),
    CliFlag.optional,
  ),
} satisfies { readonly [K in keyof typeof named | keyof typeof times]?: CliFlag.Flag<unknown> };

/** What the flags were given; `input` is the file. */
export interface CheckFlags extends Readonly<
  Record<keyof TransactionFlags | Exclude<keyof typeof optionFlags, "feeLevel">, Text>
> {
  readonly input: Text;
  readonly feeLevel: Option.Option<typeof named.feeLevel.schema.Type>;
}

/** The flag that a field of a transaction comes from; null where it has none. */
export const flagOf = (name: string): string | null =>
  Object.hasOwn(ofTransaction, name) ? `--${ofTransaction[name as keyof typeof ofTransaction][0]}` : null;
