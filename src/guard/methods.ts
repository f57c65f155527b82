/** One request to a guard, and whether the guard has a say in it. Pure. */
import { isRecord, safely } from "../primitives/index.js";
import { GuardRefused } from "./failures.js";

/** One request, as EIP-1193 has it. */
export interface RpcRequest {
  readonly method: string;
  readonly params?: unknown;
}

/** The reads of nodes under `eth_`: execution-apis, geth, Erigon, Nethermind, Besu, reth, and bundlers (ERC-4337). */
const reads = [
  "accounts requestAccounts chainId coinbase syncing mining hashrate getWork protocolVersion config capabilities",
  "call callMany callBundle simulateV1 createAccessList estimateGas fillTransaction blockNumber gasPrice baseFee blobBaseFee",
  "maxPriorityFeePerGas feeHistory pendingTransactions getAccount getAccountInfo getBalance getCode getProof getStorageAt",
  "getStorageValues getTransactionCount getBlockByHash getBlockByNumber getHeaderByHash getHeaderByNumber getBlockReceipts",
  "getBlockAccessList getBlockTransactionCountByHash getBlockTransactionCountByNumber getUncleByBlockHashAndIndex",
  "getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber getTransactionByHash",
  "getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionBySenderAndNonce",
  "getTransactionReceipt getRawTransactionByHash getRawTransactionByBlockHashAndIndex getRawTransactionByBlockNumberAndIndex",
  "getLogs getFilterChanges getFilterLogs newFilter newBlockFilter newPendingTransactionFilter uninstallFilter subscribe",
  "unsubscribe getMinerDataByBlockHash getMinerDataByBlockNumber estimateUserOperationGas getUserOperationByHash",
  "getUserOperationReceipt supportedEntryPoints",
];

/** The only methods of a wallet that pass by their name alone: they read a chain or arrange a connection. */
const harmless = new Set(
  Object.entries({
    eth: reads.join(" "),
    metamask: "getProviderState logWeb3ShimUsage",
    personal: "ecRecover listAccounts",
    wallet: [
      "switchEthereumChain watchAsset registerOnboarding revokePermissions revokeSession disconnect showCallsStatus",
      "verifySignature getAccounts getAssets getCallsHistory getCapabilities getEthereumChains getPermissions getSession",
      "getSnaps getSubAccounts",
    ].join(" "),
  }).flatMap(([namespace, names]) => names.split(" ").map((name) => `${namespace}_${name}`)),
);

/** Namespaces of nodes, which hold no key of a user's. */
const ofNodes = /^(net|web3|rpc|debug|trace|txpool|ots|erigon|admin|anvil|hardhat|evm)_/;

/** Namespaces of those who hold keys, and names without one that speak of them. */
const ofWallets = /^(\W*eth|[^_]*(wallet|metamask|keyring|personal|account|snap))/i;

/** Names that sign or send, on another's behalf too, or give a right to do so, by a word in any namespace. */
const word = /(Sign|Send|\dsign|\dsend)(?!at|ed|er)/;
const firstWord =
  /(^|[^a-z\d])(re)?(sign|send|submit|post|broadcast|invoke|grant|swap|upgrade|requestExecution|execute|transfer|pay(?!load)|delegate|authori[sz]e|batch|approve|decrypt|unlock)/i;

const isActor = (method: string): boolean => firstWord.test(method) || word.test(method);

const passes = (method: string, also: ReadonlyArray<string> = []): boolean =>
  harmless.has(method) || also.includes(method) || (ofNodes.test(method) && !isActor(method));

/** Methods that are judged by what they ask for. */
const byContent = [
  ...["wallet_connect", "wallet_requestPermissions", "wallet_getCallsStatus", "wallet_addEthereumChain"],
];

/** The names of further reads that an option gives: of none that signs, sends or is judged by what it asks for. */
export const areReads = (input: unknown): boolean =>
  Array.isArray(input) &&
  input.every((name) => typeof name === "string" && /^\S+$/.test(name) && !isActor(name) && !byContent.includes(name));

/** True if a name alone says that the guard has a say. */
const isNamed = (method: string, also?: ReadonlyArray<string>): boolean =>
  !passes(method, also) && (isActor(method) || ofWallets.test(method));

/** Names of methods within parameters, in JSON within strings, too. */
const carried = /"method"[^"]{0,9}"([^"]*)"/g;
const isCarrying = ({ params = null }: RpcRequest, also?: ReadonlyArray<string>): boolean =>
  Array.from(JSON.stringify(params).replaceAll("\\", "").matchAll(carried), ([, name = ""]) => name).some((name) =>
    isNamed(name, also),
  );

/** True if it signs or sends in a form that nobody here can prove, or carries what does. */
export const isActing = (rpcRequest: RpcRequest): boolean => isActor(rpcRequest.method) || isCarrying(rpcRequest);

/**
 * A request as it was asked, once and for all: its method, and its parameters as JSON has them where they are looked at, so that
 * what was judged is passed on, whatever becomes of the caller's objects meanwhile. Null where it is none.
 */
export const readRequest = (rpcRequest: RpcRequest): RpcRequest | null =>
  safely(() => {
    const { method, params } = rpcRequest;
    // why: what has no name cannot be judged, such as a list of requests
    if (typeof method !== "string") return null;
    if (params === undefined) return { method };
    // guard: a request that is changed while it is proven
    const copy: unknown = passes(method) ? params : JSON.parse(JSON.stringify(params));
    return { method, params: copy };
  }, null);

/** Why such a request is refused that cannot be read. */
export const unreadable = (): GuardRefused =>
  new GuardRefused("request", "must be one request: a method, and parameters that JSON can hold");

/** Its parameters; none where they are no list. */
export const paramsOf = ({ params }: RpcRequest): ReadonlyArray<unknown> => (Array.isArray(params) ? params : []);

/** Permissions that show accounts, and nothing else. */
const showing = ["eth_accounts", "endowment:permitted-chains"];

/**
 * Capabilities that a request to connect names (EIP-7846), each of which the wallet may sign or send something for, by their
 * names; null where it holds what is none.
 */
export const capabilitiesIn = (rpcRequest: RpcRequest): Readonly<Record<string, unknown>> | null => {
  const { params = [] } = rpcRequest;
  const [options = {}, ...others] = [params].flat() as ReadonlyArray<unknown>;
  const isKnown =
    isRecord(options) && Object.keys(options).every((name) => /^(version|chainIds|capabilities)$/.test(name));
  const { capabilities = {} } = isKnown ? options : {};
  return isKnown && others.length === 0 && isRecord(capabilities) && !isCarrying(rpcRequest) ? capabilities : null;
};

/** True if a guard has a say in a request that was read; `also` are the caller's further reads. */
export const isJudged = (rpcRequest: RpcRequest, also?: ReadonlyArray<string>): boolean => {
  const { method, params = [] } = rpcRequest;
  if (method === "wallet_connect") return Object.keys(capabilitiesIn(rpcRequest) ?? { unknown: true }).length > 0;
  if (method === "wallet_requestPermissions")
    return ![params]
      .flat()
      .every((permission) => isRecord(permission) && Object.keys(permission).every((name) => showing.includes(name)));
  // guard: a request within another
  const isHiding = !harmless.has(method) && !ofNodes.test(method) && isCarrying(rpcRequest, also);
  // guard: a wallet's method that nobody knows
  return isHiding || isNamed(method, also);
};
