/** Words of descriptors beside what was measured: which fields disagree, and which honest ones never do. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Address, Hash, Hex } from "../rooms/primitives.js";
import { checkDescriptors, type BundleReport, type Described } from "../rooms/report.js";
import { outcome } from "../steps/parts.js";
import { alice, bob, granted, moved, pool, transfer, usdc } from "./fixtures.js";
import { calls, moving, tokenInfos, weth } from "./scenes.js";

type Field = Described["fields"][number];
const mallory = Address.make("0x6666666666666666666666666666666666666666");
const everything = 2n ** 256n - 1n;
const amount = (label: string, raw: bigint, format = "tokenAmount"): Field => ({ label, value: `${raw}`, format, raw });
const account = (label: string, raw: Address): Field => ({ label, value: raw, format: "addressName", raw });
const saying = (...fields: ReadonlyArray<Field>): Described => ({ intent: "Do it", fields });

/** The labels of the fields that disagree. */
const wrongIn = (parts: BundleReport, ...described: ReadonlyArray<Described | "unread" | null>) =>
  checkDescriptors(parts, described).map(({ code, severity, numbers }) =>
    [code, severity, ...numbers.map(({ value }) => value)].join("/"),
  );
const labels = (parts: BundleReport, ...fields: ReadonlyArray<Field>) =>
  checkDescriptors(parts, [saying(...fields)]).map(({ numbers }) => numbers[0]?.value);

/** 5 USDC for 0.002 WETH at the pool. */
const swapped = moving({
  transfers: [
    moved({ amount: 5_000_000n }),
    moved({ token: weth, from: pool, to: alice, amount: 2_000_000_000_000_000n }),
  ],
});
const sent = moving({ transfers: [moved({ amount: 5_000_000n, to: bob })] });
const approved = (after: bigint, unlimited = after === everything) =>
  moving({ approvals: [granted({ after, unlimited, spender: bob })] });
const native = (value: bigint) =>
  moving({
    transactions: [{ ...transfer, input: { ...transfer.input, to: pool, value } }],
    transfers: [moved({ standard: "native", token: null, amount: value })],
  });
const five = { ...sent, tokens: tokenInfos };
const many = { ...moving({ transfers: [moved({ amount: 1_234_567_890_000n })] }), tokens: tokenInfos };
/** The amount that was measured, in words of which nothing else tells the unit. */
const says = (value: string, at = 0): Field => ({ ...amount(`Amount ${at}`, 5_000_000n), value });
const swap = (out: bigint, least: bigint): ReadonlyArray<Field> => [
  amount("Amount to Send", out),
  amount("Minimum to Receive", least),
  account("Beneficiary", alice),
  amount("Uniswap Fee", 500n, "unit"),
  amount("Deadline", 2_000_000_000n, "date"),
];

