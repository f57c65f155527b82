/**
 * The ways of sending one JSON-RPC request beside each other, against a stub in another process: CPU of
 * this process per request, hot, eleven at once as in a scan, interleaved so that drift hits all alike.
 *
 *     npm run bench:transports      (BENCH_ITERATIONS=n for other than 300 turns)
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as http from "node:http";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import * as Result from "effect/Result";
import { viaDispatcher, viaNodeHttp } from "../src/rpc/nodeHttp.js";
import { viaFetch } from "../src/rpc/http.js";
import { type PostTo, roomFor } from "../src/rpc/post.js";

const turns = Number(process.env["BENCH_ITERATIONS"] ?? 300);
const atOnce = 11;

const script = fileURLToPath(new URL("stub.mjs", import.meta.url));
const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
if (child.stdout === null) throw new Error("the stub has no output");
const [port] = (await once(child.stdout, "data")) as [Buffer];
const url = new URL(`http://127.0.0.1:${String(port).trim()}/`);
const headers = { "content-type": "application/json" };
const room = roomFor("eth_getBalance", 1 << 25, null);
void globalThis.Headers;
const dispatcher = (globalThis as Record<symbol, unknown>)[Symbol.for("undici.globalDispatcher.1")];

/** The least that a socket of one's own would cost: answers in one piece, with their length. */
const viaSockets: PostTo = (to, body, _room, done) => {
  const socket = idle.pop() ?? connect(Number(to.port), to.hostname).setNoDelay(true);
  let text = "";
  const read = (chunk: Buffer) => {
    text += chunk.toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    if (head === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (text.length < head + 4 + length) return;
    socket.off("data", read);
    idle.push(socket);
    const reply = { status: Number(text.slice(9, 12)), header: () => null, text: text.slice(head + 4), bytes: length };
    done(Result.succeed(reply));
  };
  socket.on("data", read);
  socket.write(
    `POST / HTTP/1.1\r\nhost: ${to.host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return () => socket.destroy();
};
const idle: Array<Socket> = [];

const ways: ReadonlyArray<readonly [string, PostTo]> = [
  ["node:http", viaNodeHttp(headers, new http.Agent({ keepAlive: true }))],
  ["Node's undici dispatcher", viaDispatcher(headers, dispatcher as never)],
  ["raw sockets (plain answers only)", viaSockets],
  ["fetch", viaFetch(headers, globalThis.fetch)],
];

const body = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "eth_getBalance",
  params: [`0x${"ab".repeat(20)}`, "pending"],
});
const ask = (postTo: PostTo): Promise<void> =>
  new Promise((resolve, reject) => {
    postTo(url, body, room, (posted) => {
      if (Result.isFailure(posted)) return reject(new Error(posted.failure.detail));
      JSON.parse(posted.success.text);
      resolve();
    });
  });

const median = (numbers: ReadonlyArray<number>): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const samples = ways.map((): Array<number> => []);
for (let turn = -100; turn < turns; turn++) {
  for (let step = 0; step < ways.length; step++) {
    const index = (step + turn + 1000 * ways.length) % ways.length;
    const [way, sample] = [ways[index], samples[index]];
    if (way === undefined || sample === undefined) continue;
    const cpu = process.cpuUsage();
    for (let again = 0; again < 5; again++) await Promise.all(Array.from({ length: atOnce }, () => ask(way[1])));
    const { user, system } = process.cpuUsage(cpu);
    if (turn >= 0) sample.push((user + system) / 5 / atOnce);
  }
}
const first = median(samples[0] ?? []);
console.log(`Node ${process.version}, ${turns} interleaved turns of ${atOnce} at once\n`);
console.log("| way | CPU per request, µs | × node:http |\n|---|---|---|");
for (const [index, [name]] of ways.entries()) {
  const cpu = median(samples[index] ?? []);
  console.log(`| ${name} | ${cpu.toFixed(0)} | ${(cpu / first).toFixed(2)} |`);
}
child.kill();
for (const socket of idle) socket.destroy();
process.exit();
