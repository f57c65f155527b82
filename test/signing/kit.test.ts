/** The kit itself is proven here, without the library: each message is signed by a key and used on real contracts. */
import { domainSeparator, recoverMessageAddress, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diceOf } from "../harness/families/kit.js";
import { canonical, kitsFor, type Delegation, type Kit } from "./kit.js";
import { mutationsOf, rows, sign, type Message, type Row } from "./messages.js";
import { hasBeds } from "./parts.js";

// reports are held against owners of every kind in signatures.test.ts
const delegations: ReadonlyArray<Delegation> =
  process.env["TEST_SIGNATURES"] === undefined ? ["plain", "bare"] : ["plain", "simple", "metamask", "bare"];
const isThere = hasBeds("signatures on real contracts");

describe.skipIf(!isThere).each(kitsFor("signatures on real contracts"))(
  "real contracts that take signatures, on %s",
  (_, start) => {
    let kit: Kit;
    let seed = 0;
    beforeAll(async () => {
      kit = await start();
    }, 240_000);
    afterAll(() => kit?.stop());

    const draw = async (row: Row, delegation: Delegation): Promise<{ message: Message; key: Kit["spender"] }> => {
      seed++;
      // an authorisation changes its owner, so each has one of its own
      const key = row.name.startsWith("EIP-7702") ? await kit.account(seed, delegation) : kit.owners[delegation];
      if (row.checks !== "none") await kit.fill(key.address);
      // rights outlive their test: nobody has one of before
      const parties = { owner: key, spender: await kit.account(100_000 + seed), now: await kit.now() };
      return { key, message: await row.message(kit, diceOf(seed), parties) };
    };
    const use = async (message: Message, signature: Hex, uses = message.use(signature)) => {
      const receipts = await kit.send(uses);
      const read = await Promise.all(message.expects.map(({ reading }) => kit.read(reading)));
      return { statuses: receipts.map(({ status }) => status), read };
    };
    const isTaken = (row: Row, delegation: Delegation) => row.checks !== "code" || delegation !== "bare";

    it("the contracts stand where they stand on mainnet, with the domains of this chain", async () => {
      const domain = (name: string, verifyingContract: Hex, version?: string) =>
        domainSeparator({
          domain: {
            name,
            chainId: kit.scene.chainId,
            verifyingContract,
            ...(version === undefined ? {} : { version }),
          },
        });
      const separator = async (to: Hex) => kit.call(to, "function DOMAIN_SEPARATOR() view returns (bytes32)", []);
      expect(await separator(canonical.permit2)).toBe(BigInt(domain("Permit2", canonical.permit2)));
      for (const { address, name, version } of Object.values(kit.tokens))
        expect([name, await separator(address)]).toEqual([name, BigInt(domain(name, address, version))]);
      const answer = (await kit.scene.ask("eth_call", [
        { to: canonical.seaport, data: "0xf47b7740" },
        "latest",
      ])) as string;
      expect(answer.slice(66, 130)).toBe(domain("Seaport", canonical.seaport, "1.6").slice(2));
      expect(BigInt(`0x${answer.slice(130, 194)}`)).toBe(BigInt(canonical.conduits));
    });

    describe.each(rows)("$name", (row) => {
      it.each(delegations)("of an owner that is %s does what is expected of it", async (delegation) => {
        const { message, key } = await draw(row, delegation);
        const signature = await sign(key, message.signing);
        if ("message" in message.signing)
          expect(await recoverMessageAddress({ message: message.signing.message, signature })).toBe(key.address);
        const { statuses, read } = await use(message, signature);
        if (isTaken(row, delegation)) {
          expect(statuses).toEqual(statuses.map(() => "0x1"));
          expect(read).toEqual(message.expects.map(({ after }) => after));
        } else {
          expect(statuses[0]).toBe("0x0");
          expect(read).toEqual(message.expects.map(({ before }) => before));
        }
      });

      it("with another field is refused", async () => {
        const { message, key } = await draw(row, "plain");
        const { signing } = message;
        const mutations = mutationsOf(signing);
        expect(mutations.length).toBeGreaterThan(0);
        // the library's tests go through all of them
        const [field, mutated] = diceOf(seed).of(mutations);
        const signature = await sign(key, mutated);
        if ("message" in signing) {
          expect(await recoverMessageAddress({ message: signing.message, signature })).not.toBe(key.address);
          return;
        }
        const { statuses, read } = await use(message, signature, message.use(signature).slice(0, 1));
        if ("typedData" in signing) {
          expect([field, statuses[0]]).toEqual([field, "0x0"]);
          expect(read).toEqual(message.expects.map(({ before }) => before));
        } else {
          // a transaction goes on without an authorisation that does not hold
          expect([field, read[0]]).toEqual([field, message.expects[0]?.before]);
          expect(read[1]).toBe(message.expects[1]?.before);
        }
      });
    });
  },
);
