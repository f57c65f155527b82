import { scenesFor, preflight, scan, calldata, owner, codesOf } from "/work/main/test/preflight/scene.ts";
import { sendingFrom } from "/work/main/test/preflight/troupe.ts";
import * as artifacts from "/work/main/test/contracts/artifacts.ts";
const scene = await scenesFor("x").find(([n]) => n === "geth")![1]();
try {
    const { send, deploy, mined } = await sendingFrom(scene);
    const token = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
    await mined();
    const spoofer = await deploy(artifacts.Spoofer, [token, 1, 0n]);
    await send({ to: token, data: calldata(artifacts.Token, "mint", [owner.address, 10_000n]) });
    await send({ to: token, data: calldata(artifacts.Token, "approve", [spoofer, 1000n]) });
    await mined();
    const input = { from: owner.address, to: spoofer, data: calldata(artifacts.Spoofer, "claim") };
    const s = await scan(scene.url, input);
    console.log(s.transfers, codesOf(s), s.transactions[0].gas);
    const r = await preflight(scene.url, input);
    console.log(r.transfers, r.findings.map(f=>f.message), r.ledger.rounds,r.transactions[0].gas);
} finally { await scene.stop(); }
