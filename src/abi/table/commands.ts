/**
 * The commands of Uniswap's Universal Router, by their number in hex: what `execute` is given in place of calls. Other
 * routers, and other versions of this one, use some numbers otherwise; a command is named where its input fits.
 */
export const commands = `00|V3_SWAP_EXACT_IN(address recipient,uint256 amountIn,uint256 amountOutMin,bytes path,bool payerIsUser)
01|V3_SWAP_EXACT_OUT(address recipient,uint256 amountOut,uint256 amountInMax,bytes path,bool payerIsUser)
02|PERMIT2_TRANSFER_FROM(address token,address recipient,uint160 amount)
03|PERMIT2_PERMIT_BATCH(((address token,uint160 amount,uint48 expiration,uint48 nonce)[] details,address spender,uint256 sigDeadline) permitBatch,bytes signature)
04|SWEEP(address token,address recipient,uint256 amountMin)
05|TRANSFER(address token,address recipient,uint256 value)
06|PAY_PORTION(address token,address recipient,uint256 bips)
08|V2_SWAP_EXACT_IN(address recipient,uint256 amountIn,uint256 amountOutMin,address[] path,bool payerIsUser)
09|V2_SWAP_EXACT_OUT(address recipient,uint256 amountOut,uint256 amountInMax,address[] path,bool payerIsUser)
0a|PERMIT2_PERMIT(((address token,uint160 amount,uint48 expiration,uint48 nonce) details,address spender,uint256 sigDeadline) permitSingle,bytes signature)
0b|WRAP_ETH(address recipient,uint256 amountMin)
0c|UNWRAP_WETH(address recipient,uint256 amountMin)
0d|PERMIT2_TRANSFER_FROM_BATCH((address from,address to,uint160 amount,address token)[] batchDetails)
0e|BALANCE_CHECK_ERC20(address owner,address token,uint256 minBalance)
10|V4_SWAP(bytes actions,bytes[] params)
21|EXECUTE_SUB_PLAN(bytes commands,bytes[] inputs)`;
