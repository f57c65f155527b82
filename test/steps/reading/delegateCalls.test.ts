/** What accounts run in their own place: found in every form of call that holds calls, and judged by the hash of its code. */
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  pad,
  parseAbi,
  parseAbiParameters,
  size,
  type Hex as ViemHex,
} from "viem";
import { describe, expect, it } from "vitest";
import { Hash, type Address, type Hex } from "../../rooms/primitives.js";
import { callsIn } from "../../rooms/abi.js";
import { checkDelegateCalls, knownCode } from "../../rooms/steps.js";
import type { View } from "../../rooms/witness.js";
import { bundle, filled, inhabited, log, outcome, word } from "../parts.js";
import { at, hex } from "./arbitrary.js";
import fc from "fast-check";

const [alice, safe, evil, other, nobody] = [at("a"), at("1"), at("2"), at("3"), at("0")];
const attack: ViemHex = "0xa9059cbb00112233";
const plain = "address to, uint256 value, bytes data, uint8 operation";
const operation6 = "(address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)";
const operation7 = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)";

const encoding = (signature: string, ...args: ReadonlyArray<unknown>): ViemHex =>
  encodeFunctionData({ abi: parseAbi([`function ${signature}`] as never) as never, args } as never);
const exec = (to: Address = evil, data: ViemHex = attack, operation = 1, more = "") =>
  encoding(
    `execTransaction(${plain},uint256,uint256,uint256,address,address,bytes)${more}`,
    to,
    0n,
    data,
    operation,
    0n,
    0n,
    0n,
    nobody,
    nobody,
    "0x",
  );
const packed = (operation: number, to: Address, data: ViemHex) =>
  encodePacked(["uint8", "address", "uint256", "uint256", "bytes"], [operation, to, 0n, BigInt(size(data)), data]);
const multiSend = (...calls: ReadonlyArray<ViemHex>) => encoding("multiSend(bytes)", concatHex([...calls]));
const setup = (to: Address) =>
  encoding(
    "setup(address[],uint256,address,bytes,address,address,uint256,address)",
    [alice],
    1n,
    to,
    attack,
    nobody,
    nobody,
    0n,
    nobody,
  );
const mode = (start: ViemHex) => pad(start, { size: 32, dir: "right" });
const executions = (to: Address, data: ViemHex) =>
  encodeAbiParameters(parseAbiParameters("(address,uint256,bytes)[]"), [[[to, 0n, data]]]);
const executing = (start: ViemHex, data: ViemHex) => encoding("execute(bytes32,bytes)", mode(start), data);
const of6 = (making: ViemHex, data: ViemHex) => [safe, 0n, making, data, 0n, 0n, 0n, 0n, 0n, "0x", "0x"];
const of7 = (making: ViemHex, data: ViemHex) => [safe, 0n, making, data, pad("0x"), 0n, pad("0x"), "0x", "0x"];
const creating = encoding("createProxyWithNonce(address,bytes,uint256)", other, setup(evil), 1n);
const module4337 = encoding(`executeUserOp(${plain})`, evil, 0n, attack, 1);

