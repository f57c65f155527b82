/** Changes of control, as findings: how bad each is. */
import { describe, expect, it } from "vitest";
import { Address } from "../../rooms/primitives.js";
import { checkControl, controlAccounts } from "../../rooms/steps.js";
import { unseen, type View } from "../../rooms/witness.js";
import { alice, bob, bundle, filled, inhabited, log, outcome, word } from "../parts.js";
import { at, topics } from "./arbitrary.js";

const contract = at("1");
const [stranger, nobody] = [at("7"), at("0")];
const owning = (from: Address, to: Address) => log(contract, [topics.ownership, word(from), word(to)]);
const ran = (logs: ReadonlyArray<ReturnType<typeof log>>, status: "success" | "reverted" = "success") =>
  bundle({ from: bob }, {}).map((one) =>
    filled(one, { outcome: outcome({ status, logs: one.index === 1 ? logs : [] }) }),
  );
const severity = (logs: ReadonlyArray<ReturnType<typeof log>>, before: View = unseen) =>
  checkControl(ran(logs), { before }).map(({ code, severity: how }) => `${code}/${how}`);

describe("a change of control", () => {
  it("is a warning about its transaction, with the events' evidence", () => {
    const [finding] = checkControl(ran([owning(stranger, at("8"))]), { before: unseen });
    expect(finding).toMatchObject({
      code: "OwnershipChanged",
      severity: "warning",
      transaction: 1,
      evidence: "logged",
    });
    expect(finding?.numbers.map(({ name, value }) => [name, value])).toEqual([
      ["", "handed over"],
      ["contract", contract],
      ["from", stranger],
      ["to", at("8")],
    ]);
  });
  it("is information where a sender only gains, the contract is new, or nobody is named", () => {
    expect(severity([owning(stranger, alice)])).toEqual(["OwnershipChanged/info"]);
    expect(severity([owning(stranger, at("8"))], inhabited({}))).toEqual(["OwnershipChanged/info"]);
    expect(severity([owning(nobody, alice)])).toEqual(["OwnershipChanged/info"]);
    expect(severity([owning(nobody, nobody)])).toEqual(["OwnershipChanged/info"]);
    expect(severity([log(contract, [topics.roleGranted, word(1n), word(alice), word(bob)])])).toEqual([
      "RoleChanged/info",
    ]);
  });
  it("is a warning where another gains, whatever former owner is named", () => {
    const solmate = "8292fce18fa69edf".padEnd(64, "0");
    expect(severity([owning(nobody, at("8"))])).toEqual(["OwnershipChanged/warning"]);
    for (const who of [alice, stranger, nobody])
      expect(severity([log(contract, [solmate, word(who), word(at("8"))])])).toEqual(["OwnershipChanged/warning"]);
    expect(severity([log(contract, [solmate, word(alice), word(nobody)])])).toEqual(["OwnershipChanged/warning"]);
    expect(severity([log(contract, [solmate, word(stranger), word(at("8"))])], inhabited({}))).toEqual([
      "OwnershipChanged/info",
    ]);
    for (const named of ["ce241d7ca1f669fe", "3edd90e7770f06fa", "906a1c6bd7e3091e", "1abebea81bfa2637"]) {
      expect(severity([log(contract, [named.padEnd(64, "0"), word(at("8"))])])).toEqual(["OwnershipChanged/warning"]);
      expect(severity([log(contract, [named.padEnd(64, "0"), word(alice)])])).toEqual(["OwnershipChanged/info"]);
    }
  });
  it("stays a warning where one sender loses what another gains, and where a proxy follows a sender", () => {
    expect(severity([owning(alice, bob)])).toEqual(["OwnershipChanged/warning"]);
    expect(severity([log(contract, [topics.upgraded, word(alice)])])).toEqual(["ContractControlChanged/warning"]);
  });
  it("is none where a revert took it back", () =>
    expect(checkControl(ran([owning(stranger, at("8"))], "reverted"), { before: unseen })).toEqual([]));
  it("comes first where a sender loses, then other harmful ones, however many dummies come before", () => {
    const gifts = Array.from({ length: 64 }, (_, index) =>
      log(Address.make(`0x${"99".repeat(19)}${index + 10}`), [topics.ownership, word(nobody), word(alice)]),
    );
    const events = [...gifts, owning(stranger, at("8")), log(at("2"), [topics.ownership, word(alice), word(stranger)])];
    expect(severity(events).filter((how) => how.endsWith("/warning"))).toHaveLength(2);
    expect(severity(events)).toHaveLength(66);
    expect(controlAccounts(ran(events)).slice(0, 2)).toEqual([at("2"), contract]);
    expect(controlAccounts(ran(events))).toHaveLength(64);
  });
  it("has one finding for each event, and one look at its contract", () => {
    const many = Array.from({ length: 100 }, () => owning(stranger, at("8")));
    expect([severity(many).length, controlAccounts(ran(many)).length]).toEqual([100, 1]);
    // harmless ones do not hide the one behind them
    const flood = [...Array.from({ length: 64 }, () => owning(nobody, alice)), owning(alice, stranger)];
    expect(severity(flood)).toContain("OwnershipChanged/warning");
  });
});