describe("an honest descriptor", () => {
  it.each<[what: string, parts: BundleReport, fields: ReadonlyArray<Field>]>([
    ["a transfer", sent, [amount("Amount", 5_000_000n), account("To", bob)]],
    ["an approval", approved(7n), [account("Spender", bob), amount("Amount", 7n)]],
    ["an approval without limit", approved(everything), [account("Spender", bob), amount("Amount", everything)]],
    ["one that says all with other bits", approved(everything), [amount("Amount", 2n ** 96n - 1n)]],
    ["one that is taken back", approved(0n), [account("Spender", bob), amount("Amount", 0n)]],
    ["one that is raised", moving({ approvals: [granted({ before: 10n, after: 17n })] }), [amount("Added", 7n)]],
    ["a swap of an exact amount", swapped, swap(5_000_000n, 1_900_000_000_000_000n)],
    ["one that gets exactly the minimum", swapped, swap(5_000_000n, 2_000_000_000_000_000n)],
    [
      "a swap for an exact amount",
      swapped,
      [amount("Amount to Receive", 2_000_000_000_000_000n), amount("Maximum to Send", 5_500_000n)],
    ],
    ["a label with dots", swapped, [amount("Min. received:", 1n), amount("Max. in", 5_500_000n)]],
    ["one with brackets and strokes", swapped, [amount("Amount out (min)", 1n), amount("Amount/max", 5_500_000n)]],
    ["what is paid later, or in part", swapped, [account("Refund To", mallory), account("Rewards receiver", mallory)]],
    ["a fee within an amount, a price", swapped, [amount("Relaying Fee", 9n), amount("Gas price", 9n)]],
    [
      "liquidity, of which less than desired goes in",
      swapped,
      [amount("Desired amount", 5_200_000n), amount("Minimum amount", 4_900_000n)],
    ],
    ["amounts in other ways to write them", five, ["5 USDC", "5.00", "$5", "5,0", "4.999", "5"].map(says)],
    [
      "amounts with thousands",
      many,
      ["1,234,567.89 USDC", "1.234.567,89 USDC", "1234568", "1234567890000"].map((value) => ({
        ...says(value),
        raw: 1_234_567_890_000n,
      })),
    ],
    [
      "one with three digits in front of its thousands",
      { ...moving({ transfers: [moved({ amount: 123_456_000_000n })] }), tokens: tokenInfos },
      [{ ...says("123,456 USDC"), raw: 123_456_000_000n }],
    ],
    ["two smallest units of a rounding", moving({ transfers: [moved({ amount: 102n })] }), [amount("Amount", 100n)]],
    ["a token of unknown decimals", { ...five, tokens: [] }, [says("0.001 USDC")]],
    ["wrapped ether", native(10n ** 18n), [amount("Amount", 10n ** 18n, "amount")]],
    ["a share's rounding", sent, [amount("Amount", 5_010_000n)]],
    ["a withdrawal of all there is", swapped, [amount("Amount to Withdraw", everything)]],
    [
      "a withdrawal, less a fee that another gets",
      moving({
        transfers: [moved({ from: pool, to: alice, amount: 950n }), moved({ from: pool, to: bob, amount: 50n })],
      }),
      [amount("Amount to withdraw", 1_000n)],
    ],
    ["a request that moves nothing yet", moving({}), [amount("Amount to unstake", 9n), account("Receiver", mallory)]],
    [
      "a beneficiary of a router's own words",
      swapped,
      [account("Recipient", Address.make(`0x${"1".padStart(40, "0")}`))],
    ],
    ["a token that is named as an account", swapped, [account("Token to buy", weth), account("To", pool)]],
    ["an account of another kind", swapped, [account("Referrer", mallory)]],
    ["no field at all", swapped, []],
    [
      "a text and a number of no format",
      swapped,
      [{ ...amount("Amount", 9n, "raw") }, { ...amount("To", 9n), raw: null }],
    ],
  ])("does not disagree: %s", (_, parts, fields) => expect(labels(parts, ...fields)).toEqual([]));

  it("does not disagree about a bridge whose event names the receiver elsewhere", () => {
    const log = { address: pool, topics: [Hash.make(`0x${"ab".repeat(32)}`)], decoded: null };
    const [first] = swapped.transactions;
    const parts = (data: Hex) => ({
      ...swapped,
      transactions: [{ ...first, outcome: outcome({ logs: [{ ...log, data }] }) }] as BundleReport["transactions"],
    });
    expect(labels(parts(Hex.make(`0x${mallory.slice(2).padStart(64, "0")}`)), account("Recipient", mallory))).toEqual(
      [],
    );
    expect(labels(parts(Hex.make("0x")), account("Recipient", mallory))).toEqual(["Recipient"]);
  });

  it("does not disagree about any honest transfer, approval or swap", () => {
    const raw = fc.bigInt({ min: 1n, max: 2n ** 128n });
    fc.assert(
      fc.property(raw, raw, fc.nat(100), (out, got, slack) => {
        const made = moving({
          transfers: [moved({ amount: out }), moved({ token: weth, from: pool, to: alice, amount: got })],
        });
        const [least, mostOut] = [got - (got * BigInt(slack)) / 200n, out + (out * BigInt(slack)) / 200n];
        expect(labels(made, ...swap(out, least))).toEqual([]);
        expect(labels(made, amount("Amount to Receive", got), amount("Maximum to Send", mostOut))).toEqual([]);
        expect(labels(approved(out, false), amount("Amount", out), account("Spender", bob))).toEqual([]);
      }),
    );
  });
});

