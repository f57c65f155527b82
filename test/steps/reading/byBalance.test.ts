import fc from "fast-check";
import { expect, it } from "vitest";
import { ByBalance, type Balance } from "../../rooms/steps.js";
import { alice, bob, token } from "../parts.js";
import { at } from "./arbitrary.js";

const balance: fc.Arbitrary<Balance> = fc.record({
  account: fc.constantFrom(alice, bob),
  token: fc.constantFrom(null, token, at("7")),
  tokenId: fc.constantFrom(null, 0n, 1n, 2n ** 255n),
});
const text = ({ account, token: of, tokenId }: Balance) => `${of}/${tokenId}/${account}`;

it("a map by balance holds one value each, the last one set", () =>
  fc.assert(
    fc.property(fc.array(fc.tuple(balance, fc.nat())), balance, (rows, asked) => {
      const found = new ByBalance<number>();
      const expected = new Map<string, number>();
      for (const [of, value] of rows) {
        found.of(of).set(of.account, value);
        expected.set(text(of), value);
      }
      for (const [of] of [...rows, [asked] as const]) expect(found.of(of).get(of.account)).toBe(expected.get(text(of)));
    }),
  ));
