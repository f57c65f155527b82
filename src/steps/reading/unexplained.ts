/** Rights that may be given in a way that nothing here knows: by events of unknown kinds, and by calls nobody answers for. Pure. */
import type { Address } from "../../primitives/hex.js";
import { address, hash } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Approval, OutcomeLog } from "../../report/parts.js";
import { addressOf, nobody, tellsOfRight } from "./approvalLogs.js";
import type { Case, Ran } from "./bundle.js";
import { tellsOfControl } from "./controlLogs.js";
import { askedBy } from "./rights.js";
import { eventOf, tellsOfMovement } from "./transferLogs.js";

/** Events that name two accounts and give neither a right: trades, deposits, loans. */
const harmless: ReadonlySet<string> = new Set([
  // Uniswap v2: Swap(address,uint256,uint256,uint256,uint256,address), Burn(address,uint256,uint256,address)
  ...["0xd78ad95fa46c994b", "0xdccd412f0b125281"],
  // Uniswap v3: Swap(address,address,int256,int256,uint160,uint128,int24)
  "0xc42079f94a6350d7",
  // Uniswap v3: Mint(address,address,int24,int24,uint128,uint256,uint256), Collect(address,address,int24,int24,uint128,uint128)
  ...["0x7a53080ba414158b", "0x70935338e6977545"],
  // ERC-4626: Deposit(address,address,uint256,uint256), Withdraw(address,address,address,uint256,uint256)
  ...["0xdcbc1c05240f31ff", "0xfbde797d201c681b"],
  // Aave: Supply(address,address,address,uint256,uint16), Withdraw(address,address,address,uint256)
  ...["0x2b627736bca15cd5", "0x3115d1449a7b732c"],
  // Aave: Borrow(address,address,address,uint256,uint8,uint256,uint16), Repay(address,address,address,uint256,bool)
  ...["0xb3d084820fb1a9de", "0xa534c8dbe71f871f"],
  // Aave's tokens: Mint and Burn(address,address,uint256,uint256,uint256), BalanceTransfer(address,address,uint256,uint256)
  ...["0x458f5fa412d0f69b", "0x4cf25bc1d991c175", "0x4beccb90f994c31a"],
  // ERC-777: Sent(address,address,address,uint256,bytes,bytes), Minted and Burned(address,address,uint256,bytes,bytes)
  ...["0x06b541ddaa720db2", "0x2fe5be0146f74c5b", "0xa78a9be3a7b862d2"],
  // Aave: ReserveDataUpdated(address,uint256,uint256,uint256,uint256,uint256); Balancer: Swap(bytes32,address,address,uint256,uint256)
  ...["0x804c9b842b2748a2", "0x2170c741c41531ae"],
]);

/** Events that give a right, and name nobody beside the sender, or the sender not at all. */
const granting: ReadonlySet<string> = new Set([
  // Safe: ApproveHash(bytes32,address); CoW: PreSignature(address,bytes,bool); Seaport: OrderValidated(bytes32,address,address)
  ...["0xf2a0eb156472d144", "0x01bf7c8b0ca55dee", "0xfde361574a066b44"],
  // ENS: Transfer(bytes32,address), NewOwner(bytes32,bytes32,address); ERC-4907: UpdateUser(uint256,address,uint64)
  ...["0xd4735d920b0f8749", "0xce0457fe73731f82", "0x4e06b4e7000e6590"],
]);

const isExplained = (log: OutcomeLog): boolean => {
  const kind = eventOf(log) ?? "";
  return (
    log.decoded !== null || tellsOfMovement(kind) || tellsOfRight(kind) || tellsOfControl(kind) || harmless.has(kind)
  );
};

/** The address that a word may be: its high bytes are zero, and it is too large for an amount, `zeros` digits of which are. */
const addressIn = (word: string, zeros: number): Address | null =>
  word.startsWith("0".repeat(24)) && !word.startsWith("0".repeat(zeros)) ? addressOf(BigInt(`0x${word}`)) : null;

