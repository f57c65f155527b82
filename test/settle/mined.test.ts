/** A mined transaction as the request that was signed. */
import fc from "fast-check";
import type { TransactionSerializable } from "viem";
import { expect, it } from "vitest";
import { runs } from "../harness/parts.js";
import { requestOfMined } from "../rooms/settle.js";
import { signingHash, type Request } from "../rooms/transaction.js";
import { accountArbitrary, requestArbitrary, shownOf } from "../transaction/requests.js";

const [account] = fc.sample(accountArbitrary, 1);
if (account === undefined) throw new Error("there is no account");
const to = `0x${"22".repeat(20)}` as const;
const unlisted: Request = {
  ...{ type: "eip2930", chainId: 1, nonce: 7, gas: 21_000n, value: 5n, data: "0x", to, gasPrice: 3n },
  accessList: [],
};

it("a mined transaction becomes the signed request, of every type", async () => {
  await fc.assert(
    fc.asyncProperty(requestArbitrary, accountArbitrary, async (request, signer) => {
      const raw = await signer.signTransaction(request as TransactionSerializable);
      const found = requestOfMined(shownOf(raw) as Parameters<typeof requestOfMined>[0]);
      expect(found === null ? null : signingHash(found)).toBe(signingHash(request));
    }),
    { numRuns: runs(200), examples: [[unlisted, account]] },
  );
});

it("a mined transaction of an unknown type becomes no request", async () => {
  const raw = await account.signTransaction(unlisted as TransactionSerializable);
  const shown = shownOf(raw) as Parameters<typeof requestOfMined>[0];
  for (const type of ["0x7e", "0x64"] as const) expect(requestOfMined({ ...shown, type })).toBeNull();
});
