/** The data of one call, whichever way it was given. */
import * as Result from "effect/Result";
import { encodeDeployment, encodeFunction, type Encoded } from "../abi/encode.js";
import { asAbi } from "../abi/given.js";
import type { Hex } from "../primitives/hex.js";
import { no, type Checked } from "../primitives/problem.js";
import { given, type Read } from "./read.js";

/** The calldata or initcode of a call; `name` makes a path of a field. */
export const encodeCall = (
  call: Readonly<Record<string, unknown>>,
  name: (field: string) => string,
  bytes: Read<Hex>,
): Checked<Encoded> => {
  const { abi, functionName, data, bytecode, to, args } = call;
  if (!given(abi)) {
    if (functionName !== undefined) return no(name("abi"), "is missing; functionName needs it");
    if (args !== undefined) return no(name("abi"), "is missing; args need it");
    if (bytecode !== undefined)
      return no(name("abi"), "is missing; give bytecode with its abi, or the initcode as data");
    return Result.map(given(data) ? bytes(data, name("data")) : Result.succeed("0x" as Hex), (checked) => ({
      data: checked,
      item: null,
      abi: null,
    }));
  }
  if (given(data)) return no(name("data"), "cannot stand together with abi");
  return Result.flatMap(asAbi(abi, name("abi")), (items) => {
    if (bytecode === undefined) {
      if (!given(to)) return no(name("to"), "is missing; an ABI call needs it");
      return encodeFunction(items, functionName, args ?? [], name);
    }
    if (functionName !== undefined) return no(name("functionName"), "cannot stand together with bytecode");
    if (given(to)) return no(name("to"), "cannot stand together with bytecode");
    return Result.flatMap(bytes(bytecode, name("bytecode")), (code) => encodeDeployment(items, code, args ?? [], name));
  });
};
