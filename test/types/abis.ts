/** ABIs for the type tests. */
export const token = [
  { type: "constructor", stateMutability: "nonpayable", inputs: [{ name: "supply", type: "uint256" }] },
  {
    type: "function",
    name: "transfer",
    stateMutability: "nonpayable",
    inputs: [
      { name: "to", type: "address" },
      { name: "amount", type: "uint256" },
    ],
    outputs: [{ name: "", type: "bool" }],
  },
  { type: "function", name: "pause", stateMutability: "nonpayable", inputs: [], outputs: [] },
  {
    type: "function",
    name: "safe",
    stateMutability: "nonpayable",
    inputs: [{ name: "to", type: "address" }],
    outputs: [],
  },
  {
    type: "function",
    name: "safe",
    stateMutability: "nonpayable",
    inputs: [
      { name: "to", type: "address" },
      { name: "data", type: "bytes" },
    ],
    outputs: [],
  },
] as const;

/** No constructor. */
export const bare = [
  { type: "function", name: "pause", stateMutability: "nonpayable", inputs: [], outputs: [] },
] as const;
