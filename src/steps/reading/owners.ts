/**
 * Accounts that a sender owns: a Safe by its code and `isOwner`, an ERC-4337 or ERC-1271 account by `owner` or `isOwnerAddress`, delegated (EIP-7702) or
 * not. Read by the witness, so that it costs no request. A contract may claim any owner: nothing is decided by it. Pure.
 */
import { nobody } from "../../abi/words.js";
import { effectsIn } from "../../effects/effects.js";
import type { Address } from "../../primitives/hex.js";
import type { OwnedAccount, Transfer } from "../../report/parts.js";
import { readAddress, readBool, readUint256 } from "../../witness/answers.js";
import { staticCall, type Query } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import { ownAccounts, type Case } from "./bundle.js";
import { isSafeProxy } from "./delegateCalls.js";

/** How many accounts and senders are looked at, and the gas of one question: a Safe's proxy answers below 12,000. */
const most = { accounts: 6, senders: 2, gas: 50_000 } as const;

const ask = (account: Address, data: `0x${string}`) => staticCall(account, data, most.gas);

const questions = (account: Address, sender: Address) => ({
  code: { kind: "account", address: account } as const,
  // isOwner(address)
  isOwner: ask(account, `0x2f54bf6e${sender.slice(2).toLowerCase().padStart(64, "0")}`),
  // isOwnerAddress(address), of Coinbase's wallets
  isOwnerAddress: ask(account, `0xa2e1a8d8${sender.slice(2).toLowerCase().padStart(64, "0")}`),
  // owner(), entryPoint(), isValidSignature(bytes32,bytes)
  owner: ask(account, "0x8da5cb5b"),
  entryPoint: ask(account, "0xb0d691fe"),
  signature: ask(account, someSignature),
});

/** `isValidSignature` of 65 bytes that some key could have signed: accounts refuse those that cannot be. r = s = 1, v = 27. */
const someSignature: `0x${string}` = `0x1626ba7e${[0, 0x40, 65, 1, 1].map((word) => word.toString(16).padStart(64, "0")).join("")}${"1b".padEnd(64, "0")}`;

const sendersIn = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> =>
  [...new Set(bundle.map(({ input }) => input.from))].slice(0, most.senders);

const candidates = (bundle: ReadonlyArray<Case>, accounts: ReadonlyArray<Address>): ReadonlyArray<Address> => {
  const own = ownAccounts(bundle);
  return [...new Set(accounts)]
    .filter((account) => account !== nobody && !own.includes(account))
    .slice(0, most.accounts);
};

/** Accounts that the calldata has make calls: Safes, and accounts of user operations. */
const callers = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> =>
  candidates(
    bundle,
    effectsIn(bundle, "call").flatMap(({ call, row }) =>
      call.as === undefined && row.isBatch === true ? call.to : [],
    ),
  );

/** Accounts that pay others than the senders, and are not known by the calldata. */
export const payers = (bundle: ReadonlyArray<Case>, transfers: ReadonlyArray<Transfer>): ReadonlyArray<Address> => {
  const known = callers(bundle);
  const own = ownAccounts(bundle);
  const paying = transfers.flatMap(({ from, to }) => (own.includes(to) ? [] : from));
  const others = candidates(bundle, paying).filter((account) => !known.includes(account));
  return others.slice(0, most.accounts - known.length);
};

/** Queries for the accounts that pay, and for those that the calldata tells of. */
export const payerQueries = (bundle: ReadonlyArray<Case>, accounts: ReadonlyArray<Address>): ReadonlyArray<Query> =>
  accounts.flatMap((account) => sendersIn(bundle).flatMap((sender) => Object.values(questions(account, sender))));
export const queries = (bundle: ReadonlyArray<Case>): ReadonlyArray<Query> => payerQueries(bundle, callers(bundle));

/** The accounts that name a sender as their owner, as `view` saw them. */
export const read = (bundle: ReadonlyArray<Case>, payers: ReadonlyArray<Address>, view: View) =>
  [...callers(bundle), ...payers].flatMap((account) =>
    sendersIn(bundle)
      .flatMap((owner): ReadonlyArray<typeof OwnedAccount.Type> => {
        const queries = questions(account, owner);
        const isListed = readBool(view.call(queries.isOwner)) === true;
        const isAccount =
          (readAddress(view.call(queries.entryPoint)) ?? nobody) !== nobody ||
          readUint256(view.call(queries.signature)) !== null;
        const isNamed =
          readAddress(view.call(queries.owner)) === owner || readBool(view.call(queries.isOwnerAddress)) === true;
        const isOwned = isListed || (isAccount && isNamed);
        // why: anybody may answer as a Safe; by its code alone it is one
        const kind = isListed && isSafeProxy(account, view) ? "safe" : "account";
        return isOwned ? [{ account, owner, kind, evidence: "measured" }] : [];
      })
      .slice(0, 1),
  );
