/** What Safes run in their own place, on real nodes with real Safes: known libraries, and code that takes the Safe over. */
import { concatHex, encodeFunctionData, pad, parseAbi, zeroAddress, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../src/Report.js";
import { summary } from "../rooms/report.js";
import { WETH9 } from "../contracts/artifacts.js";
import {
  deploying,
  encode,
  executing,
  making,
  multiSend,
  planting,
  settingUp,
  versions,
  type Inner,
  type Version,
} from "./safes.js";
import { calldata, nobody, owner, preflight, scenesFor, type Scene } from "./scene.js";

/** `sstore(0, calldataload(4)); return true`, whatever the selector. */
const takingOver: Hex = "0x6004355f5560015f5260205ff3";
const stranger: Hex = "0x00000000000000000000000000000000000000a1";

const of = ({ findings }: Report, ...codes: ReadonlyArray<string>) =>
  findings
    .filter(({ code }) => codes.includes(code))
    .map(({ code, severity, numbers }) => [code, severity, ...numbers.map(({ value }) => value)]);
const delegateCalls = (report: Report) => of(report, "UnknownDelegateCall", "DelegateCall", "DelegateCallUnread");

describe.each(scenesFor("Safes"))("Safe transactions by execTransaction, on %s", (_, start) => {
  let scene: Scene;
  let evil: Hex;
  let weth: Hex;
  const safes = new Map<Version, Hex>();
  const libraries = new Map<string, Hex>();
  const safeOf = (version: Version): Hex => safes.get(version) ?? zeroAddress;
  const library = (name: string): Hex => libraries.get(name) ?? zeroAddress;
  beforeAll(async () => {
    scene = await start();
    evil = await planting(scene, takingOver);
    weth = await scene.deploy(WETH9);
    for (const version of versions) {
      safes.set(version, await making(scene, version, owner.address));
      for (const name of ["MultiSend", "MultiSendCallOnly", "CreateCall", "SignMessageLib"])
        libraries.set(`${name} ${version}`, await deploying(scene, `${name} ${version}`));
      await scene.send(owner, { to: safeOf(version), value: 10n ** 18n });
      await scene.mine();
    }
    libraries.set("SafeToL2Setup 1.5.0", await deploying(scene, "SafeToL2Setup 1.5.0"));
    libraries.set("MultiSend 1.1.1", await deploying(scene, "MultiSend 1.1.1"));
  }, 120_000);
  afterAll(() => scene?.stop());

  const asking = (to: Hex, data: Hex, options = {}) => preflight(scene.url, { from: owner.address, to, data }, options);
  const through = (version: Version, inner: Inner, options = {}) => asking(safeOf(version), executing(inner), options);
  const attack = encode("transfer", stranger, 0n);

  describe.each(versions)("by Safe %s", (version) => {
    it("are ready where they pay and batch by the libraries of any version", async () => {
      const pays = [
        { to: stranger, value: 1n },
        { to: weth, value: 5n, data: calldata(WETH9, "deposit") },
      ];
      const paid = await through(version, { to: stranger, value: 1n });
      expect(paid.verdict).toBe("ready");
      // the signer's own summary says what the Safe pays
      expect(summary(paid)).toMatch(
        /^You pay .+\. Your Safe \(0x\w+…\w+\) pays 1 wei to 0x0000…00A1\. You call 0x\w+…\w+: execTransaction\(to: 0x.+\) \(by selector: Safe\)\. Inside: 1 0x0000…00A1 with 1 wei\.$/i,
      );
      for (const other of [
        "MultiSend 1.1.1",
        ...versions.flatMap((one) => [`MultiSend ${one}`, `MultiSendCallOnly ${one}`]),
      ]) {
        const report = await through(version, { to: library(other), data: multiSend(...pays), isDelegate: true });
        expect([other, report.verdict, delegateCalls(report)]).toEqual([other, "ready", []]);
      }
    });
    it("have no finding for a created contract, and a warning with the text for a signed message", async () => {
      const made = await through(version, {
        ...{ to: library(`CreateCall ${version}`), isDelegate: true },
        data: encode("performCreate", 0n, "0x600a600c600039600a6000f3600160005260206000f3"),
      });
      expect(delegateCalls(made)).toEqual([]);
      const message = `0x${"ab".repeat(32)}` as const;
      const target = library(`SignMessageLib ${version}`);
      const signed = await through(version, { to: target, data: encode("signMessage", message), isDelegate: true });
      expect(signed.verdict).toBe("caution");
      expect(delegateCalls(signed)).toEqual([
        ["DelegateCall", "warning", safeOf(version), target, `SignMessageLib ${version}`, message],
      ]);
    });
    it("are blocked where they run unknown code, at the top, in a batch, and in a batch in a batch", async () => {
      const taken: Inner = { to: evil, data: attack, isDelegate: true };
      const batch = (...calls: ReadonlyArray<Inner>): Inner => ({
        ...{ to: library(`MultiSend ${version}`), isDelegate: true },
        data: multiSend(...calls),
      });
      const many = Array.from({ length: 300 }, () => ({ to: stranger }));
      for (const inner of [taken, batch({ to: stranger }, taken), batch(batch(taken)), batch(...many, taken)]) {
        const report = await through(version, inner);
        expect(report.verdict).toBe("blocked");
        expect(delegateCalls(report)).toEqual([["UnknownDelegateCall", "blocker", safeOf(version), evil]]);
      }
    });
    it("are measured where they run code that the caller names, and show a new singleton", async () => {
      const report = await through(version, { to: evil, data: attack, isDelegate: true }, { delegateTargets: [evil] });
      expect(report.verdict).toBe("caution");
      expect(delegateCalls(report)).toEqual([["DelegateCall", "info", safeOf(version), evil, "as the option says"]]);
      expect(of(report, "ContractControlChanged").map((one) => [one[1], one[2], one.at(-1)])).toEqual([
        ["warning", "new implementation, without an event", stranger],
      ]);
    });
    it("have no finding for setup by a known library, and are blocked for other code", async () => {
      const factory = await deploying(scene, `SafeProxyFactory ${version}`);
      const singleton = await deploying(scene, `Safe ${version}`);
      const creating = (to: Hex, data: Hex) =>
        asking(factory, encode("createProxyWithNonce", singleton, settingUp([owner.address], to, data), 7n));
      const known = await creating(library("SafeToL2Setup 1.5.0"), encode("setupToL2", singleton));
      expect([known.verdict, delegateCalls(known)]).toEqual(["ready", []]);
      const taken = await creating(evil, attack);
      expect([taken.verdict, delegateCalls(taken)]).toEqual(["blocked", [["UnknownDelegateCall", "blocker", evil]]]);
    });
  });

  it("show the new singleton of a migration, wherever the makers' library stands", async () => {
    const [plain, l2] = [await deploying(scene, "Safe 1.5.0"), await deploying(scene, "Safe 1.4.1")];
    const library = await deploying(scene, "SafeMigration 1.5.0", plain, l2, weth);
    for (const [data, singleton] of [
      ["0xf6682ab0", plain],
      ["0x07f464a4", l2],
    ] as const) {
      const report = await through("1.4.1", { to: library, data, isDelegate: true });
      expect(report.verdict).toBe("caution");
      expect(delegateCalls(report)).toEqual([
        ["DelegateCall", "warning", safeOf("1.4.1"), library, "SafeMigration 1.5.0", singleton],
      ]);
      expect(of(report, "ContractControlChanged")).toHaveLength(1);
    }
    // the same getters over other code
    const liar = await planting(scene, "0x735f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5260205ff3");
    expect((await through("1.4.1", { to: liar, data: "0xf6682ab0", isDelegate: true })).verdict).toBe("blocked");
  });
  it("of a Safe in a Safe are judged as at the top", async () => {
    const outer = safeOf("1.3.0");
    const inner = await making(scene, "1.4.1", outer);
    const data = executing({ to: evil, data: attack, isDelegate: true }, outer);
    const report = await through("1.3.0", { to: inner, data });
    expect(report.verdict).toBe("blocked");
    expect(delegateCalls(report)).toEqual([["UnknownDelegateCall", "blocker", inner, evil]]);
    const honest = await through("1.3.0", { to: inner, data: executing({ to: stranger }, outer) });
    expect(honest.verdict).toBe("ready");
  });
  it("judge a module by its calldata, and by the Safe's answer where the call is hidden", async () => {
    for (const version of ["1.3.0", "1.4.1"] as const) {
      const safe = await making(scene, version, owner.address);
      // calls whatever it is asked to: its first word, with the rest
      const module = await planting(scene, "0x6020360360205f375f5f602036035f5f5f355af15f5260205ff3");
      await scene.send(owner, {
        to: safe,
        data: executing({ to: safe, data: encode("enableModule", owner.address) }),
      });
      await scene.send(owner, { to: safe, data: executing({ to: safe, data: encode("enableModule", module) }) });
      await scene.mine();
      for (const name of ["execTransactionFromModule", "execTransactionFromModuleReturnData"]) {
        const report = await asking(safe, encode(name, evil, 0n, attack, 1));
        expect([report.verdict, delegateCalls(report)]).toEqual([
          "blocked",
          [["UnknownDelegateCall", "blocker", safe, evil]],
        ]);
      }
      const call = encode("execTransactionFromModule", evil, 0n, attack, 1);
      const hidden = await asking(module, concatHex([pad(safe, { size: 32 }), call]));
      // the Safe of 1.4.1 here is one that says what it executes
      expect(hidden.verdict).toBe(version === "1.4.1" ? "blocked" : "caution");
      if (version === "1.3.0") expect(of(hidden, "ContractControlChanged")).toHaveLength(1);
      else expect(delegateCalls(hidden)).toEqual([["UnknownDelegateCall", "blocker", safe, evil]]);
    }
  });
  it("are never ready where code is unread or absent", async () => {
    const nowhere = await through("1.4.1", { to: nobody, data: "0x12345678", isDelegate: true });
    expect(nowhere.verdict).toBe("blocked");
    const cut = multiSend({ to: stranger }, { to: evil, data: attack, isDelegate: true }).slice(0, -192) as Hex;
    const data = encodeFunctionData({
      abi: parseAbi(["function multiSend(bytes)"]),
      args: [`0x${cut.slice(138, -10)}`],
    });
    const report = await through("1.4.1", { to: library("MultiSend 1.4.1"), data, isDelegate: true });
    expect(["unknown", "blocked"]).toContain(report.verdict);
    expect(of(report, "CalldataCut").map(([, severity]) => severity)).toEqual(["unavailable"]);
  });
});
