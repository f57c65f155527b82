/** Values by whose balance of what they are about. Pure. */
import type { Address } from "../../primitives/hex.js";

/** One balance: whose, of which token (null = native currency), of which of its ids (null = of the whole). */
export interface Balance {
  readonly account: Address;
  readonly token: Address | null;
  readonly tokenId: bigint | null;
}

export const isSameBalance = (one: Balance, other: Balance): boolean =>
  one.account === other.account && one.token === other.token && one.tokenId === other.tokenId;

/** A map by balance. Maps in maps, for texts made of the three would cost more than all else that is read of a log. */
export class ByBalance<A> {
  private readonly tokens = new Map<Address | null, Map<bigint | null, Map<Address, A>>>();

  get({ token, tokenId, account }: Balance): A | undefined {
    return this.tokens.get(token)?.get(tokenId)?.get(account);
  }

  set({ token, tokenId, account }: Balance, value: A): void {
    const ids = this.tokens.get(token) ?? new Map<bigint | null, Map<Address, A>>();
    const accounts = ids.get(tokenId) ?? new Map<Address, A>();
    // why: most values are set where others are already, thousands of times in a run
    if (accounts.size === 0) {
      this.tokens.set(token, ids);
      ids.set(tokenId, accounts);
    }
    accounts.set(account, value);
  }
}
