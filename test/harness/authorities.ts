/** Every run recovers the authorities of its transactions before anything reads them, and pure tests begin in the midst of one. */
import * as Effect from "effect/Effect";
import { recoverAuthorities, type Transaction } from "../rooms/transaction.js";

const zero = `0x${"00".repeat(32)}` as const;
const authorizationList = [{ address: `0x${"00".repeat(20)}`, chainId: 1, nonce: 0, r: zero, s: zero, yParity: 0 }];
await Effect.runPromise(recoverAuthorities([{ authorizationList } as unknown as Transaction]));
