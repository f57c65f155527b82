/**
 * The report made before a signature exists, held against what the chain has after the key has really signed and the signature
 * has really been used.
 */
import { createPreflight } from "evm-preflight/promise";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diceOf } from "../harness/families/kit.js";
import { canonical, kitsFor, type Delegation, type Kit, type Reading } from "./kit.js";
import { drawn, isWhole } from "../harness/parts.js";
import { rows, sign, type Message, type Row } from "./messages.js";
import { hasBeds } from "./parts.js";

type Report = Awaited<ReturnType<ReturnType<typeof createPreflight>["signature"]>>;

const isThere = hasBeds("signatures before they are given");
/** Messages of each kind and owner: on geth twenty of a kind, for only there the signature itself is simulated. */
const manyOn = (name: string): number => drawn(name === "geth" && isWhole ? 5 : 1);
const delegations: ReadonlyArray<Delegation> = ["plain", "simple", "metamask", "bare"];

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const codes = (report: Report): ReadonlyArray<string> =>
  report.findings.filter(({ severity }) => severity !== "info").map(({ code }) => code);

/** The value of a reading behind the signature's use, as a report tells it. */
const toldOf = (report: Report, reading: Reading, before: bigint): bigint => {
  const deltaOf = (token: string | null, account: string) =>
    report.balanceChanges
      .filter((change) => same(change.account, account) && same(change.token ?? "native", token ?? "native"))
      .reduce((sum, { delta }) => sum + delta, 0n);
  if (reading.kind === "native") return before + deltaOf(null, reading.of);
  if (reading.kind === "balance") return before + deltaOf(reading.token, reading.of);
  if (reading.kind === "allowance" || reading.kind === "permit2") {
    const standard = reading.kind === "permit2" ? "permit2" : "erc20";
    const row = report.approvals.findLast(
      (approval) =>
        approval.standard === standard &&
        same(approval.token, reading.token) &&
        same(approval.owner, reading.owner) &&
        same(approval.spender, reading.spender),
    );
    return row?.after ?? before;
  }
  return before;
};

/** Whose of a reading it is; null where a report need not tell it. */
const ownerOf = (reading: Reading): string | null =>
  reading.kind === "balance" || reading.kind === "native"
    ? reading.of
    : reading.kind === "allowance" || reading.kind === "permit2"
      ? reading.owner
      : null;

