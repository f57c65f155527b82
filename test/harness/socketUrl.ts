/** Where a socket to a test's own server is opened. */
import { randomUUID } from "node:crypto";

/**
 * The WebSocket URL of an HTTP one, and no other server's for the life of the process: viem keeps a client by its URL, a dead
 * one too, and a port that was given back comes again for another server.
 */
export const socketUrl = (url: string): string => `${url.replace(/^http/, "ws")}/?${randomUUID()}`;