describe("foreign code that runs in a caller's place is found", () => {
  const forms: ReadonlyArray<readonly [form: string, data: ViemHex, as?: Address]> = [
    ["a Safe's transaction", exec()],
    ...[
      "execTransactionFromModule",
      "execTransactionFromModuleReturnData",
      "executeNextTx",
      "executeUserOp",
      "executeUserOpWithErrorString",
      "execute",
    ].map((name) => [name, encoding(`${name}(${plain})`, evil, 0n, attack, 1)] as const),
    ...["execTransactionWithRole", "execTransactionWithRoleReturnData"].flatMap((name) => [
      [`${name} by number`, encoding(`${name}(${plain},uint16,bool)`, evil, 0n, attack, 1, 1, true)] as const,
      [`${name} by key`, encoding(`${name}(${plain},bytes32,bool)`, evil, 0n, attack, 1, pad("0x1"), true)] as const,
    ]),
    ["a proposal", encoding(`executeProposal(string,bytes32[],${plain})`, "x", [], evil, 0n, attack, 1)],
    ["MultiSend", multiSend(packed(0, other, "0x12"), packed(1, evil, attack))],
    ["MultiSend in a Safe", exec(other, multiSend(packed(1, evil, attack)))],
    ["the setup of a Safe", setup(evil)],
    ["a Safe that is made", creating, nobody],
    ["Multicall3", encoding("aggregate3((address,bool,bytes)[])", [[safe, true, exec()]])],
    ["Multicall2", encoding("tryAggregate(bool,(address,bytes)[])", false, [[safe, exec()]])],
    [
      "an account's lists",
      encoding("executeBatch(address[],uint256[],bytes[])", [other, safe], [0n, 0n], ["0x12", exec()]),
    ],
    ["a timelock", encoding("execute(address,uint256,bytes,bytes32,bytes32)", safe, 0n, exec(), pad("0x"), pad("0x"))],
    ["ERC-7579 itself", executing("0xff", encodePacked(["address", "bytes"], [evil, attack]))],
    ["one call of ERC-7579", executing("0x00", encodePacked(["address", "uint256", "bytes"], [safe, 0n, exec()]))],
    ["a batch of ERC-7579", executing("0x01", executions(safe, exec()))],
    [
      "an executor of ERC-7579",
      encoding("executeFromExecutor(bytes32,bytes)", mode("0xff"), encodePacked(["address", "bytes"], [evil, attack])),
    ],
    ["ERC-7821, nobody being the account", executing("0x01000000000078210001", executions(nobody, exec()))],
    [
      "batches of ERC-7821",
      executing(
        "0x01000000000078210002",
        encodeAbiParameters(parseAbiParameters("bytes[]"), [[executions(safe, exec())]]),
      ),
    ],
    [
      "an operation of EntryPoint 0.6",
      encoding(`handleOps(${operation6}[],address)`, [of6("0x", module4337)], alice),
      safe,
    ],
    [
      "an operation of EntryPoint 0.7",
      encoding(`handleOps(${operation7}[],address)`, [of7("0x", module4337)], alice),
      safe,
    ],
    [
      "an operation handed on whole",
      encoding(`handleOps(${operation7}[],address)`, [of7("0x", concatHex(["0x8dd7712f", module4337]))], alice),
      safe,
    ],
    [
      "the making of an account",
      encoding(`handleOps(${operation7}[],address)`, [of7(concatHex([other, creating]), "0x")], alice),
      nobody,
    ],
    [
      "aggregated operations",
      encoding(
        `handleAggregatedOps((${operation7}[],address,bytes)[],address)`,
        [[[of7("0x", module4337)], alice, "0x"]],
        alice,
      ),
      safe,
    ],
    [
      "a batch in a batch in a batch",
      exec(
        other,
        multiSend(packed(1, other, multiSend(packed(0, safe, exec(other, multiSend(packed(1, evil, attack))))))),
      ),
    ],
  ];
  it.each(forms.map(([form, data, as = safe]) => [form, data, as] as const))("in %s", (_, data, as) => {
    const { delegates, isUnread } = callsIn({ from: alice, to: safe, data: data.toLowerCase() as Hex });
    expect([delegates.filter(({ to }) => to === evil), isUnread]).toEqual([
      [{ from: as, to: evil, data: attack, as }],
      false,
    ]);
  });
  it.each(forms.map(([form, data]) => [form, data] as const))(
    "or marked as unread where its arguments are cut: %s",
    (_, data) => {
      for (const end of [10, 42, data.length - 2 - 2 * (data.length % 7)]) {
        const cut = data.slice(0, end).toLowerCase() as Hex;
        const { delegates, isUnread } = callsIn({ from: alice, to: safe, data: cut });
        expect(isUnread || delegates.some(({ to }) => to === evil)).toBe(true);
      }
    },
  );
  it("with any nonzero word of the operation, and not where it is 0 or nobody is named", () => {
    // the second byte from the end is set, too
    const odd = `${exec().slice(0, 10 + 3 * 64)}${word(257n).slice(-64)}${exec().slice(10 + 4 * 64)}` as Hex;
    expect(callsIn({ from: alice, to: safe, data: odd }).delegates).toHaveLength(1);
    for (const data of [exec(evil, attack, 0), setup(nobody as Address), multiSend(packed(0, evil, attack))])
      expect(callsIn({ from: alice, to: safe, data }).delegates).toEqual([]);
  });
  it("in batches of any number, or marked as unread", () => {
    const many = Array.from({ length: 1_200 }, () => packed(0, other, "0x"));
    expect(callsIn({ from: alice, to: safe, data: multiSend(...many, packed(1, evil, attack)) })).toMatchObject({
      ...{ delegates: [{ to: evil }], isCut: true, isUnread: false, read: { length: 256 } },
    });
    const whole = concatHex([packed(0, other, "0x"), packed(1, evil, attack)]);
    for (const cut of [1, 4, 20, 50]) {
      const data = encoding("multiSend(bytes)", whole.slice(0, -2 * cut));
      expect(callsIn({ from: alice, to: safe, data }).isUnread).toBe(true);
    }
  });
  it("without a failure in any bytes", () => {
    const selectors = forms.map(([, data]) => data.slice(2, 10));
    fc.assert(
      fc.property(fc.constantFrom(...selectors), hex(700), (selector, rest) => {
        const { read } = callsIn({ from: alice, to: safe, data: `0x${selector}${rest.slice(0, rest.length & ~1)}` });
        expect(read.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe("code by the hash of a canonical deployment", () => {
  it("is known at its address as what it is there, and at any other", () => {
    const canonical = [
      [
        "0xa238cbeb142c10ef7ad8442c6d1f9e89e07e7761",
        "0x0208282bd262360d0320862c5ac70f375f5ed3b9d89a83a615b4d398415bdc83",
        "MultiSend 1.3.0",
      ],
      [
        "0x998739bfdaadde7c933b942a68053933098f9eda",
        "0x81db0e4afdf5178583537b58c5ad403bd47a4ac7f9bde2442ef3e341d433126a",
        "MultiSend 1.3.0",
      ],
      [
        "0x38869bf66a61cf6bdb996a6ae40d5853fd43b526",
        "0x0e4f7fc66550a322d1e7688e181b75e217e662a4f3f4d6a29b22bc61217c4b77",
        "MultiSend 1.4.1",
      ],
      [
        "0x218543288004cd07832472d464648173c77d7eb7",
        "0xca1147a12963172a93910c5cb2bfa5ad0e941c7f03fc7eb017dd06a8ea4e5604",
        "MultiSend 1.5.0",
      ],
      [
        "0x900c7589200010d6c6ecaae5b06ebe653bc2d82a",
        "0xf6034d841bcbff8912aa55526b0f1609212536aaf60bb16f5e8a269a4ab38f18",
        "SafeToL2Setup 1.5.0",
      ],
    ] as const;
    for (const [where, hash, name] of canonical)
      for (const self of [where, evil]) expect(knownCode(Hash.make(hash), self as Address)?.name).toBe(name);
    expect(knownCode(Hash.make(`0x${"12".repeat(32)}`), evil)).toBe(null);
  });
});

describe("the judgement of code that runs in a Safe's place", () => {
  const callOnly = "0xecd5bd14a08c5d2122379900b2f272bdf107a7e92423c10dd5fe3254386c9939";
  const toL2 = "0x2f25df28caf984366ee584e13241707e85dcd5a6ea0c14267928dafc1fd6274b";
  const migration = "0x52d7472fa02c3a574544f9b5a4ed4c7777e4e3315217e368926b51e1cc6014ea";
  const proxy = "0xd7d408ebcd99b2b70be43e20253d6d92a8ea8fab29bd3be7f55b10032331fb4c";
  /** A Safe, and code with this hash; null = nobody looked, "" = none is there. */
  const seeing = (codeHash: string | null): View => {
    const view = inhabited(codeHash === "" ? { [safe]: "0x00" } : { [safe]: "0x00", [evil]: "0x00" });
    return {
      ...view,
      account: (account) => {
        const seen = account === evil && codeHash === null ? null : view.account(account);
        return seen === null || account !== evil || codeHash === null || codeHash === ""
          ? seen
          : { ...seen, codeHash: Hash.make(codeHash as ViemHex) };
      },
    };
  };
  const judging = (data: ViemHex, before: View, after: View = before, targets: ReadonlyArray<Address> = []) =>
    checkDelegateCalls(
      bundle({ to: safe, data: data as Hex }).map((one) => filled(one, {})),
      { before, after, targets },
    ).map(({ code, severity, numbers }) => [code, severity, ...numbers.slice(2).map(({ value }) => value)]);
  const unknownCode = `0x${"77".repeat(32)}`;
  const l2 = encoding("setupToL2(address)", other);

  it.each([
    ["a known batcher", exec(), callOnly, []],
    ["other code", exec(), unknownCode, [["UnknownDelegateCall", "blocker"]]],
    ["code that is known for something else", exec(), proxy, [["UnknownDelegateCall", "blocker"]]],
    ["code that nobody looked at", exec(), null, [["DelegateCallUnread", "unavailable"]]],
    ["no code at all", exec(), "", [["UnknownDelegateCall", "blocker"]]],
    [
      "a setup that brings another singleton",
      exec(evil, l2),
      toL2,
      [["DelegateCall", "warning", "SafeToL2Setup 1.4.1", other]],
    ],
    [
      "a migration",
      exec(evil, "0xf6682ab0"),
      migration,
      [["DelegateCall", "warning", "SafeMigration 1.5.0", "0xff51a5898e281db6dfc7855790607438df2ca44b"]],
    ],
    [
      "a migration to L2",
      exec(evil, "0x07f464a4"),
      migration,
      [["DelegateCall", "warning", "SafeMigration 1.5.0", "0xedd160febbd92e350d4d398fb636302fccd67c7e"]],
    ],
  ] as const)("is right for %s", (_, data, codeHash, expected) => {
    expect(judging(data, seeing(codeHash))).toEqual(expected);
  });
  it("rejects code that only came to stand there, and leaves named code to the caller", () => {
    expect(judging(exec(), seeing(""), seeing(callOnly))).toEqual([["DelegateCallUnread", "unavailable"]]);
    for (const seen of [unknownCode, null])
      expect(judging(exec(), seeing(seen), seeing(seen), [evil])).toEqual([
        ["DelegateCall", "info", "as the option says"],
      ]);
  });
  it("believes the events of a Safe, and of no other contract", () => {
    const told = (emitter: Address, before: View) =>
      checkDelegateCalls(
        bundle({ to: other, data: "0x12345678" as Hex }).map((one) =>
          filled(one, {
            outcome: outcome({
              logs: [
                log(
                  emitter,
                  ["b648d3644f584ed1c2232d53c46d87e693586486ad0d1175f8656013110b714e"],
                  [...[word(other), word(evil), word(0n), word(160n), word(1n), word(0n)]],
                ),
              ],
            }),
          }),
        ),
        { before, after: before, targets: [] },
      ).map(({ code }) => code);
    const ofSafe = inhabited({ [safe]: "0x00", [evil]: "0x00" });
    const view: View = {
      ...ofSafe,
      account: (account) => {
        const seen = ofSafe.account(account);
        return seen === null || account !== safe ? seen : { ...seen, codeHash: Hash.make(proxy) };
      },
    };
    expect(told(safe, view)).toEqual(["UnknownDelegateCall"]);
    expect(told(other, view)).toEqual([]);
    // nobody looked at who says so
    const unseen = (hidden: Address): View => ({
      ...view,
      account: (account) => (account === hidden ? null : view.account(account)),
    });
    expect(told(other, unseen(other))).toEqual(["DelegateCallUnread"]);
  });
});
