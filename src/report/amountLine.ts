/** What differs between two runs in an amount, as one exact line of text: written here, and read where people see it. Pure. */
import type { Unit } from "./tokens.js";

/** What is counted: `0x… id 7`, `native currency`. */
export const assetText = ({ token, tokenId }: Unit): string =>
  `${token ?? "native currency"}${tokenId === null ? "" : ` id ${tokenId}`}`;

/** `what` names a movement, a balance change or an approval of an {@link assetText}. */
export const amountLine = (what: string, one: bigint, other: bigint): string => `${what}: ${one} and ${other}`;

const written =
  /^((?:movement of|approval event of|approval of \w+|balance change of \S+ in) (native currency|0x[0-9a-fA-F]{40})(?: id (\d{1,78}))?(?: .*)?): (-?\d{1,100}) and (-?\d{1,100})$/;

/** The parts of an {@link amountLine}; null for any other text. */
export const readAmountLine = (
  line: string,
): { readonly what: string; readonly unit: Unit; readonly values: readonly [one: string, other: string] } | null => {
  const [, what, token, id, one, other] = written.exec(line) ?? [];
  if (what === undefined || one === undefined || other === undefined) return null;
  const unit = {
    token: token?.startsWith("0x") === true ? token : null,
    tokenId: id === undefined ? null : BigInt(id),
  };
  return { what, unit, values: [one, other] };
};
