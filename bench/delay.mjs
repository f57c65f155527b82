// A TCP proxy in its own process that holds every chunk of a request back for some milliseconds.
// Usage: node bench/delay.mjs UPSTREAM_PORT MILLISECONDS; prints the port it listens on.
import { connect, createServer } from "node:net";

const [upstream, milliseconds] = process.argv.slice(2).map(Number);

const server = createServer((near) => {
  const far = connect(upstream, "127.0.0.1");
  near.setNoDelay(true);
  far.setNoDelay(true);
  near.on("data", (chunk) => {
    if (milliseconds > 0) setTimeout(() => far.write(chunk), milliseconds);
    else far.write(chunk);
  });
  far.on("data", (chunk) => near.write(chunk));
  const end = () => {
    near.destroy();
    far.destroy();
  };
  for (const socket of [near, far]) socket.on("close", end).on("error", end);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