describe("a disagreement with a descriptor", () => {
  it.each<[what: string, parts: BundleReport, fields: ReadonlyArray<Field>, wrong: ReadonlyArray<string>]>([
    ["more leaves than is said", sent, [amount("Amount", 50_000n)], ["Amount"]],
    ["less leaves than is said", sent, [amount("Amount", 6_000_000n)], ["Amount"]],
    ["another gets it", sent, [amount("Amount", 5_000_000n), account("To", mallory)], ["To"]],
    ["another may take it", approved(7n), [account("Spender", mallory), amount("Amount", 7n)], ["Spender"]],
    ["more may be taken", approved(everything), [amount("Amount", 7_000n)], ["Amount"]],
    [
      "the words say less than the number",
      five,
      ["0.000005 WETH", "0.9 USDC", "0,5 USDC", "0,005 USDC"].map(says),
      ["Amount 0", "Amount 1", "Amount 2", "Amount 3"],
    ],
    ["a swap takes more", swapped, swap(50_000n, 1_900_000_000_000_000n), ["Amount to Send"]],
    ["a swap gives less", swapped, swap(5_000_000n, 3_000_000_000_000_000n), ["Minimum to Receive"]],
    ["more leaves than the maximum", swapped, [amount("Maximum to Send", 4_000_000n)], ["Maximum to Send"]],
    ["another token leaves", native(10n ** 18n), [amount("Amount", 5_000_000n)], ["Amount"]],
    ["all of it is wrong", sent, [amount("Amount", 50_000n), account("Recipient", mallory)], ["Amount", "Recipient"]],
  ])("is found: %s", (_, parts, fields, wrong) => expect(labels(parts, ...fields)).toEqual(wrong));

  it("belongs to its own transaction, and is not reported where that fails", () => {
    const bundle = moving({
      transactions: calls(2),
      transfers: [moved({ transaction: 1, amount: 5_000_000n, to: bob })],
    });
    const lie = saying(amount("Amount", 50_000n));
    expect(checkDescriptors(bundle, [lie, lie]).map(({ transaction }) => transaction)).toEqual([1]);
    const [first, second] = bundle.transactions;
    const failed = { ...first, outcome: outcome({ status: "reverted" }) };
    const undone = { ...second, outcome: outcome({ status: "reverted" }) } as typeof first;
    expect(checkDescriptors({ ...bundle, transactions: [failed, undone] }, [lie, lie])).toEqual([]);
  });

  it("is a warning with field and text; no answer is information, and no descriptor nothing", () => {
    expect(wrongIn(sent, saying(amount("Amount", 50_000n)))).toEqual(["DescriptorDisagrees/warning/Amount/50000"]);
    expect(wrongIn(sent, "unread")).toEqual(["DescriptorUnread/info"]);
    expect(wrongIn(sent, null)).toEqual([]);
    expect(wrongIn(sent)).toEqual([]);
  });

  it("is every lie about an exact amount beyond rounding", () => {
    const raw = fc.bigInt({ min: 1_000n, max: 2n ** 90n });
    fc.assert(
      fc.property(raw, raw, (real, said) => {
        const isFar = (real > said ? real - said : said - real) * 200n > said && real !== said;
        fc.pre(isFar && real !== said);
        expect(labels(moving({ transfers: [moved({ amount: real })] }), amount("Amount to send", said))).toEqual([
          "Amount to send",
        ]);
      }),
    );
  });

  it("counts a named account of the caller's as the sender", () => {
    const parts = moving({ transfers: [moved({ from: bob, to: pool, amount: 5_000_000n })] });
    const options = { ...parts.options, accounts: [bob] };
    expect(labels(parts, amount("Amount", 50_000n))).toEqual([]);
    expect(labels({ ...parts, options }, amount("Amount", 50_000n))).toEqual(["Amount"]);
    expect(labels({ ...parts, options }, account("To", usdc))).toEqual([]);
  });
});
