/** Contracts whose `balanceOf` is a deposit in native currency: no token, though it answers as one. Pure. */
import type { Address } from "../../primitives/hex.js";
import type { OutcomeLog } from "../../report/parts.js";
import type { Ran } from "./bundle.js";
import { eventOf, tellsOfMovement } from "./transferLogs.js";

const withdrawn = "0xd1c19fbcd4551a5e";

/** Events of those who keep deposits. */
const keeping: ReadonlySet<string> = new Set([
  // ERC-4337: Deposited(address,uint256), Withdrawn(address,address,uint256)
  ...["0x2da466a7b24304f4", withdrawn],
  // UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256), BeforeExecution()
  ...["0x49628fd1471006c1", "0xbb47ee3e183a558b"],
  // StakeLocked(address,uint256,uint256), StakeUnlocked(address,uint256), StakeWithdrawn(address,address,uint256)
  ...["0xa5ae833d0bb1dcd6", "0xfa9b3c14cc825c41", "0xb7c918e0e249f999"],
  // GSN's hub: Deposited(address,address,uint256)
  "0x8752a472e571a816",
]);

/** Whether a sender's deposit goes to somebody else. */
const isPaidAway = (log: OutcomeLog, senders: ReadonlySet<string>): boolean => {
  const account = `0x${log.topics[1]?.slice(-40)}`.toLowerCase();
  const to = `0x${(log.topics[2] ?? log.data.slice(2, 66)).slice(-40)}`.toLowerCase();
  return eventOf(log) === withdrawn && senders.has(account) && !senders.has(to);
};

/**
 * The contracts that keep deposits, by events in their own name. Whoever tells of a token's movements is a token, and one
 * that pays a sender's deposit to somebody else is looked at as one, for nothing else tells of that loss.
 */
export const depositsIn = (bundle: ReadonlyArray<Ran>): ReadonlySet<Address> => {
  const senders = new Set(bundle.map(({ input }) => input.from.toLowerCase()));
  const found = new Set<Address>();
  const tokens = new Set<Address>();
  for (const { outcome } of bundle)
    for (const log of outcome.logs) {
      const kind = eventOf(log) ?? "";
      if (tellsOfMovement(kind) || isPaidAway(log, senders)) tokens.add(log.address);
      else if (keeping.has(kind)) found.add(log.address);
    }
  return new Set([...found].filter((contract) => !tokens.has(contract)));
};
