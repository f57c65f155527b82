/**
 * Calldata by its selector: by the caller's ABIs, else by what many contracts share. A selector is four bytes that any
 * contract may use for anything, so that a reading tells what the bytes look like, and nothing is decided by it.
 */
import { memoize } from "effect/Function";
import type { Abi } from "abitype";
import { isBytes } from "../primitives/hex.js";
import { escapeText } from "../primitives/text.js";
import { isRecord, safely } from "../primitives/record.js";
import {
  indexAbis,
  indexOf,
  provenanceAt,
  type Abis,
  type IndexedItem,
  indexSources,
  itemOf,
  type AbiIndex,
} from "./abiIndex.js";
import { eventOf } from "./decodeLogs.js";
import { hasDecodable, leavesOf } from "./layout.js";
import { most, sizeOf } from "./print.js";
import type { Provenance } from "./revert.js";

/** One function that the calldata fits. */
export interface KnownFunction {
  /** The function's name. */
  readonly name: string;
  /** e.g. `transfer(address,uint256)`. */
  readonly signature: string;
  /** Its parameters, in order. */
  readonly inputs: IndexedItem["inputs"];
  /** `builtin`: by nothing but the selector; `source` then names the standard or the contract that has this function. */
  readonly provenance: ReadonlyArray<Provenance>;
}

/** The contract and the ABI item that the calldata is for. */
export interface CallOptions {
  /** The contract that is called: an ABI given for it is believed before others. */
  readonly address?: string | null;
  /** The ABI item that made the calldata, believed before all others. */
  readonly item?: unknown;
}

const fits = ({ item, inputs }: IndexedItem, data: string): boolean =>
  hasDecodable(item, "inputs") && safely(() => leavesOf(inputs, data.slice(10), true) !== null, false);

/** Items that read alike, as one with the provenance of all. */
const together = (items: ReadonlyArray<IndexedItem>, address: string | null): ReadonlyArray<KnownFunction> => {
  const found = new Map<string, KnownFunction>();
  for (const item of items) {
    const key = `${item.name}${JSON.stringify(item.inputs)}`;
    const { name, signature, inputs } = item;
    const provenance = [...(found.get(key)?.provenance ?? []), provenanceAt(item, address)];
    found.set(key, { name, signature, inputs, provenance });
  }
  return [...found.values()];
};

/** The index of a single item. why: a report reads the same call several times */
const indexOfItem = memoize((item: object) => indexAbis([[item as Abi[number]]]));

/**
 * The functions that the calldata fits: those of ABIs given for `address` (the contract that is called), else of the
 * caller's others, else of the built-in table. Several where only the contract's own ABI could tell them apart; none
 * where nothing fits. Bytes behind the arguments are allowed, as Solidity does.
 */
export const functionsOf = (data: string, abis: Abis = [], options: CallOptions = {}): ReadonlyArray<KnownFunction> => {
  if (!isBytes(data) || data.length < 10 || sizeOf(data) > most.bytes) return [];
  const selector = data.slice(0, 10).toLowerCase();
  const address = options.address?.toLowerCase() ?? null;
  const byItem = isRecord(options.item) ? indexOfItem(options.item).functions(selector) : [];
  const given = indexOf(abis).functions(selector);
  const own = given.filter((item) => address !== null && item.address === address);
  for (const items of [byItem, own, given, wellKnown.functions(selector)]) {
    const fitting = items.filter((item) => fits(item, data));
    if (fitting.length > 0) return together(fitting, address);
  }
  return [];
};

/** The ABI item of the calldata, by ABIs given for `address`, else by the others; null where none names it, or several do in different ways. */
export const itemOfCall = (data: string, abis: AbiIndex, address: string): IndexedItem["item"] | null => {
  const items = abis.functions(data.slice(0, 10).toLowerCase()).filter((item) => fits(item, data));
  const own = items.filter((item) => item.address === address.toLowerCase());
  const [first, ...others] = own.length > 0 ? own : items.filter((item) => item.address === null);
  const text = JSON.stringify(first?.item);
  return first === undefined || others.some(({ item }) => JSON.stringify(item) !== text) ? null : first.item;
};

/** The functions that many contracts share under a selector, whether or not any calldata fits them. */
export const functionsNamed = (selector: string): ReadonlyArray<Pick<KnownFunction, "name" | "signature" | "inputs">> =>
  wellKnown.functions(selector);

