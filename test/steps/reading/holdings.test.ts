/** Which balances are measured: what is asked for and the senders' own first, what is suspected last. */
import { encodeFunctionData, erc20Abi, parseAbi, type Abi } from "viem";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Transfer } from "../../rooms/report.js";
import {
  holding,
  holdingQueries as queries,
  holdings,
  holdingSuspects as suspects,
  holdingUnion as union,
  type Holding,
} from "../../rooms/steps.js";
import { balanceOf, balanceOf1155, ownerOf } from "../../rooms/witness.js";
import { alice, bob, bundle, hexOf, native, token } from "../parts.js";
import { at } from "./arbitrary.js";

const named = (list: ReadonlyArray<Holding>) =>
  list.map(({ account, token: what, tokenId, owned, wanted }) =>
    [wanted ? "!" : "", account, what ?? "native", tokenId ?? "", owned ? "owned" : ""].join(" ").trim(),
  );
const moved = (changed: Partial<Transfer> = {}): Transfer => ({
  ...{ ...native(0, alice, bob, 5n), standard: "erc20", token },
  ...changed,
});
const spender = at("7");
const approving = {
  to: token,
  data: hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 5n] })),
};

describe("the measured holdings", () => {
  it("cover the movements: an NFT by its id and its collection, an ERC-1155 by its id", () => {
    const of = (transfer: Transfer) => queries(holdings([], [transfer], 99).kept);
    expect(of(moved())).toEqual([balanceOf(token, alice), balanceOf(token, bob)]);
    expect(of(moved({ standard: "erc1155", tokenId: 3n }))).toEqual([
      ...[balanceOf1155(token, alice, 3n), balanceOf1155(token, bob, 3n)],
    ]);
    expect(of(moved({ standard: "erc721", tokenId: 3n }))).toEqual([
      ...[ownerOf(token, 3n), balanceOf(token, alice), ownerOf(token, 3n), balanceOf(token, bob)],
    ]);
    expect(of(native(0, alice, bob, 1n))).toEqual([alice, bob].map((address) => ({ kind: "account", address })));
  });
  it("cover what calls ask tokens to move, by the named id, and count what is cut", () => {
    const of = (signature: string, args: ReadonlyArray<unknown>, limit = 99) => {
      const abi = parseAbi([`function ${signature}`] as never) as Abi;
      const cases = bundle({ to: token, data: hexOf(encodeFunctionData({ abi, args: [...args] })) });
      const { kept, cut } = holdings([], [], limit, { bundle: cases });
      return [named(kept), cut];
    };
    const both = (id = "") => [alice, bob].map((account) => `${account} ${token} ${id}`.trim());
    expect(of("transfer(address,uint256)", [bob, 5n])).toEqual([both(), 0]);
    expect(of("transferFrom(address,address,uint256)", [alice, bob, 5n])).toEqual([both(), 0]);
    expect(of("transfer(address,uint256,uint256)", [bob, 7n, 5n])).toEqual([both("7"), 0]);
    expect(of("safeTransferFrom(address,address,uint256,uint256,bytes)", [alice, bob, 7n, 5n, "0x"])).toEqual([
      both("7"),
      0,
    ]);
    const many = [alice, bob, [7n, 8n], [1n, 2n], "0x"];
    const batch = "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)";
    expect(of(batch, many)).toEqual([[...both("7"), ...both("8")], 0]);
    expect(of(batch, many, 3)[1]).toBe(1);
  });
  it("are each once, without the zero address, and wanted where one row wants them", () => {
    const wanted = [holding(bob, token)];
    const { kept, cut } = holdings([alice], [moved(), moved(), moved({ from: at("0") })], 99, {
      wanted,
      suspected: [],
    });
    expect(named(kept)).toEqual([`! ${bob} ${token}`, `${alice} native`, `${alice} ${token}`]);
    expect(cut).toBe(0);
  });
  it("are cut from the end, except wanted ones and the senders' own currency, and counted", () =>
    fc.assert(
      fc.property(fc.nat(20), fc.nat(12), (limit, crowd) => {
        const transfers = Array.from({ length: crowd }, (_, index) =>
          moved({ to: `0x${(index + 16).toString(16).repeat(20)}` }),
        );
        const beside = { wanted: [holding(bob, null)], suspected: suspects(bundle(approving)) };
        const { kept, cut } = holdings([alice], transfers, limit, beside);
        expect(named(kept).slice(0, 2)).toEqual([`! ${bob} native`, `${alice} native`]);
        expect(kept.length).toBeLessThanOrEqual(Math.max(2, limit));
        const needed = holdings([alice], transfers, 999, { ...beside, suspected: [] }).kept.length;
        // suspicions of a sender's own stand before what strangers moved
        expect(cut).toBeLessThanOrEqual(needed + beside.suspected.length);
        if (limit >= needed + beside.suspected.length) expect(cut).toBe(0);
      }),
    ));
});

describe("the holdings that may change in silence", () => {
  it("are those of sender, receiver and named accounts in each other", () => {
    const list = named(suspects(bundle(approving)));
    expect(list).toContain(`${alice} ${token}`);
    expect(list).toContain(`${spender} ${token}`);
    expect(list).toContain(`${spender} native`);
    // nobody holds himself
    expect(list).not.toContain(`${token} ${token}`);
  });
  it("are none for transfers and deployments, and bounded for any bundle", () => {
    expect(suspects(bundle({ value: 1n }, { to: null, data: hexOf("0x6000600055") }))).toEqual([]);
    const many = Array.from({ length: 64 }, (_, index) => ({
      ...approving,
      to: `0x${(index + 16).toString(16).repeat(20)}` as const,
    }));
    expect(suspects(bundle(...many)).length).toBeLessThanOrEqual(96);
  });
});

it("known holdings come first, and only new ones are added", () =>
  expect(named(union([holding(alice, token), holding(bob, null)], [holding(bob, null), holding(bob, token)]))).toEqual([
    `${alice} ${token}`,
    `${bob} native`,
    `${bob} ${token}`,
  ]));
