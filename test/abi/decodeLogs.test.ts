import * as Schema from "effect/Schema";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  keccak256,
  parseAbi,
  stringToHex,
  type Hex,
  type Abi,
} from "viem";
import { DecodedLog, DecodedResult, decodeLog, decodeResult, indexAbis } from "../rooms/abi.js";

const token = "0x00000000000000000000000000000000000000aa";
const owner = "0x1111111111111111111111111111111111111111";
const spender = "0x2222222222222222222222222222222222222222";

const erc20 = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]);
const erc721 = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"]);
const names = parseAbi([
  "event Named(string indexed label, bytes indexed blob, uint256[] indexed list, string text)",
  "event Bare(uint256, string)",
]);
// viem's parser knows no `anonymous`
const anonymous: Abi = [
  {
    type: "event",
    name: "Note",
    anonymous: true,
    inputs: [
      { type: "address", name: "who", indexed: true },
      { type: "uint256", name: "wad" },
    ],
  },
];

const uint = (value: bigint): Hex => encodeAbiParameters([{ type: "uint256" }], [value]);
const topicsOf = (abi: Abi, args: object): Array<Hex> =>
  encodeEventTopics({ abi, args } as Parameters<typeof encodeEventTopics>[0]).filter(
    (topic): topic is Hex => typeof topic === "string",
  );
const transfer = { address: token, topics: topicsOf(erc20, { from: owner, to: spender }), data: uint(5n) };

describe("decodeLog", () => {
  it("reads an event, and after JSON again", () => {
    const log = decodeLog(transfer, [erc20]);
    expect(log).toMatchObject({
      name: "Transfer",
      signature: "Transfer(address,address,uint256)",
      provenance: [{ kind: "caller", source: null }],
    });
    expect(log?.args).toEqual({ from: owner, to: spender, value: 5n });
    const codec = Schema.toCodecJson(DecodedLog);
    const again = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(log))));
    expect(again.args).toEqual(log?.args);
  });

  it("tells two events of one signature apart by what is indexed", () => {
    const nft = { address: token, topics: topicsOf(erc721, { from: owner, to: spender, tokenId: 7n }), data: "0x" };
    expect(decodeLog(nft, [erc20, erc721])?.args).toEqual({ from: owner, to: spender, tokenId: 7n });
    expect(decodeLog(transfer, [erc721, erc20])?.args).toEqual({ from: owner, to: spender, value: 5n });
  });

  it("gives the hash of indexed dynamic values, and positions where there are no names", () => {
    const list = keccak256(`0x${"1".padStart(64, "0")}${"2".padStart(64, "0")}`);
    const named = {
      address: token,
      topics: [
        keccak256(stringToHex("Named(string,bytes,uint256[],string)")),
        keccak256(stringToHex("hello")),
        keccak256("0x1234"),
        list,
      ],
      data: encodeAbiParameters([{ type: "string" }], ["text"]),
    };
    expect(decodeLog(named, [names])?.args).toEqual({
      label: named.topics[1],
      blob: named.topics[2],
      list,
      text: "text",
    });
    const bare = {
      address: token,
      topics: [keccak256(stringToHex("Bare(uint256,string)"))],
      data: encodeAbiParameters([{ type: "uint256" }, { type: "string" }], [1n, "x"]),
    };
    expect(decodeLog(bare, [names])?.args).toEqual([1n, "x"]);
  });

  it("reads an anonymous event only by an ABI given for its address", () => {
    const log = { address: token, topics: [`0x${"0".repeat(24)}${owner.slice(2)}`], data: uint(9n) };
    expect(decodeLog(log, [anonymous])).toBeNull();
    const found = decodeLog(log, indexAbis([{ address: token.toUpperCase().replace("0X", "0x"), abi: anonymous }]));
    expect(found?.args).toEqual({ who: owner, wad: 9n });
    expect(found?.provenance).toEqual([{ kind: "address", source: token }]);
  });

  it("reads a list as it is now, and passes over entries that are no ABI items", () => {
    const list: Array<Abi[number]> = [null as never, "event" as never];
    expect(decodeLog(transfer, [list])).toBeNull();
    list.push(...erc20);
    expect(decodeLog(transfer, [list])?.name).toBe("Transfer");
  });

  it("decodes nothing that is not exactly an encoding", () => {
    const dirty = {
      ...transfer,
      topics: [transfer.topics[0] ?? "0x", `0x01${"0".repeat(22)}${owner.slice(2)}`, transfer.topics[2] ?? "0x"],
    };
    for (const log of [
      dirty,
      { ...transfer, data: "0x" },
      { ...transfer, data: `${uint(5n)}00` },
      { ...transfer, topics: transfer.topics.slice(0, 2) },
      { ...transfer, topics: [] },
      { ...transfer, data: "zz" },
    ]) {
      expect(decodeLog(log, [erc20])).toBeNull();
    }
  });

  it("never throws on any log", () => {
    const hex = fc.uint8Array({ maxLength: 100 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
    const topic = fc.oneof(hex, fc.constantFrom(...transfer.topics), fc.string());
    fc.assert(
      fc.property(fc.array(topic, { maxLength: 6 }), fc.oneof(hex, fc.string()), (topics, data) => {
        const log = decodeLog({ address: token, topics, data }, [
          erc20,
          erc721,
          names,
          { address: token, abi: anonymous },
        ]);
        if (log !== null) expect(log.args).toBeDefined();
      }),
    );
  });
});

describe("decodeResult", () => {
  const [pair] = parseAbi(["function pair() view returns (uint256 a, string b)"]);
  const [one] = parseAbi(["function one() view returns (bool)"]);
  const [none] = parseAbi(["function none()"]);

  it("reads one value, several, or none; and after JSON again", () => {
    expect(decodeResult(encodeFunctionResult({ abi: [one], result: true }), one)?.value).toBe(true);
    expect(decodeResult("0x", none)?.value).toBeUndefined();
    const two = decodeResult(encodeFunctionResult({ abi: [pair], result: [5n, "x"] }), pair);
    expect(two?.value).toEqual([5n, "x"]);
    const codec = Schema.toCodecJson(DecodedResult);
    const again = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(two))));
    expect(again.value).toEqual([5n, "x"]);
  });

  it("allows bytes behind the values, and refuses every other deviation", () => {
    expect(decodeResult(`${encodeFunctionResult({ abi: [one], result: true })}ffff`, one)?.value).toBe(true);
    for (const data of ["0x", uint(2n), "0x01", "zz", `0x${"f".repeat(64)}`])
      expect(decodeResult(data, one)).toBeNull();
    for (const item of [
      null,
      5,
      {},
      { name: "x" },
      { name: "x", outputs: [{ type: "wat" }] },
      { name: "x", outputs: [null] },
    ]) {
      expect(decodeResult(uint(1n), item)).toBeNull();
    }
  });

  it("does not follow pointer loops", () => {
    const [loops] = parseAbi(["function loops() view returns (bytes[])"]);
    const word = (value: number) => value.toString(16).padStart(64, "0");
    expect(decodeResult(`0x${word(32)}${word(4000)}${word(32).repeat(4000)}`, loops)).toBeNull();
  });
});