/** The name of an event that no ABI explains, by nothing but its topic; null where none is known. */
export const eventByTopic = (log: Parameters<typeof eventOf>[0]): string | null => {
  // why: a report may hold thousands of events, of which a dozen kinds are named
  const event = eventOf(log, wellKnown);
  return event === null ? null : `${escapeText(event[0].name, 60)} (by topic)`;
};

/*
 * The functions and events that many contracts share, by their selectors and topics. A selector is four bytes that anybody
 * may use, so that these explain and decide nothing.
 */

/** A source a line, then its functions and its events, each list separated by semicolons. */
export const declared = `ERC-20|transfer(address to,uint256 amount);approve(address spender,uint256 amount);transferFrom(address from,address to,uint256 amount);increaseAllowance(address spender,uint256 addedValue);decreaseAllowance(address spender,uint256 subtractedValue);balanceOf(address account);allowance(address owner,address spender);totalSupply();name();symbol();decimals()|Transfer(address indexed from,address indexed to,uint256 value);Approval(address indexed owner,address indexed spender,uint256 value)
ERC-2612|permit(address owner,address spender,uint256 value,uint256 deadline,uint8 v,bytes32 r,bytes32 s)|
ERC-3009|transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)|
DAI|permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed,uint8 v,bytes32 r,bytes32 s)|
ERC-721|approve(address to,uint256 tokenId);setApprovalForAll(address operator,bool approved);transferFrom(address from,address to,uint256 tokenId);safeTransferFrom(address from,address to,uint256 tokenId);safeTransferFrom(address from,address to,uint256 tokenId,bytes data);ownerOf(uint256 tokenId);getApproved(uint256 tokenId);isApprovedForAll(address owner,address operator);tokenURI(uint256 tokenId)|Transfer(address indexed from,address indexed to,uint256 indexed tokenId);Approval(address indexed owner,address indexed approved,uint256 indexed tokenId);ApprovalForAll(address indexed owner,address indexed operator,bool approved)
ERC-1155|setApprovalForAll(address operator,bool approved);safeTransferFrom(address from,address to,uint256 id,uint256 value,bytes data);safeBatchTransferFrom(address from,address to,uint256[] ids,uint256[] values,bytes data);balanceOf(address account,uint256 id);balanceOfBatch(address[] accounts,uint256[] ids);isApprovedForAll(address owner,address operator)|TransferSingle(address indexed operator,address indexed from,address indexed to,uint256 id,uint256 value);TransferBatch(address indexed operator,address indexed from,address indexed to,uint256[] ids,uint256[] values);ApprovalForAll(address indexed owner,address indexed operator,bool approved);URI(string value,uint256 indexed id)
ERC-4626|deposit(uint256 assets,address receiver);mint(uint256 shares,address receiver);withdraw(uint256 assets,address receiver,address owner);redeem(uint256 shares,address receiver,address owner)|Deposit(address indexed sender,address indexed owner,uint256 assets,uint256 shares);Withdraw(address indexed sender,address indexed receiver,address indexed owner,uint256 assets,uint256 shares)
WETH9|deposit();withdraw(uint256 amount)|Deposit(address indexed account,uint256 amount);Withdrawal(address indexed account,uint256 amount)
Permit2|approve(address token,address spender,uint160 amount,uint48 expiration);permit(address owner,((address token,uint160 amount,uint48 expiration,uint48 nonce) details,address spender,uint256 sigDeadline) permitSingle,bytes signature);permit(address owner,((address token,uint160 amount,uint48 expiration,uint48 nonce)[] details,address spender,uint256 sigDeadline) permitBatch,bytes signature);transferFrom(address from,address to,uint160 amount,address token);transferFrom((address from,address to,uint160 amount,address token)[] transferDetails);permitTransferFrom(((address token,uint256 amount) permitted,uint256 nonce,uint256 deadline) permit,(address to,uint256 requestedAmount) transferDetails,address owner,bytes signature);permitWitnessTransferFrom(((address token,uint256 amount) permitted,uint256 nonce,uint256 deadline) permit,(address to,uint256 requestedAmount) transferDetails,address owner,bytes32 witness,string witnessTypeString,bytes signature);lockdown((address token,address spender)[] approvals);invalidateNonces(address token,address spender,uint48 newNonce)|Approval(address indexed owner,address indexed token,address indexed spender,uint160 amount,uint48 expiration);Permit(address indexed owner,address indexed token,address indexed spender,uint160 amount,uint48 expiration,uint48 nonce);Lockdown(address indexed owner,address token,address spender)
Multicall3|aggregate((address target,bytes callData)[] calls);tryAggregate(bool requireSuccess,(address target,bytes callData)[] calls);blockAndAggregate((address target,bytes callData)[] calls);tryBlockAndAggregate(bool requireSuccess,(address target,bytes callData)[] calls);aggregate3((address target,bool allowFailure,bytes callData)[] calls);aggregate3Value((address target,bool allowFailure,uint256 value,bytes callData)[] calls)|
Multicall|multicall(bytes[] data);multicall(uint256 deadline,bytes[] data);multicall(bytes32 previousBlockhash,bytes[] data)|
Safe|execTransaction(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,bytes signatures);execTransactionFromModule(address to,uint256 value,bytes data,uint8 operation);execTransactionFromModuleReturnData(address to,uint256 value,bytes data,uint8 operation);executeUserOp(address to,uint256 value,bytes data,uint8 operation);executeUserOpWithErrorString(address to,uint256 value,bytes data,uint8 operation);setup(address[] owners,uint256 threshold,address to,bytes data,address fallbackHandler,address paymentToken,uint256 payment,address paymentReceiver);setup(address[] owners,uint256 threshold,address to,bytes data,address paymentToken,uint256 payment,address paymentReceiver);addOwnerWithThreshold(address owner,uint256 threshold);removeOwner(address prevOwner,address owner,uint256 threshold);swapOwner(address prevOwner,address oldOwner,address newOwner);changeThreshold(uint256 threshold);enableModule(address module);disableModule(address prevModule,address module);setGuard(address guard);setFallbackHandler(address handler);approveHash(bytes32 hashToApprove);multiSend(bytes transactions);createProxyWithNonce(address singleton,bytes initializer,uint256 saltNonce);createChainSpecificProxyWithNonce(address singleton,bytes initializer,uint256 saltNonce);createProxyWithNonceL2(address singleton,bytes initializer,uint256 saltNonce);createChainSpecificProxyWithNonceL2(address singleton,bytes initializer,uint256 saltNonce);createProxyWithCallback(address singleton,bytes initializer,uint256 saltNonce,address callback);createProxy(address singleton,bytes data)|ExecutionSuccess(bytes32 indexed txHash,uint256 payment);ExecutionSuccess(bytes32 txHash,uint256 payment);ExecutionFailure(bytes32 indexed txHash,uint256 payment);ExecutionFailure(bytes32 txHash,uint256 payment);ExecutionFromModuleSuccess(address indexed module);ExecutionFromModuleSuccess(address module);ExecutionFromModuleFailure(address indexed module);ExecutionFromModuleFailure(address module);AddedOwner(address indexed owner);AddedOwner(address owner);RemovedOwner(address indexed owner);RemovedOwner(address owner);ChangedThreshold(uint256 threshold);EnabledModule(address indexed module);EnabledModule(address module);DisabledModule(address indexed module);DisabledModule(address module)
Zodiac Roles|execTransactionWithRole(address to,uint256 value,bytes data,uint8 operation,bytes32 roleKey,bool shouldRevert);execTransactionWithRole(address to,uint256 value,bytes data,uint8 operation,uint16 role,bool shouldRevert);execTransactionWithRoleReturnData(address to,uint256 value,bytes data,uint8 operation,bytes32 roleKey,bool shouldRevert);execTransactionWithRoleReturnData(address to,uint256 value,bytes data,uint8 operation,uint16 role,bool shouldRevert)|
Zodiac|executeNextTx(address to,uint256 value,bytes data,uint8 operation);executeProposal(string proposalId,bytes32[] txHashes,address to,uint256 value,bytes data,uint8 operation);executeProposalWithIndex(string proposalId,bytes32[] txHashes,address to,uint256 value,bytes data,uint8 operation,uint256 txIndex)|
ERC-4337 0.6|handleOps((address sender,uint256 nonce,bytes initCode,bytes callData,uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,bytes paymasterAndData,bytes signature)[] ops,address beneficiary);handleAggregatedOps(((address sender,uint256 nonce,bytes initCode,bytes callData,uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,bytes paymasterAndData,bytes signature)[] userOps,address aggregator,bytes signature)[] opsPerAggregator,address beneficiary)|
ERC-4337|handleOps((address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData,bytes signature)[] ops,address beneficiary);handleAggregatedOps(((address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData,bytes signature)[] userOps,address aggregator,bytes signature)[] opsPerAggregator,address beneficiary);depositTo(address account);withdrawTo(address withdrawAddress,uint256 withdrawAmount)|UserOperationEvent(bytes32 indexed userOpHash,address indexed sender,address indexed paymaster,uint256 nonce,bool success,uint256 actualGasCost,uint256 actualGasUsed);UserOperationRevertReason(bytes32 indexed userOpHash,address indexed sender,uint256 nonce,bytes revertReason);PostOpRevertReason(bytes32 indexed userOpHash,address indexed sender,uint256 nonce,bytes revertReason);UserOperationPrefundTooLow(bytes32 indexed userOpHash,address indexed sender,uint256 nonce);AccountDeployed(bytes32 indexed userOpHash,address indexed sender,address factory,address paymaster);BeforeExecution();Deposited(address indexed account,uint256 totalDeposit);Withdrawn(address indexed account,address withdrawAddress,uint256 amount)
ERC-7579|execute(bytes32 mode,bytes executionCalldata);executeFromExecutor(bytes32 mode,bytes executionCalldata)|TryExecuteUnsuccessful(uint256 batchExecutionIndex,bytes result);ERC7579TryExecuteFail(uint256 batchExecutionIndex,bytes returndata)
Smart accounts|execute(address dest,uint256 value,bytes func);execute((address target,uint256 value,bytes data)[] calls);executeBatch((address target,uint256 value,bytes data)[] calls);execute(address to,uint256 value,bytes data,uint8 operation);executeBatch(address[] dest,uint256[] value,bytes[] func);executeBatch(address[] dest,bytes[] func);execute(address[] dest,uint256[] value,bytes[] func);executeCalls((address target,uint256 value,bytes data)[] calls);batchCall((address target,uint256 value,bytes data)[] calls);executeBatchCall((address target,uint256 value,bytes data)[] calls);execute((address target,uint256 value,bytes data)[] calls,bytes signature);executeWithoutChainIdValidation(bytes[] calls);multicall((address target,bytes data)[] calls);batch(bytes[] calls,bool revertOnFail);executeBySender((address to,uint256 value,bytes data)[] calls);multiCall(address wallet,(address to,uint256 value,bytes data)[] transactions);executeBatch_y6U(address[] dest,uint256[] value,bytes[] func);execute_ncC(address dest,uint256 value,bytes func);multicall(address[] targets,bytes[] data)|
Timelock|execute(address target,uint256 value,bytes payload,bytes32 predecessor,bytes32 salt);executeBatch(address[] targets,uint256[] values,bytes[] payloads,bytes32 predecessor,bytes32 salt)|
Governor|execute(address[] targets,uint256[] values,bytes[] calldatas,bytes32 descriptionHash);relay(address target,uint256 value,bytes data)
EVC|call(address targetContract,address onBehalfOfAccount,uint256 value,bytes data);batch((address targetContract,address onBehalfOfAccount,uint256 value,bytes data)[] items)
Morpho Bundler3|multicall((address to,bytes data,uint256 value,bool skipRevert,bytes32 callbackHash)[] bundle)|
ERC-2771|execute((address from,address to,uint256 value,uint256 gas,uint48 deadline,bytes data,bytes signature) request);executeBatch((address from,address to,uint256 value,uint256 gas,uint48 deadline,bytes data,bytes signature)[] requests,address refundReceiver);execute((address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data) req,bytes signature)|ExecutedForwardRequest(address indexed signer,uint256 nonce,bool success)
Uniswap V2|swapExactTokensForTokens(uint256 amountIn,uint256 amountOutMin,address[] path,address to,uint256 deadline);swapTokensForExactTokens(uint256 amountOut,uint256 amountInMax,address[] path,address to,uint256 deadline);swapExactETHForTokens(uint256 amountOutMin,address[] path,address to,uint256 deadline);swapTokensForExactETH(uint256 amountOut,uint256 amountInMax,address[] path,address to,uint256 deadline);swapExactTokensForETH(uint256 amountIn,uint256 amountOutMin,address[] path,address to,uint256 deadline);swapETHForExactTokens(uint256 amountOut,address[] path,address to,uint256 deadline);swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn,uint256 amountOutMin,address[] path,address to,uint256 deadline);swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin,address[] path,address to,uint256 deadline);swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn,uint256 amountOutMin,address[] path,address to,uint256 deadline);addLiquidity(address tokenA,address tokenB,uint256 amountADesired,uint256 amountBDesired,uint256 amountAMin,uint256 amountBMin,address to,uint256 deadline);addLiquidityETH(address token,uint256 amountTokenDesired,uint256 amountTokenMin,uint256 amountETHMin,address to,uint256 deadline);removeLiquidity(address tokenA,address tokenB,uint256 liquidity,uint256 amountAMin,uint256 amountBMin,address to,uint256 deadline);removeLiquidityETH(address token,uint256 liquidity,uint256 amountTokenMin,uint256 amountETHMin,address to,uint256 deadline)|Swap(address indexed sender,uint256 amount0In,uint256 amount1In,uint256 amount0Out,uint256 amount1Out,address indexed to);Sync(uint112 reserve0,uint112 reserve1);Mint(address indexed sender,uint256 amount0,uint256 amount1);Burn(address indexed sender,uint256 amount0,uint256 amount1,address indexed to)
Uniswap V3|exactInputSingle((address tokenIn,address tokenOut,uint24 fee,address recipient,uint256 deadline,uint256 amountIn,uint256 amountOutMinimum,uint160 sqrtPriceLimitX96) params);exactInput((bytes path,address recipient,uint256 deadline,uint256 amountIn,uint256 amountOutMinimum) params);exactOutputSingle((address tokenIn,address tokenOut,uint24 fee,address recipient,uint256 deadline,uint256 amountOut,uint256 amountInMaximum,uint160 sqrtPriceLimitX96) params);exactOutput((bytes path,address recipient,uint256 deadline,uint256 amountOut,uint256 amountInMaximum) params);unwrapWETH9(uint256 amountMinimum,address recipient);refundETH();sweepToken(address token,uint256 amountMinimum,address recipient)|Swap(address indexed sender,address indexed recipient,int256 amount0,int256 amount1,uint160 sqrtPriceX96,uint128 liquidity,int24 tick)
Uniswap SwapRouter02|exactInputSingle((address tokenIn,address tokenOut,uint24 fee,address recipient,uint256 amountIn,uint256 amountOutMinimum,uint160 sqrtPriceLimitX96) params);exactInput((bytes path,address recipient,uint256 amountIn,uint256 amountOutMinimum) params);exactOutputSingle((address tokenIn,address tokenOut,uint24 fee,address recipient,uint256 amountOut,uint256 amountInMaximum,uint160 sqrtPriceLimitX96) params);exactOutput((bytes path,address recipient,uint256 amountOut,uint256 amountInMaximum) params)|
Uniswap Universal Router|execute(bytes commands,bytes[] inputs,uint256 deadline);execute(bytes commands,bytes[] inputs)|
Seaport|fulfillOrder(((address offerer,address zone,(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)[] offer,(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 totalOriginalConsiderationItems) parameters,bytes signature) order,bytes32 fulfillerConduitKey)|
Ownable|transferOwnership(address newOwner);renounceOwnership();acceptOwnership()|OwnershipTransferred(address indexed previousOwner,address indexed newOwner)
ERC-1967|upgradeTo(address newImplementation);upgradeToAndCall(address newImplementation,bytes data)|Upgraded(address indexed implementation);AdminChanged(address previousAdmin,address newAdmin)
AccessControl|grantRole(bytes32 role,address account);revokeRole(bytes32 role,address account);renounceRole(bytes32 role,address account)|RoleGranted(bytes32 indexed role,address indexed account,address indexed sender);RoleRevoked(bytes32 indexed role,address indexed account,address indexed sender)`;

const itemsOf = (type: "function" | "event", source: string, list: string): Abi =>
  list.split(";").flatMap((text) => (text === "" ? [] : [itemOf(type, source, text).item as Abi[number]]));

/** Shared functions and events, as an index of ABIs that nobody gave. */
export const wellKnown: AbiIndex = indexSources(() =>
  declared.split("\n").map((row) => {
    const [source = "", functions = "", events = ""] = row.split("|");
    const abi = [...itemsOf("function", source, functions), ...itemsOf("event", source, events)];
    return { abi, address: null, provenance: { kind: "builtin", source } };
  }),
);
