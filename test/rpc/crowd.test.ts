import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { startNode } from "../harness/server.js";
import { kept, stopAll } from "./asking.js";

afterEach(stopAll);

describe("a crowd of requests of one run through viem", () => {
  it.each(["single", "batch"])("makes Node warn of nothing: %s", async (batch) => {
    const node = await kept(startNode(() => ({ result: "0x1" })));
    const program = ["--conditions=@evm-preflight/source", "--import", "tsx", "test/rpc/crowd.ts"];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...program, node.url, "1600", batch]);
    expect(stderr).toBe("");
    expect(stdout).toBe("1600 answers\n");
  });
});
