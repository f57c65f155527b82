/** The numbers of a finding, as a sentence. */
import { describe, expect, it } from "vitest";
import { Statement } from "../rooms/primitives.js";
import { detailsOf, namesFor, type Finding } from "../rooms/report.js";
import { report } from "./fixtures.js";

const names = namesFor(report(), {});
/** Told without a sentence of a code. */
const detailsText = ({ numbers }: Pick<Finding, "numbers">, lead = "") => detailsOf({ ...other, numbers }, names, lead);
const other: Finding = {
  ...{ code: "acme/Other", severity: "info", step: "acme/other", transaction: null, sentence: "", numbers: [] },
  ...{ remedy: "", evidence: "measured", error: null },
};
import { hostile } from "./arbitrary.js";

describe("the numbers of a finding", () => {
  const { address, count, figures, gas, hash, quote, text, units, wei, weiPerGas } = Statement;
  const account = "0x00000000219ab540356cbb839cbe05303d7705fa";
  const shown = "0x00000000219ab540356cBB839Cbe05303d7705Fa";
  const [ether, gwei] = [10n ** 18n, 10n ** 9n];
  it.each([
    [
      `${shown} is short by 1 ETH, has 2 ETH, and needs up to 3 ETH.`,
      wei("short by", ether),
      address("account", account),
      wei("has", 2n * ether),
      wei("needs up to", 3n * ether),
    ],
    [`It is about ${shown}.`, address("account", account)],
    ["The nonce is 5 and the next is 7.", count("nonce", 5), count("next", 7)],
    ["It asks for 9 gas and the limit is 7 gas.", gas("gas", 9), gas("limit", 7)],
    ["1 is lost of 3.", count("lost", 1), count("of", 3)],
    ["2 are left out.", count("left out", 2)],
    [
      "It holds through full blocks for 6 s, instead of 60 s.".replace(",", ""),
      Statement.seconds("holds through full blocks for", 6),
      Statement.seconds("instead of", 60),
    ],
    ["The tip must be at least 2 gwei per gas.", weiPerGas("tip at least", 2n * gwei)],
    ['The symbol is "A" and elsewhere the symbol is "B".', quote("symbol", "A"), quote("symbol elsewhere", "B")],
    ['The code is -32000 and the words are "no".', count("code", -32000), quote("", "no")],
    ["eth_chainId is 1 and CHAINID is 5.", count("eth_chainId", 1), count("CHAINID", 5)],
    ["The decimals are 6.", count("decimals", 6)],
    ["0x01 is in flight.", hash("in flight", "0x01")],
    ["+5 of ~3.", text("", "+5 of ~3")],
    ["spent 7 of 5.", text("", "spent 7 of 5")],
    ["The constructor is $& and it needs 7 smallest units.", text("constructor", "$&"), units("needs", 7)],
    [""],
  ] as ReadonlyArray<[string, ...Array<Statement.Figure | null>]>)(
    "read as a sentence: %s",
    (sentence, ...numbers: ReadonlyArray<Statement.Figure | null>) =>
      expect(detailsText({ numbers: figures(...numbers) })).toBe(sentence),
  );

  it("begin with the given subject, and say how many are left out", () => {
    expect(detailsText({ numbers: figures(count("nonce", 5)) }, "transaction 2")).toBe(
      "Transaction 2: the nonce is 5.",
    );
    expect(detailsText({ numbers: [] }, "transaction 2")).toBe("Transaction 2.");
    const many = Array.from({ length: 40 }, (_, at) => count(`n${at}`, at));
    expect(detailsText({ numbers: figures(...many) })).toMatch(/the n31 is 31, and 8 more numbers are in the JSON\.$/);
  });

  it.each(hostile)("are harmless under any name: %j", (name) => {
    for (const figure of [text(name, "a"), quote("a", name), text(name, name), count(name, 1)])
      expect(detailsText({ numbers: figures(figure) })).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