/** Whom a log names, indexed or not, in whatever order. */
const namedIn = ({ topics, data }: OutcomeLog): ReadonlySet<Address> => {
  const named = new Set<Address>();
  const add = (word: string, zeros = 32) => {
    const found = addressIn(word, zeros);
    if (found !== null) named.add(found);
  };
  // why: amounts are hardly ever indexed, and whoever searches finds an address that begins with zeros
  for (const topic of topics) add(topic.slice(2), 40);
  for (let at = 2; at + 64 <= data.length; at += 64) add(data.slice(at, at + 64));
  return named;
};

/** Whom the calls name among their arguments. */
const askedIn = ({ calls }: Case): ReadonlySet<Address> => {
  const asked = new Set<Address>();
  for (const { data } of calls.read)
    for (let at = 10; at + 64 <= data.length; at += 64) {
      const found = addressIn(data.slice(at, at + 64), 40);
      if (found !== null) asked.add(found);
    }
  return asked;
};

/** Whether a log names one of the senders, in any place: some contracts keep 19 bytes of an address (Euler). */
const namesSender = ({ topics, data }: OutcomeLog, senders: ReadonlySet<Address>): boolean => {
  const said = [...topics, data].join().toLowerCase();
  return [...senders].some((sender) => said.includes(sender.slice(2, 40)));
};

/**
 * The account beside the sender in what a log tells of it; null = it tells of nobody's rights that were asked for here.
 * What the sender's own account says is of the sender, and may name a key only.
 */
const besideIn = (
  log: OutcomeLog,
  { input }: Case,
  senders: ReadonlySet<Address>,
  asked: ReadonlySet<Address>,
): { readonly other: Address | null } | null => {
  const contract = log.address.toLowerCase() as Address;
  const others = [...namedIn(log)].filter((one) => !senders.has(one) && one !== contract);
  const [other = null] = others;
  if (senders.has(contract)) return { other };
  if (other === null) return null;
  if (namesSender(log, senders)) return { other };
  const meant = others.find((one) => one !== input.to && asked.has(one));
  return meant === undefined ? null : { other: meant };
};

const checkEvents = (bundle: ReadonlyArray<Ran>, senders: ReadonlySet<Address>): ReadonlyArray<Finding> => {
  const found = new Map<string, Finding>();
  for (const one of bundle) {
    const { index, outcome } = one;
    if (outcome.status !== "success") continue;
    const asked = askedIn(one);
    for (const log of outcome.logs) {
      const contract = log.address.toLowerCase() as Address;
      const kind = log.topics[0] ?? null;
      const key = `${index}/${contract}/${kind}`;
      if (found.has(key) || isExplained(log)) continue;
      const where = { transaction: index, evidence: "logged" } as const;
      if (granting.has(eventOf(log) ?? "")) {
        found.set(key, note("RightUnexplained", "info", where, address("contract", contract), hash("event", kind)));
        continue;
      }
      const beside = besideIn(log, one, senders, asked);
      if (beside === null) continue;
      const numbers = [address("contract", contract), hash("event", kind), address("beside", beside.other)];
      found.set(key, note("EventUnexplained", "info", where, ...numbers));
    }
  }
  return [...found.values()];
};

const aboutOf = ({ token, owner, spender }: Pick<Approval, "token" | "owner" | "spender">): string =>
  `${token}/${owner}/${spender}`;

/** Rights that the calldata asks for, of contracts that neither announce nor answer anything of the kind. */
const checkCalls = (
  bundle: ReadonlyArray<Case & Pick<Ran, "outcome">>,
  approvals: ReadonlyArray<Approval>,
): ReadonlyArray<Finding> => {
  const told = new Set(approvals.map(aboutOf));
  return bundle
    .flatMap((one) => (one.outcome.status === "success" ? askedBy(one) : []))
    .filter((right) => right.said > 0n && right.spender !== nobody && !told.has(aboutOf(right)))
    .map(({ transaction, token, owner, spender }) =>
      note(
        "RightUnexplained",
        "info",
        { transaction, evidence: "estimated" },
        ...[address("contract", token), address("of", owner), address("to", spender)],
      ),
    );
};

/** What may be a right of a kind that is not known: information, for most of it is none. */
export const checkUnexplained = (
  bundle: ReadonlyArray<Ran>,
  approvals: ReadonlyArray<Approval>,
): ReadonlyArray<Finding> => [
  ...checkEvents(bundle, new Set(bundle.map(({ input }) => input.from))),
  ...checkCalls(bundle, approvals),
];
