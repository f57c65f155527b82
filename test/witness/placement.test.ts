import * as fc from "fast-check";
import { expect, it } from "vitest";
import { place, witnessBytecode } from "../rooms/witness.js";

it("the witness's addresses come from the random bytes alone", () => {
  const { address, sender, override } = place(Uint8Array.from({ length: 40 }, (_, index) => index + 1));
  expect(address).toBe("0x0102030405060708090a0b0c0d0e0f1011121314");
  expect(sender).toBe("0x15161718191a1b1c1d1e1f202122232425262728");
  expect(override).toEqual({ [address]: { code: witnessBytecode }, [sender]: { balance: 2n ** 96n - 1n } });
});

it("the witness's two addresses differ and are no precompiles, for any bytes", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc.uint8Array({ minLength: 20, maxLength: 20 }).map((half) => Uint8Array.from([...half, ...half])),
    fc.constantFrom(
      new Uint8Array(40),
      new Uint8Array(0),
      new Uint8Array(40).fill(0x5a),
      new Uint8Array(40).fill(0xa5),
    ),
  );
  fc.assert(
    fc.property(bytes, (random) => {
      const { address, sender, override } = place(random);
      expect(address).not.toBe(sender);
      for (const account of [address, sender]) expect(account).toMatch(/^0x(?!00)[0-9a-f]{40}$/);
      expect(Object.keys(override)).toEqual([address, sender]);
    }),
  );
});
