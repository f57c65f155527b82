/** Calldata and logs by selectors and topics: the built-in table against ABIs from elsewhere, and who comes first. */
import type { Abi } from "abitype";
import fc from "fast-check";
import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  erc1155Abi,
  erc20Abi,
  erc4626Abi,
  erc721Abi,
  multicall3Abi,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
} from "viem";
import { describe, expect, it } from "vitest";
import { decodeLog, describeLog, describeRawCall, functionsOf, wellKnown } from "../rooms/abi.js";
import { abi as permit2 } from "./permit2.js";

const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const bob = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, 5n] });

const published: ReadonlyArray<readonly [source: string, abi: Abi]> = [
  ["ERC-20", erc20Abi],
  ["ERC-721", erc721Abi],
  ["ERC-1155", erc1155Abi],
  ["ERC-4626", erc4626Abi],
  ["Multicall3", multicall3Abi],
  ["Permit2", permit2],
];

describe("the table of known functions and events", () => {
  it.each(published)("has what changes something in the published ABI of %s", (_, abi) => {
    for (const item of abi) {
      if (item.type === "event")
        expect(
          wellKnown.events(toEventSelector(item)).some(({ inputs }) => {
            const indexed = (list: ReadonlyArray<{ readonly indexed?: boolean | undefined }>) =>
              list.map((input) => input.indexed === true);
            return JSON.stringify(indexed(inputs)) === JSON.stringify(indexed(item.inputs));
          }),
          item.name,
        ).toBe(true);
      if (item.type === "function" && item.stateMutability !== "view" && item.stateMutability !== "pure")
        expect(wellKnown.functions(toFunctionSelector(item)).map(({ name }) => name)).toContain(item.name);
    }
  });

  // as explorers list them
  it.each([
    ["0xa9059cbb", "transfer", "ERC-20"],
    ["0xd505accf", "permit", "ERC-2612"],
    ["0x8fcbaf0c", "permit", "DAI"],
    ["0xa22cb465", "setApprovalForAll", "ERC-721"],
    ["0x2eb2c2d6", "safeBatchTransferFrom", "ERC-1155"],
    ["0xd0e30db0", "deposit", "WETH9"],
    ["0x2e1a7d4d", "withdraw", "WETH9"],
    ["0x36c78516", "transferFrom", "Permit2"],
    ["0x0d58b1db", "transferFrom", "Permit2"],
    ["0xcc53287f", "lockdown", "Permit2"],
    ["0x82ad56cb", "aggregate3", "Multicall3"],
    ["0xac9650d8", "multicall", "Multicall"],
    ["0x5ae401dc", "multicall", "Multicall"],
    ["0x6a761202", "execTransaction", "Safe"],
    ["0x468721a7", "execTransactionFromModule", "Safe"],
    ["0xb63e800d", "setup", "Safe"],
    ["0x0d582f13", "addOwnerWithThreshold", "Safe"],
    ["0xf8dc5dd9", "removeOwner", "Safe"],
    ["0xe318b52b", "swapOwner", "Safe"],
    ["0x694e80c3", "changeThreshold", "Safe"],
    ["0x610b5925", "enableModule", "Safe"],
    ["0x8d80ff0a", "multiSend", "Safe"],
    ["0x1688f0b9", "createProxyWithNonce", "Safe"],
    ["0x38ed1739", "swapExactTokensForTokens", "Uniswap V2"],
    ["0x8803dbee", "swapTokensForExactTokens", "Uniswap V2"],
    ["0x7ff36ab5", "swapExactETHForTokens", "Uniswap V2"],
    ["0x4a25d94a", "swapTokensForExactETH", "Uniswap V2"],
    ["0x18cbafe5", "swapExactTokensForETH", "Uniswap V2"],
    ["0xfb3bdb41", "swapETHForExactTokens", "Uniswap V2"],
    ["0x5c11d795", "swapExactTokensForTokensSupportingFeeOnTransferTokens", "Uniswap V2"],
    ["0xb6f9de95", "swapExactETHForTokensSupportingFeeOnTransferTokens", "Uniswap V2"],
    ["0x791ac947", "swapExactTokensForETHSupportingFeeOnTransferTokens", "Uniswap V2"],
    ["0xe8e33700", "addLiquidity", "Uniswap V2"],
    ["0xf305d719", "addLiquidityETH", "Uniswap V2"],
    ["0xbaa2abde", "removeLiquidity", "Uniswap V2"],
    ["0x02751cec", "removeLiquidityETH", "Uniswap V2"],
    ["0x414bf389", "exactInputSingle", "Uniswap V3"],
    ["0xc04b8d59", "exactInput", "Uniswap V3"],
    ["0xdb3e2198", "exactOutputSingle", "Uniswap V3"],
    ["0xf28c0498", "exactOutput", "Uniswap V3"],
    ["0x49404b7c", "unwrapWETH9", "Uniswap V3"],
    ["0x12210e8a", "refundETH", "Uniswap V3"],
    ["0x04e45aaf", "exactInputSingle", "Uniswap SwapRouter02"],
    ["0xb858183f", "exactInput", "Uniswap SwapRouter02"],
    ["0x5023b4df", "exactOutputSingle", "Uniswap SwapRouter02"],
    ["0x09b81346", "exactOutput", "Uniswap SwapRouter02"],
    ["0x3593564c", "execute", "Uniswap Universal Router"],
    ["0x24856bc3", "execute", "Uniswap Universal Router"],
    ["0xf2fde38b", "transferOwnership", "Ownable"],
    ["0x4f1ef286", "upgradeToAndCall", "ERC-1967"],
    ["0x2f2ff15d", "grantRole", "AccessControl"],
  ])("has %s as %s of %s", (selector, name, source) => {
    expect(wellKnown.functions(selector).map((item) => [item.name, item.provenance.source])).toContainEqual([
      name,
      source,
    ]);
  });

  it.each([
    ["0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c", "Deposit"],
    ["0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65", "Withdrawal"],
    ["0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e", "ExecutionSuccess"],
    ["0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822", "Swap"],
    ["0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67", "Swap"],
    ["0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1", "Sync"],
    ["0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b", "Approval"],
  ])("has the event %s as %s", (topic, name) => {
    expect(wellKnown.events(topic)[0]?.name ?? null).toBe(name);
  });
});

