/** A WebSocket in front of an HTTP endpoint: each message is posted, and what comes back is told, whatever it is. */
import { createHash } from "node:crypto";
import { createServer, request as post } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { socketUrl } from "./socketUrl.js";

export interface Bridge {
  /** With `ws:`, and of this bridge alone. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const [text, closing, ping, pong] = [0x1, 0x8, 0x9, 0xa];

const frame = (opcode: number, body: Buffer): Buffer => {
  const head =
    body.length < 126
      ? Buffer.from([0x80 | opcode, body.length])
      : body.length < 65_536
        ? Buffer.from([0x80 | opcode, 126, body.length >> 8, body.length & 0xff])
        : Buffer.concat([Buffer.from([0x80 | opcode, 127, 0, 0, 0, 0]), Buffer.alloc(4)]);
  if (body.length >= 65_536) head.writeUInt32BE(body.length, 6);
  return Buffer.concat([head, body]);
};

/** Calls `hear` with each whole message, as clients send them: masked, and not in pieces. */
const reader = (hear: (opcode: number, body: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      if (rest.length < 2) return;
      const short = (rest[1] ?? 0) & 0x7f;
      const at = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (rest.length < at + 4) return;
      const size = short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
      if (rest.length < at + 4 + size) return;
      const [mask, body] = [rest.subarray(at, at + 4), Buffer.from(rest.subarray(at + 4, at + 4 + size))];
      for (let index = 0; index < size; index++) body[index] = (body[index] ?? 0) ^ (mask[index % 4] ?? 0);
      const opcode = (rest[0] ?? 0) & 0x0f;
      rest = rest.subarray(at + 4 + size);
      hear(opcode, body);
    }
  };
};

/** A socket to the endpoint at `target`; a connection that the endpoint breaks ends the socket. */
export const startBridge = (target: string): Promise<Bridge> =>
  new Promise((resolve) => {
    const sockets = new Set<Socket>();
    const server = createServer();
    // why: from the connection on, for one that is not upgraded yet would never end
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => void sockets.delete(socket));
    });
    server.on("upgrade", (request, socket) => {
      const key = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${guid}`).digest("base64");
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
      );
      const forward = (body: Buffer) => {
        const end = () => void socket.destroy();
        const outgoing = post(
          target,
          { method: "POST", headers: { "content-type": "application/json" } },
          (incoming) => {
            const chunks: Array<Buffer> = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
            incoming.on("end", () => void socket.write(frame(text, Buffer.concat(chunks))));
            incoming.on("error", end);
          },
        );
        outgoing.on("error", end);
        outgoing.end(body);
      };
      const read = reader((opcode, body) => {
        if (opcode === text) forward(body);
        else if (opcode === ping) socket.write(frame(pong, body));
        else if (opcode === closing) socket.end(frame(closing, body));
      });
      socket.on("data", read);
    });
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: socketUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
        stop: () =>
          new Promise((done) => {
            for (const socket of sockets) socket.destroy();
            server.close(() => done());
          }),
      }),
    );
  });
