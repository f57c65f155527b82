/** Transactions to try: from accounts that every development node funds (anvil, Hardhat, Ganache by its mnemonic). */

const alice = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const bob = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

/** One of them: its button, and the fields of the form that it fills; the others are emptied. */
export interface Try {
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
}

export const tries: ReadonlyArray<Try> = [
  { name: "Pay 0.1 ETH", fields: { kind: "fields", from: alice, to: bob, value: "0.1 ether" } },
  { name: "Pay more than there is", fields: { kind: "fields", from: alice, to: bob, value: "1000000 ether" } },
  {
    name: "Call a token that is not there",
    fields: {
      ...{ kind: "fields", from: alice, to: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" },
      ...{ signature: "transfer(address to, uint256 amount)", args: `["${bob}", 25000000]` },
    },
  },
  {
    name: "Spend what the payment before brings",
    fields: {
      kind: "json",
      json: JSON.stringify(
        [
          { from: alice, to: bob, value: "1 ether" },
          { from: bob, to: alice, value: "10000.5 ether" },
        ],
        null,
        2,
      ),
    },
  },
];