describe("the reading of calldata by its functions", () => {
  it("gives every reading of what only the contract could tell apart, each by selector", () => {
    expect(functionsOf(approve).map(({ provenance }) => provenance)).toEqual([
      [{ kind: "builtin", source: "ERC-20" }],
      [{ kind: "builtin", source: "ERC-721" }],
    ]);
    expect(describeRawCall(approve)).toBe(
      `approve(spender: ${bob}, amount: 5) (by selector: ERC-20) or approve(to: ${bob}, tokenId: 5) (by selector: ERC-721)`,
    );
  });
  it("prefers the contract's own ABI, then other ABIs, then the table", () => {
    const mine = parseAbi(["function approve(address who, uint256 what)"]);
    const its = parseAbi(["function approve(address someone, uint256 much)"]);
    const abis = [mine, { address: alice, abi: its }];
    expect(describeRawCall(approve, abis, { address: alice })).toBe(
      `approve(someone: ${bob}, much: 5) (by the ABI given for ${alice})`,
    );
    expect(describeRawCall(approve, [mine], { address: bob })).toBe(
      `approve(who: ${bob}, what: 5) (by an ABI you gave)`,
    );
    expect(functionsOf(approve, abis, { address: bob })).toHaveLength(2);
  });
  it("finds no function where the arguments do not fit, and allows bytes behind them", () => {
    expect(functionsOf(approve.slice(0, -2))).toEqual([]);
    expect(functionsOf(`${approve.slice(0, 10)}${"ff".repeat(64)}`)).toEqual([]);
    expect(functionsOf(`${approve}c0ffee`)).toHaveLength(2);
    expect(functionsOf("0xd0e30db0").map(({ signature }) => signature)).toEqual(["deposit()"]);
    expect(describeRawCall("0xdeadbeef00")).toBe("selector 0xdeadbeef, 5 bytes of data");
    expect(describeRawCall("0x")).toBeNull();
  });
  it("never throws, and is one bounded line, whatever the bytes and the ABI", () => {
    const selectors = ["0xa9059cbb", "0x82ad56cb", "0x6a761202", "0x2a2d80d1", "0xac9650d8", "0xc04b8d59"];
    fc.assert(
      fc.property(
        fc.constantFrom(...selectors),
        fc.uint8Array({ maxLength: 400 }),
        fc.array(fc.jsonValue(), { maxLength: 3 }),
        (selector, bytes, items) => {
          const data = `${selector}${Buffer.from(bytes).toString("hex")}`;
          const text = describeRawCall(data, [items as unknown as Abi]) ?? "";
          expect(text.length).toBeLessThan(3_000);
          // eslint-disable-next-line no-control-regex
          expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        },
      ),
    );
  });
});

describe("the reading of logs by their topic", () => {
  it("tells an ERC-20 transfer from that of an NFT", () => {
    const topics = encodeEventTopics({ abi: erc20Abi, eventName: "Transfer", args: { from: alice, to: bob } });
    const data = encodeAbiParameters([{ type: "uint256" }], [7n]);
    const erc20 = decodeLog({ address: bob, topics: topics.flat().map(String), data }, wellKnown);
    expect(erc20 === null ? "" : describeLog(erc20)).toBe(`Transfer(from: ${alice}, to: ${bob}, value: 7)`);
    expect(erc20?.provenance).toEqual([{ kind: "builtin", source: "ERC-20" }]);
    const nft = decodeLog({ address: bob, topics: [...topics.flat().map(String), data], data: "0x" }, wellKnown);
    expect(nft === null ? "" : describeLog(nft)).toBe(`Transfer(from: ${alice}, to: ${bob}, tokenId: 7)`);
  });
});
