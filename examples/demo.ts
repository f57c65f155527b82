/**
 * The main job on a real node: six transactions, six reports, nothing sent that is being asked about.
 *
 *     npm run demo
 */
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { createTestClient, http, parseEther, parseUnits, publicActions, walletActions } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { foundry } from "viem/chains";
import { Token } from "./contracts.js";
import { keys, startNode } from "./node.js";

const main = async () => {
  const node = await startNode();
  const client = createTestClient({ mode: "anvil", chain: foundry, transport: http(node.url) })
    .extend(publicActions)
    .extend(walletActions);
  const preflight = createPreflight({ url: node.url }, { abis: [Token.abi] });

  const [owner, alice, bob] = [
    privateKeyToAccount(keys[0]),
    privateKeyToAccount(keys[1]),
    privateKeyToAccount(keys[2]),
  ];
  const nobody = privateKeyToAddress(generatePrivateKey());
  const poor = privateKeyToAddress(generatePrivateKey());

  // The world: a token whose whole supply is the owner's, and an account with a hundredth of an ether.
  const deployment = await client.deployContract({
    account: owner,
    abi: Token.abi,
    bytecode: Token.bytecode,
    args: [parseUnits("1000000", 6)],
  });
  await client.sendTransaction({ account: owner, to: poor, value: parseEther("0.01") });
  await client.mine({ blocks: 1 });
  const { contractAddress: token } = await client.getTransactionReceipt({ hash: deployment });
  if (token === null || token === undefined) throw new Error("the token was not deployed");

  let surprises = 0;
  /** Prints a report and holds it to the verdict, and to the reason, that this scene is about. */
  const show = (
    title: string,
    report: Report.Report,
    verdict: Report.Report["verdict"],
    because?: Report.FindingCode,
  ) => {
    console.log(`\n━━ ${title}\n`);
    console.log(Report.toText(report));
    const told = report.findings.filter(({ severity }) => severity !== "info").map(({ code }) => code);
    if (report.verdict === verdict && (because === undefined ? told.length === 0 : told.includes(because))) return;
    surprises++;
    console.log(`!! expected ${verdict} (${because ?? "nothing"}), found ${report.verdict} (${told.join(", ")})`);
  };

  show(
    "1. A plain transfer",
    await preflight.run({ from: alice.address, to: bob.address, value: parseEther("1") }),
    "ready",
  );

  show(
    "2. A token transfer that would revert: Alice has no tokens",
    await preflight.run({
      from: alice.address,
      to: token,
      abi: Token.abi,
      functionName: "transfer",
      args: [bob.address, parseUnits("25", 6)],
    }),
    "blocked",
    "ExecutionReverted",
  );

  // The owner pays Alice 100 tokens; that transaction is sent, and no block has it yet.
  await client.writeContract({
    account: owner,
    address: token,
    abi: Token.abi,
    functionName: "transfer",
    args: [alice.address, parseUnits("100", 6)],
  });
  show(
    "3. The same transfer, now that a payment to Alice is on its way: it depends on what no block has yet",
    await preflight.run({
      from: alice.address,
      to: token,
      abi: Token.abi,
      functionName: "transfer",
      args: [bob.address, parseUnits("25", 6)],
    }),
    "caution",
    "DependsOnPending",
  );
  await client.mine({ blocks: 1 });

  show(
    "4. Calldata for an address where nobody lives: it would succeed and do nothing",
    await preflight.run({
      from: alice.address,
      to: nobody,
      abi: Token.abi,
      functionName: "transfer",
      args: [bob.address, parseUnits("25", 6)],
    }),
    "blocked",
    "NoCode",
  );

  show(
    "5. A sender who cannot pay",
    await preflight.run({ from: poor, to: bob.address, value: parseEther("0.05") }),
    "blocked",
    "InsufficientFunds",
  );

  show(
    "6. Two steps: Alice pays Bob in tokens, then in ether",
    await preflight.run([
      {
        from: alice.address,
        to: token,
        abi: Token.abi,
        functionName: "transfer",
        args: [bob.address, parseUnits("40", 6)],
      },
      { from: alice.address, to: bob.address, value: parseEther("0.1") },
    ]),
    "ready",
  );

  await preflight.dispose();
  node.stop();
  console.log("\n━━ On your own node, which needs no key and is only read:\n");
  console.log("   npx evm-preflight check --rpc-url https://your.node --from 0x… --to 0x… --value 0.1ether\n");
  process.exitCode = surprises === 0 ? 0 : 1;
};

void main();
