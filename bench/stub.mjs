// A node in a process of its own that answers every request with the same words at once, so that only
// the client's way of asking is measured. Prints the port it listens on, and ends with its parent.
import { createServer } from "node:http";

const result = `0x${"ab".repeat(Number(process.argv[2] ?? 32))}`;
const answer = ({ id }) => ({ jsonrpc: "2.0", id, result });

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    const text = JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked));
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("disconnect", () => process.exit());
