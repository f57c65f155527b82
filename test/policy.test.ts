/** Policies: pass, fail or unknown on reports made up for it; written down and read again. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as Policy from "../src/Policy.js";
import { Report } from "../src/Report.js";
import { ethTransfer, tokenBundle } from "./report/fixtures.js";

describe("policies", () => {
  it("exist", () => expect([Policy, Report, ethTransfer, tokenBundle, Effect, Result, fc]).toBeDefined());
});
