/** What a right allows, in words. Pure. */
import { amountInSentence, tokenForPeople } from "./amounts.js";
import type { Approval } from "./parts.js";
import { idText, type Names } from "./tokens.js";
import { dateText } from "./values.js";
import { isNobody } from "./stakes.js";

const limitText = ({ after, unlimited, token, tokenId }: Approval, names: Names): string => {
  const of = `${tokenForPeople(names, token)}${tokenId === null ? "" : ` ${idText(tokenId)}`}`;
  if (unlimited) return `unlimited ${of}`;
  return after === null
    ? `an amount not known of ${of}`
    : `up to ${amountInSentence(names, { token, tokenId }, after, "up")}`;
};

/** What the spender may do: `spend unlimited USDC (0xA0b8…eB48)`; `their` is `your` for the reader's own. */
export const rightText = (approval: Approval, names: Names, their: string): string => {
  const { standard, token, tokenId, expiration } = approval;
  const of = tokenForPeople(names, token);
  const until = expiration === null || expiration === 0n ? "" : ` until ${dateText(expiration)}`;
  switch (standard) {
    case "erc20":
    case "permit2":
      return `spend ${limitText(approval, names)}${until}`;
    case "aaveDebt":
      return `borrow ${limitText(approval, names)} in ${their} name`;
    case "morpho":
      return `manage ${their} positions at ${of}`;
    case "cryptopunks":
      return `buy ${of} ${tokenId === null ? "" : idText(tokenId)}`.trim();
    case "erc6909":
      return tokenId === null ? `move all of ${their} ${of}` : `spend ${limitText(approval, names)}`;
    default:
      return tokenId === null ? `move all of ${their} ${of}` : `take ${of} ${idText(tokenId)}`;
  }
};

/** Who has a right: of an offer to everybody, anybody. */
export const spenderText = ({ spender }: Approval, name: (address: string) => string): string =>
  isNobody(spender) ? "anybody" : name(spender);