describe.skipIf(!isThere).each(kitsFor("signatures before they are given", { isOnOpGeth: true }))(
  "on %s",
  (name, start) => {
    let kit: Kit;
    let seed = 500;
    let preflight: ReturnType<typeof createPreflight>;
    beforeAll(async () => {
      kit = await start();
      preflight = createPreflight({ url: kit.scene.url });
    }, 240_000);
    afterAll(async () => {
      await preflight?.dispose();
      await kit?.stop();
    });

    const draw = async (row: Row, delegation: Delegation): Promise<{ message: Message; key: Kit["spender"] }> => {
      seed++;
      const key = row.name.startsWith("EIP-7702") ? await kit.account(seed, delegation) : kit.owners[delegation];
      if (row.checks !== "none") await kit.fill(key.address);
      const parties = { owner: key, spender: await kit.account(100_000 + seed), now: await kit.now() };
      return { key, message: await row.message(kit, diceOf(seed), parties) };
    };

    describe.each(rows.filter(({ checks, name: kind }) => checks !== "none" && !kind.startsWith("EIP-7702")))(
      "$name",
      (row) => {
        it.each(delegations)(
          "of an owner that is %s does what its report said",
          { timeout: 120_000 * manyOn(name) },
          async (delegation) => {
            for (let round = 0; round < manyOn(name); round++) {
              const { message, key } = await draw(row, delegation);
              const report = await preflight.signature({ ...message.signing, signer: message.signer } as never);
              const told = `${row.name} ${seed}: ${report.verdict}, ${report.because}`;
              const signature: Hex = await sign(key, message.signing);
              const [first] = message.use(signature);
              if (first === undefined) throw new Error("nothing uses it");
              const owned = message.expects
                .map(({ reading }) => reading)
                .filter((reading) => ownerOf(reading) !== null);
              const before = await Promise.all(owned.map((reading) => kit.read(reading)));
              const [receipt] = await kit.send([first]);
              const after = await Promise.all(owned.map((reading) => kit.read(reading)));
              const isTaken = receipt?.status === "0x1";
              // nothing is ready whose use fails
              if (!isTaken)
                expect(["blocked", "unknown", ...(name === "anvil" ? ["caution"] : [])], told).toContain(
                  report.verdict,
                );
              if (name === "anvil") expect(report.verdict, told).not.toBe("ready");
              const isTold = report.verdict === "ready" || report.verdict === "caution";
              // and nothing that can be used is said to be of no use
              if (isTaken && report.signing?.assumed === "shim") expect(report.verdict, told).not.toBe("blocked");
              // an order that asks for tokens can only be fulfilled by who has them
              const isBarter = codes(report).includes("SignatureUnknown") && row.name.startsWith("Seaport");
              if (isTaken && name !== "anvil" && delegation !== "bare" && !isBarter) expect(isTold, told).toBe(true);
              if (!isTaken || !isTold) continue;
              for (const [at, reading] of owned.entries()) {
                if (!same(ownerOf(reading) ?? "", key.address)) continue;
                expect([told, reading, toldOf(report, reading, before[at] ?? 0n)]).toEqual([told, reading, after[at]]);
              }
              const { stand, usableBy } = report.signing ?? {};
              // the list to screen names who can use it, and nobody who is made up
              const screened = report.payees.map(({ address }) => address);
              expect(screened.filter((address) => address === stand?.taker || address === stand?.stranger)).toEqual([]);
              if (row.name.startsWith("Permit2 transfer") && report.balanceChanges.length > 0)
                expect(screened).toContain(usableBy);
              const cleared = await preflight.ready(report);
              expect(cleared.requests).toEqual([]);
              expect(cleared.signs).toEqual([report.signing?.sign]);
              const [asked] = cleared.signs;
              if (asked?.kind !== "typedData") throw new Error("no typed data");
              expect(await sign(key, { typedData: asked.typedData as never })).toBe(signature);
            }
          },
        );
      },
    );

    /** An ERC-2612 message of a token, by a fresh spender. */
    const permit = async (over: { readonly domain?: object; readonly message?: object } = {}) => {
      seed++;
      const { address: token, name: title, version } = kit.tokens.opened;
      const [owner, spender] = [kit.owners.plain, await kit.account(100_000 + seed)];
      const nonce = await kit.call(token, "function nonces(address) view returns (uint256)", [owner.address]);
      const deadline = (await kit.now()) + 1_800n;
      const fields = (all: ReadonlyArray<readonly [string, string]>) =>
        all.map(([field, type]) => ({ name: field, type }));
      const typedData = {
        types: {
          EIP712Domain: fields([
            ...([
              ["name", "string"],
              ["version", "string"],
            ] as const),
            ...([
              ["chainId", "uint256"],
              ["verifyingContract", "address"],
            ] as const),
          ]),
          Permit: fields([
            ...([
              ["owner", "address"],
              ["spender", "address"],
              ["value", "uint256"],
            ] as const),
            ...([
              ["nonce", "uint256"],
              ["deadline", "uint256"],
            ] as const),
          ]),
        },
        primaryType: "Permit",
        domain: { name: title, version, chainId: kit.scene.chainId, verifyingContract: token, ...over.domain },
        message: { owner: owner.address, spender: spender.address, value: 7_000n, nonce, deadline, ...over.message },
      };
      return { typedData, token, owner, spender, signer: owner.address };
    };
    const signatureOf = ({ typedData, signer }: Awaited<ReturnType<typeof permit>>, by = preflight) =>
      by.signature({ typedData, signer });

    describe("ERC-2612 with a fact that is wrong", () => {
      const wrong: ReadonlyArray<readonly [string, () => Parameters<typeof permit>[0], string]> = [
        ["another chain", () => ({ domain: { chainId: 5 } }), "ChainIdMismatch"],
        ["another name", () => ({ domain: { name: "Another" } }), "DomainDisagrees"],
        ["another version", () => ({ domain: { version: "9" } }), "DomainDisagrees"],
        ["a later nonce", () => ({ message: { nonce: 99n } }), "SignatureNotYet"],
        ["a deadline that is over", () => ({ message: { deadline: 1n } }), "SignatureExpired"],
        ["another owner", () => ({ message: { owner: kit.spender.address } }), "SignerIsNotOwner"],
        ["a token without code", () => ({ domain: { verifyingContract: kit.spender.address } }), "NoCode"],
      ];
      it.each(wrong)("%s", async (_, over, code) => {
        const report = await signatureOf(await permit(over()));
        expect(["blocked", "unknown"], report.because).toContain(report.verdict);
        expect(codes(report)).toContain(code);
        await expect(preflight.ready(report)).rejects.toBeDefined();
      });

      it("a deadline that nobody will see", async () => {
        const report = await signatureOf(await permit({ message: { deadline: 2n ** 256n - 1n } }));
        expect([report.verdict, codes(report)]).toEqual(["caution", expect.arrayContaining(["SignatureNeverExpires"])]);
      });
    });

    it("what is not known is unknown, in words", async () => {
      const { signer } =
        kit.owners.plain.address === undefined ? { signer: kit.spender.address } : { signer: kit.owners.plain.address };
      const reports = await Promise.all([
        preflight.signature({ message: "I agree", signer }),
        preflight.signature({ hash: `0x${"ab".repeat(32)}`, signer }),
        preflight.signature({
          signer,
          typedData: {
            types: { Vote: [{ name: "id", type: "uint256" }] },
            ...{ primaryType: "Vote", domain: { name: "Votes", chainId: kit.scene.chainId }, message: { id: "1" } },
          },
        }),
      ]);
      expect(reports.map(({ verdict, signing }) => [verdict, signing?.kind])).toEqual(
        reports.map(() => ["unknown", "unknown"]),
      );
      expect(reports.map((report) => codes(report)[0])).toEqual(["SignatureUnknown", "HashBlind", "SignatureUnknown"]);
    });

    it("a nonce that nobody can read leaves an equal call unknown", async () => {
      if (name !== "anvil") return;
      // a contract that answers every getter with nothing
      const token = "0x00000000000000000000000000000000000ca12e";
      await kit.scene.ask("anvil_setCode", [token, "0x00"]);
      const report = await signatureOf(await permit({ domain: { verifyingContract: token } }));
      const because = report.findings.flatMap(({ code, numbers }) =>
        code === "SignatureNotAssumed" ? numbers.map(({ value }) => value) : [],
      );
      expect([report.verdict, because.includes("its nonce could not be read")]).toEqual([
        expect.stringMatching(/unknown|blocked/),
        true,
      ]);
    });

    it("policies judge what a signature lets others take", async () => {
      const Policy = await import("../../src/Policy.js");
      const { typedData, signer, token, spender, owner } = await permit();
      const by = async (policies: ReadonlyArray<typeof Policy.noNewApprovals>) =>
        (await preflight.signature({ typedData, signer }, { policies })).verdict;
      expect(await by([Policy.noNewApprovals])).toBe("blocked");
      expect(await by([Policy.onlyTouches([spender.address, owner.address, token])])).not.toBe("blocked");
      expect(await by([Policy.onlyTouches([token])])).toBe("blocked");
      expect(await by([Policy.maxExposure(token, 6_999n)])).toBe("blocked");
    });

    it("a contract that takes every call has used no signature", async () => {
      // the conduit's controller has no such function; an account with the code of a stop takes any
      const taker = "0x00000000000000000000000000000000000ca11e";
      if (name !== "anvil") return;
      await kit.scene.ask("anvil_setCode", [taker, "0x00"]);
      const report = await signatureOf(await permit({ domain: { verifyingContract: taker } }));
      expect(report.verdict, report.because).not.toBe("ready");
    });

    it("a contract that takes every signature is not said to refuse it", async () => {
      if (name === "anvil") return;
      // its permit counts nonces and lets the spender take 7; every other call but the readers of both answers 1
      const bytecode =
        "0x610062600f6000396100626000f30060003560e01c637ecebe001461003a5760003560e01c63d505accf146100465760003560e01c63dd62ed3e1461005657600160005260206000f35b60005460005260206000f35b6000546001016000556007600155005b60015460005260206000f3";
      const verifyingContract = await kit.scene.deploy({ abi: [], bytecode });
      const report = await signatureOf(await permit({ domain: { verifyingContract }, message: { nonce: 0n } }));
      expect([report.verdict, codes(report)[0]], report.because).toEqual(["unknown", "SignatureUnknown"]);
      expect(report.approvals.map(({ after }) => after)).toEqual([7n]);
    });

    it.each([
      ["in ten minutes, within the deadline", 600n, true],
      ["in two hours, behind it", 7_200n, false],
    ])("a contract that gives its spender more %s", async (_, later, isSeen) => {
      if (name === "anvil") return;
      const gate = ((await kit.now()) + later).toString(16).padStart(10, "0");
      // its permit counts nonces and lets the spender take 7, and 8 behind the gate; every other call but the readers of both answers 1
      const runtime = `60003560e01c637ecebe001461003a5760003560e01c63d505accf146100465760003560e01c63dd62ed3e1461005f57600160005260206000f35b60005460005260206000f35b60005460010160005564${gate}421160070160015500${"5b"}60015460005260206000f3`;
      const bytecode = `0x61006b600f60003961006b6000f300${runtime}` as const;
      const verifyingContract = await kit.scene.deploy({ abi: [], bytecode });
      const report = await signatureOf(await permit({ domain: { verifyingContract }, message: { nonce: 0n } }));
      // the most that it comes to
      expect(report.approvals.map(({ after }) => after)).toEqual([isSeen ? 8n : 7n]);
      expect([codes(report).includes("SimulationDiverged"), report.verdict], report.because).toEqual(
        isSeen ? [true, "blocked"] : [false, "unknown"],
      );
    });

    it("an NFT that may take another form of the call is not said to refuse it", async () => {
      seed++;
      const [owner, id] = [kit.owners.plain, BigInt(seed)];
      await kit.mintNft("plain", owner.address, id);
      const field = (field: string, type: string) => ({ name: field, type });
      const typedData = {
        types: {
          Permit: [
            ...[field("spender", "address"), field("tokenId", "uint256")],
            ...[field("nonce", "uint256"), field("deadline", "uint256")],
          ],
        },
        primaryType: "Permit",
        domain: { name: "Positions", version: "1", chainId: kit.scene.chainId, verifyingContract: kit.nfts.plain },
        message: { spender: kit.spender.address, tokenId: id, nonce: 0n, deadline: (await kit.now()) + 600n },
      };
      expect((await preflight.signature({ typedData, signer: owner.address })).verdict).toBe("unknown");
    });

    describe("a report of a signature", () => {
      it("asks two rounds: thirteen requests at most, and the nonce of who makes an equal call", async () => {
        const connected = createPreflight({ url: kit.scene.url });
        await signatureOf(await permit(), connected);
        const report = await signatureOf(await permit(), connected);
        const { rounds, requests } = report.ledger;
        expect(
          [rounds, requests.length <= (name === "anvil" ? 18 : 13)],
          requests.map(({ method, run }) => `${method} ${run ?? ""}`).join(", "),
        ).toEqual([2, true]);
        await connected.dispose();
      });

      it("stands in JSON, is proven again, and is refused where its carriers are others", async () => {
        const report = await signatureOf(await permit());
        const { fromJson, toJson } = await import("../../src/Report.js");
        const { runSync } = await import("effect/Effect");
        const stored = runSync(fromJson(toJson(report) as never)) as Report;
        expect(stored.signings).toEqual(report.signings);
        const again = await preflight.prove(stored);
        expect([again.verdict, again.digest, again.carriers.length]).toEqual([report.verdict, report.digest, 1]);
        const [carrier] = stored.carriers;
        if (carrier === undefined) throw new Error("no carrier");
        const harmless = { ...stored, carriers: [{ ...carrier, input: { ...carrier.input, data: "0x" as const } }] };
        await expect(preflight.ready(harmless)).rejects.toMatchObject({ _tag: "NotProven" });
        expect((await preflight.prove(harmless)).verdict).toBe("unknown");
        const [signing] = stored.signings;
        if (signing === undefined) throw new Error("no signature");
        const wrong: ReadonlyArray<object> = [
          ...[{ usableBy: null }, { until: null }, { kind: "dai" }, { assumed: null }, { stand: null }, { sign: null }],
          { stand: { ...signing.stand, stranger: signing.sign.signer } },
        ];
        for (const change of wrong) {
          const altered = { ...stored, signings: [{ ...signing, ...change }] } as Report;
          await expect(preflight.ready(altered), JSON.stringify(Object.keys(change))).rejects.toHaveProperty("_tag");
          expect((await preflight.prove(altered)).verdict, JSON.stringify(Object.keys(change))).toBe("unknown");
        }
        const other = { ...stored, signings: (await signatureOf(await permit())).signings };
        await expect(preflight.ready(other)).rejects.toMatchObject({ _tag: "NotProven" });
      });

      it("tells what an authorisation lets its delegate do, and hands out its hash", async () => {
        const { hashAuthorization } = await import("viem/utils");
        const key = await kit.account(90_001 + seed++);
        await kit.fill(key.address);
        const nonce = await kit.scene.count(key.address);
        const authorization = { chainId: kit.scene.chainId, address: kit.delegates.simple, nonce };
        const report = await preflight.signature({ authorization, signer: key.address });
        expect([report.verdict, report.signing?.kind, report.signing?.assumed], report.because).toEqual([
          ...["caution", "authorization", "code"],
        ]);
        expect(codes(report)).toContain("DelegationSet");
        const [asked] = (await preflight.ready(report)).signs;
        expect(asked).toMatchObject({ kind: "authorization", digest: hashAuthorization(authorization) });
      });

      it.each([
        ["open", true],
        ["simple", false],
        ["metamask", false],
        ["bare", false],
        ["sweeping", false],
      ] as const)(
        "says whether anybody can spend with the code that an authorisation sets: %s, %s",
        async (of, isOpen) => {
          const key = await kit.account(90_001 + seed++);
          const authorization = { chainId: kit.scene.chainId, address: kit.delegates[of], nonce: 0 };
          const report = await preflight.signature({ authorization, signer: key.address });
          expect([codes(report).includes("DelegateOpen"), report.verdict], report.because).toEqual([isOpen, "caution"]);
          expect([report.carriers.length, (await preflight.ready(report)).signs.length]).toEqual([1, 1]);
        },
      );

      it("holds two signers beside each other, and refuses one signature twice", async () => {
        const [first, other] = [await permit(), await permit()];
        const second = {
          typedData: { ...other.typedData, message: { ...other.typedData.message, owner: kit.owners.simple.address } },
          signer: kit.owners.simple.address,
        };
        const nonce = await kit.call(first.token, "function nonces(address) view returns (uint256)", [second.signer]);
        const typedData = { ...second.typedData, message: { ...second.typedData.message, nonce } };
        const both = [
          { typedData: first.typedData, signer: first.signer },
          { typedData, signer: second.signer },
        ];
        const report: Report = await preflight.preflight(both as never);
        expect([report.verdict === "blocked", report.signings.length, report.carriers.length], report.because).toEqual([
          ...[false, 2, 2],
        ]);
        expect(report.approvals.map(({ owner, after }) => [owner, after]).sort()).toEqual(
          both.map(({ signer }) => [signer.toLowerCase(), 7_000n]).sort(),
        );
        if (name === "geth")
          expect((await preflight.ready(report)).signs.map(({ signer }) => signer)).toEqual(
            both.map(({ signer }) => signer.toLowerCase()),
          );
        await expect(preflight.preflight([both[0], both[0]] as never)).rejects.toMatchObject({
          _tag: "InvalidTransaction",
        });
      });

      it("tells what can be taken now, whatever an earlier one told", async () => {
        if (name === "anvil") return;
        const { encodeFunctionData, parseAbi } = await import("viem");
        const [key, spender] = [await kit.account(++seed), await kit.account(100_000 + seed)];
        const token = kit.tokens.opened.address;
        const call = (functionName: "approve" | "transfer", to: Hex, amount: bigint) => ({
          ...{ from: key, to: token },
          data: encodeFunctionData({
            abi: parseAbi(["function approve(address,uint256)", "function transfer(address,uint256)"]),
            ...{ functionName, args: [to, amount] },
          }),
        });
        await kit.fill(key.address);
        await kit.send([call("approve", canonical.permit2, 2n ** 256n - 1n)]);
        const fields = (all: string) =>
          all.split(",").map((field) => {
            const [type = "", title = ""] = field.split(" ");
            return { name: title, type };
          });
        const paying = (amounts: ReadonlyArray<bigint>, nonce: bigint) => ({
          types: {
            PermitBatchTransferFrom: fields(
              "TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline",
            ),
            TokenPermissions: fields("address token,uint256 amount"),
          },
          primaryType: "PermitBatchTransferFrom",
          domain: { name: "Permit2", chainId: kit.scene.chainId, verifyingContract: canonical.permit2 },
          message: {
            permitted: amounts.map((amount) => ({ token, amount })),
            ...{ spender: spender.address, nonce, deadline: 2n ** 40n },
          },
        });
        // a right that is over when it is given is none
        const past = await preflight.signature({
          typedData: {
            types: {
              PermitSingle: fields("PermitDetails details,address spender,uint256 sigDeadline"),
              PermitDetails: fields("address token,uint160 amount,uint48 expiration,uint48 nonce"),
            },
            ...{ primaryType: "PermitSingle", domain: paying([], 0n).domain },
            message: {
              details: { token, amount: 5n, expiration: 5, nonce: 0 },
              ...{ spender: spender.address, sigDeadline: (await kit.now()) + 600n },
            },
          },
          signer: key.address,
        });
        expect([past.verdict, past.approvals.map(({ after }) => after)], past.because).toEqual(["ready", [0n]]);
        const lostIn = ({ balanceChanges }: Report) =>
          balanceChanges.find(({ account }) => same(account, key.address))?.delta;
        const balance = () => kit.read({ kind: "balance", token, of: key.address });
        const held = await balance();
        const most = paying([2n ** 255n], 1n);
        const [first, twice, someoneElses] = [
          await preflight.signature({ typedData: most, signer: key.address }),
          await preflight.signature({ typedData: paying([held - 1n, held - 1n], 2n), signer: key.address }),
          await preflight.signature({
            typedData: paying([1n], 3n),
            signer: key.address,
            account: kit.owners.bare.address,
          }),
        ];
        expect([lostIn(first), lostIn(twice)], twice.because).toEqual([-held, -held]);
        expect(someoneElses.verdict).toBe("unknown");
        expect(await preflight.ready(first)).toMatchObject({ requests: [] });
        const shown = { ...first, signing: twice.signing };
        await expect(preflight.ready(shown as never)).rejects.toMatchObject({ _tag: "NotProven" });
        // more than was there, then less
        await kit.fill(key.address);
        const more = await preflight.prove(first);
        expect([more.verdict, lostIn(more)], more.because).toEqual(["unknown", -held]);
        await kit.send([call("transfer", kit.thief, held + 5n)]);
        expect((await preflight.prove(first)).verdict).toBe("unknown");
        const anew = await preflight.signature({ typedData: most, signer: key.address });
        expect(lostIn(anew)).toBe(5n - held);
        // nobody else is sent what is taken
        const swap = (text: Hex) =>
          text.replaceAll(anew.signings[0]?.stand.taker.slice(2) ?? "", key.address.slice(2).toLowerCase());
        const forged = JSON.parse(swap(JSON.stringify(anew) as Hex)) as never;
        const { fromJson } = await import("../../src/Report.js");
        const { runSync } = await import("effect/Effect");
        expect((await preflight.prove(runSync(fromJson(forged)) as Report)).verdict).toBe("unknown");
      }, 120_000);

      it("is refused where an authorisation does not stand in front", async () => {
        const { typedData, signer } = await permit();
        const authorization = { chainId: kit.scene.chainId, address: kit.delegates.simple, nonce: 0 };
        await expect(
          preflight.preflight([
            { typedData, signer },
            { authorization, signer },
          ] as never),
        ).rejects.toMatchObject({ _tag: "InvalidTransaction", field: "[1].authorization" });
        await expect(
          preflight.preflight([
            { typedData, signer },
            { typedData, signer },
          ] as never),
        ).rejects.toMatchObject({ _tag: "InvalidTransaction", field: "[1]" });
      });

      it("stands beside the transaction that it is for, and is used in front of it", async () => {
        const { token, owner, spender, typedData, signer } = await permit();
        await kit.fill(owner.address);
        await kit.fill(spender.address);
        const { encodeFunctionData, parseAbi } = await import("viem");
        const data = encodeFunctionData({
          abi: parseAbi(["function transferFrom(address,address,uint256) returns (bool)"]),
          args: [owner.address, spender.address, 7_000n],
        });
        const pull = { from: spender.address, to: token, data };
        expect((await preflight.preflight(pull)).verdict).toBe("blocked");
        if (name === "anvil") return;
        const report = await preflight.preflight([{ typedData, signer }, pull] as never);
        expect([report.transactions.length, report.carriers.length, report.signing], report.because).toEqual([
          1,
          1,
          undefined,
        ]);
        expect(["ready", "caution"], `${report.because} ${codes(report)}`).toContain(report.verdict);
        const cleared = await preflight.ready(report);
        expect([cleared.signs.length, cleared.requests.length, cleared.requests[0].nonce]).toEqual([
          ...[1, 1, await kit.scene.count(spender.address)],
        ]);
        for (const { transaction } of report.findings) expect(transaction === null || transaction < 2).toBe(true);
      });
    });
  },
);
