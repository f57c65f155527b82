import { describe, expect, it } from "vitest";
import { FeeCapTooLow, InsufficientFunds } from "../../src/Errors.js";
import { Address, Statement } from "../rooms/primitives.js";
import { hostile } from "../report/arbitrary.js";

const { figures, figureText, numbersText, statementText } = Statement;
const read = (figure: Statement.Figure | null, symbol?: string): string =>
  figure === null ? "nothing" : figureText(figure, symbol);

describe("a number in a statement", () => {
  it("reads with its unit, native amounts in the chain's currency", () => {
    expect(read(Statement.wei("has", 5n * 10n ** 18n), "POL")).toBe("has 5 POL");
    expect(read(Statement.wei("has", 0n))).toBe("has 0 ETH");
    expect(read(Statement.weiPerGas("max fee", 2_000_000_000n), "POL")).toBe("max fee 2 gwei per gas");
    expect(read(Statement.weiPerGas("max fee", 10n ** 18n), "POL")).toBe("max fee 1 POL per gas");
    expect(read(Statement.gas("limit", 21_000))).toBe("limit 21,000 gas");
    expect(read(Statement.bytes("size", 9n))).toBe("size 9 bytes");
    expect(read(Statement.blocks("lag", 2n))).toBe("lag 2 blocks");
    expect(read(Statement.milliseconds("wait", 1.6))).toBe("wait 2 ms");
    expect(read(Statement.seconds("age", 3))).toBe("age 3 s");
    expect(read(Statement.units("short by", 7n))).toBe("short by 7 smallest units");
    expect(read(Statement.units("amount", 2n ** 256n - 1n))).toBe("amount ≈1.15793 × 10^77 smallest units");
    expect(read(Statement.count("", 7n))).toBe("7");
    expect(read(Statement.address("to", "0x00000000219ab540356cbb839cbe05303d7705fa"))).toBe(
      "to 0x00000000219ab540356cBB839Cbe05303d7705Fa",
    );
    expect(read(Statement.quote("", "no"))).toBe('"no"');
  });

  it("is left out where it is unknown", () => {
    expect(
      [Statement.wei("has", null), Statement.text("", ""), Statement.hash("", null)].map((one) => read(one)),
    ).toEqual(["nothing", "nothing", "nothing"]);
    expect(figures(null, Statement.count("a", 1), null)).toEqual([{ name: "a", unit: "count", value: 1n }]);
  });
});

describe("an error's message", () => {
  it("gives wei and gwei, which mean the same on all chains, and no currency", () => {
    const account = Address.make(`0x${"11".repeat(20)}`);
    const poor = new InsufficientFunds({ account, have: 7n, want: 10n ** 18n + 7n, shortfall: 10n ** 18n });
    expect(poor.message).toMatch(
      /short by 1000000000 gwei, account 0x1{40}, has 0\.000000007 gwei, needs up to 1000000000\.000000007 gwei/,
    );
    const small = new InsufficientFunds({ account, have: 0n, want: 5n, shortfall: 5n });
    expect(small.message).toMatch(/short by 5 wei, .* has 0 gwei, needs up to 5 wei/);
    const low = new FeeCapTooLow({ maxFeePerGas: 2n * 10n ** 9n, baseFeePerGas: 10n ** 18n });
    expect(low.message).toContain("max fee 2 gwei per gas, base fee 1000000000 gwei per gas");
    for (const { message } of [poor, small, low]) expect(message).not.toMatch(/ETH/);
  });
});

describe("a statement", () => {
  it("shows amounts of one kind in one unit, that of the largest, exactly", () => {
    const [ether, some, none] = [10n ** 18n, 211n * 10n ** 12n, 0n];
    const read = (...numbers: ReadonlyArray<Statement.Figure | null>) => numbersText({ numbers: figures(...numbers) });
    expect(read(Statement.wei("short by", some), Statement.wei("needs", ether), Statement.wei("has", none))).toBe(
      "short by 0.000211 ETH, needs 1 ETH, has 0 ETH",
    );
    expect(read(Statement.wei("short by", some), Statement.wei("has", 1n))).toBe(
      "short by 211000 gwei, has 0.000000001 gwei",
    );
    expect(read(Statement.wei("by", -ether), Statement.wei("has", 7n))).toBe("by -1 ETH, has 0.000000000000000007 ETH");
    expect(read(Statement.weiPerGas("base fee", 7n), Statement.weiPerGas("max fee", 2n * 10n ** 9n))).toBe(
      "base fee 0.000000007 gwei per gas, max fee 2 gwei per gas",
    );
    // a price is no amount
    expect(read(Statement.wei("value", ether), Statement.weiPerGas("max fee", 2n * 10n ** 9n))).toBe(
      "value 1 ETH, max fee 2 gwei per gas",
    );
  });

  it("is sentence, numbers and remedy, without empty parts", () => {
    const numbers = figures(Statement.count("a", 1), Statement.count("b", 2));
    expect(statementText({ sentence: "it is", numbers, remedy: "do" })).toBe("it is · a 1, b 2 · do");
    expect(statementText({ sentence: "it is", numbers: [], remedy: "" })).toBe("it is");
  });

  it("is one harmless line of bounded length, whoever made it", () => {
    for (const text of hostile) {
      const numbers = (["address", "hash", "quote", "text"] as const).map((unit) => ({
        name: text,
        unit,
        value: text,
      }));
      const line = statementText({ sentence: text, numbers, remedy: text });
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(line.length).toBeLessThan(20_000);
    }
    const many = Array.from(
      { length: 1_000 },
      (_, index) => ({ name: "", unit: "count", value: BigInt(index) }) as const,
    );
    expect(numbersText({ numbers: many })).toMatch(/^0, 1, .*, 31, … and 968 more$/);
  });
});
