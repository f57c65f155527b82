/** An event in words, as reports and the command line show it. */
import { isRecord } from "../primitives/record.js";
import { escapeText } from "../primitives/text.js";
import type { DecodedLog } from "./decoded.js";
import { describeCall, most, parametersOf, sizeOf } from "./print.js";

/** An event with its arguments. */
export const describeLog = (log: DecodedLog): string => {
  if (sizeOf(log.data) > most.bytes) return `${escapeText(log.name, 80)}(…) with ${sizeOf(log.data)} bytes of data`;
  const inputs = parametersOf(log.item, "inputs");
  const { args } = log;
  const values = Object.entries(isRecord(args) || Array.isArray(args) ? args : {});
  const parameters = values.map(
    ([name], index) => inputs.find((input) => isRecord(input) && input["name"] === name) ?? inputs[index],
  );
  return describeCall(
    log.name,
    parameters,
    values.map(([, value]): unknown => value),
  );
};
