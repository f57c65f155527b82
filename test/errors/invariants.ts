/** What must hold for any answer of `classify` and `decodeRevert`; used by the tests and by the fuzzer. */
import * as Schema from "effect/Schema";
import { classify, Reason, RpcError, Verdict, type ClassifyInput } from "../rooms/errors.js";
import { isVerdict } from "../../src/Errors.js";
import { decodeRevert, describeRevert } from "../rooms/abi.js";

export const known: ReadonlySet<string> = new Set(
  [...Verdict.members, ...Reason.members].map((member) => member.identifier),
);
const codec = Schema.toCodecJson(Schema.Union([Verdict, RpcError]));
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

export const tagOf = (error: RpcError | Verdict): string => (isVerdict(error) ? error._tag : error.reason._tag);

/** Classifies and checks: one known tag, a bounded harmless message, the same after JSON. Gives the tag. */
export const checkClassified = (input: ClassifyInput): string => {
  const answer = classify(input);
  const tag = tagOf(answer);
  must(known.has(tag), `unknown tag ${tag}`);
  must(answer.message.length < 8192, `a message of ${answer.message.length} characters`);
  must(!hidden.test(answer.message), `hidden characters in ${JSON.stringify(answer.message)}`);
  const written = JSON.stringify(Schema.encodeUnknownSync(codec)(answer));
  const again = JSON.stringify(Schema.encodeUnknownSync(codec)(Schema.decodeUnknownSync(codec)(JSON.parse(written))));
  must(again === written, `not the same after JSON: ${written}`);
  return tag;
};

/** Decodes and checks: at least one layer, at most eight, one bounded harmless line. Gives the tags of the layers. */
export const checkDecoded = (bytes: string): string => {
  const revert = decodeRevert(bytes);
  must(revert.layers.length >= 1 && revert.layers.length <= 8, `${revert.layers.length} layers`);
  const line = describeRevert(revert);
  must(line.length < 8192, `a line of ${line.length} characters`);
  must(!hidden.test(line), `hidden characters in ${JSON.stringify(line)}`);
  for (const { layer } of revert.layers) {
    if (layer._tag === "Custom" && "inputs" in Object(layer.item)) {
      must(Array.isArray(layer.args), "no arguments");
    }
  }
  return revert.layers.map(({ layer }) => layer._tag).join(" ");
};
