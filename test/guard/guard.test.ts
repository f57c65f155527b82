/** Both guards on real nodes: the key signs only what was cleared, and what a wallet changes is told. */
import {
  BaseError,
  ContractFunctionRevertedError,
  createClient,
  createWalletClient,
  custom,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  http,
  numberToHex,
  parseAbi,
  parseEther,
  publicActions,
  toFunctionSelector,
  zeroAddress,
  type Abi,
  type Client,
} from "viem";
import * as actions from "viem/actions";
import { inspect } from "node:util";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Errors, Policy, Report } from "evm-preflight";
import { createPreflight, guardProvider, type GuardOptions, type SettledCalls } from "evm-preflight/promise";
import { guard, NotCleared } from "evm-preflight/viem";
import { Delegate, Reverter, SpoofToken, Token } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { reasonOf, rejection } from "./reasons.js";
import { keys, other, owner, scenesFor, spare, third, type Scene } from "../preflight/scene.js";

/** Honest sends, and as many hostile ones, of each guard on each node: more than three hundred in all by `npm run test:all`. */
const count = Number(process.env["GUARD_SENDS"] ?? (process.env["TEST_ALL"] === "1" ? 38 : 6));
const amount = 1_000n;

describe.each(scenesFor("the guards"))("guards of clients and providers on %s", (_, start) => {
  let scene: Scene;
  let token: `0x${string}`;
  let spoof: `0x${string}`;
  let reverter: `0x${string}`;
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Dollar", "USD", 6]);
    spoof = await scene.deploy(SpoofToken);
    reverter = await scene.deploy(Reverter);
    const data = encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [other.address, 10n ** 12n] });
    for (const to of [token, spoof]) await scene.pool(owner, { to, data });
    await scene.mine();
  });
  afterAll(() => scene.stop());

  const chainOf = () => ({
    ...{ id: scene.chainId, name: "test", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 } },
    rpcUrls: { default: { http: [scene.url] } },
  });
  /** A key that counts what it signs, and for which request. */
  const watched = (account: (typeof keys)[number], slow = 0) => {
    const signed: Array<unknown> = [];
    const raws: Array<string> = [];
    const signTransaction: typeof account.signTransaction = async (transaction, options) => {
      signed.push(transaction);
      await new Promise((resolve) => setTimeout(resolve, slow));
      const raw = await account.signTransaction(transaction, options);
      raws.push(raw);
      return raw;
    };
    return { signed, raws, account: { ...account, signTransaction } };
  };
  /** A policy that holds, and keeps the reports that it was shown. */
  const watching = () => {
    const reports: Array<Report.Report> = [];
    const policies = [Policy.make("test/seen", (report) => (reports.push(report), { _tag: "Pass" }))];
    /** Whether these bytes are what the last of them says, and nothing else is. */
    const isCleared = (raw: string | undefined): boolean => {
      const report = reports.at(-1);
      const [first] = report?.transactions ?? [];
      const [request, digest, from] = [first?.request, report?.digest, first?.input.from];
      if (raw === undefined || request == null || digest == null || from === undefined) return false;
      const { chainId } = request;
      const clearance = {
        signs: [],
        requests: [request],
        senders: [from],
        chainId,
        digest,
        expiresAt: 0,
        waits: [],
      } as const;
      return Report.matches(clearance, [raw]);
    };
    return { policies, isCleared };
  };
  const clientOf = (account: (typeof keys)[number], options: GuardOptions = {}) =>
    guard(createWalletClient({ account, chain: chainOf(), transport: http(scene.url) }).extend(publicActions), options);
  const transfer = (to: `0x${string}`, value = amount) =>
    ({
      to: token,
      data: encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [to, value] }),
    }) as const;

  /** What nobody should sign. Each would send, revert, or take more than it says. */
  const hostileOf = () => {
    const call = (to: `0x${string}`, abi: Abi, functionName: string, ...args: ReadonlyArray<unknown>) =>
      ({ to, data: encodeFunctionData({ abi, functionName, args }) }) as const;
    return [
      { to: zeroAddress.replace(/0$/, "d") as `0x${string}`, data: "0x12345678" },
      { to: third.address, value: parseEther("100000") },
      transfer(third.address, 10n ** 30n),
      { ...transfer(third.address), gas: 22_000n },
      call(token, Token.abi, "approve", token, 2n ** 256n - 1n),
      call(spoof, SpoofToken.abi, "airdrop", other.address, [third.address], 10n ** 20n),
      call(spoof, SpoofToken.abi, "understate", third.address),
      call(reverter, Reverter.abi, "empty"),
      { to: reverter, value: 1n, data: "0xdeadbeef" },
    ] as ReadonlyArray<{ to: `0x${string}`; value?: bigint; data?: `0x${string}`; gas?: bigint }>;
  };
  /** The row that is due. */
  const dueOf = <A>(rows: ReadonlyArray<A>, index: number): A => rows[index % rows.length] as A;
  const right = (index: number) => (index % 2 === 0 ? transfer(third.address) : { to: third.address, value: amount });

  it(
    "let the node mine honest sends as cleared, and no hostile one reach a key",
    async () => {
      const { account, signed, raws } = watched(other);
      const { policies, isCleared } = watching();
      const client = clientOf(account, { policies });
      for (let index = 0; index < count; index++) {
        const before = signed.length;
        const wrong = dueOf(hostileOf(), index);
        expect((await rejection(client.sendTransaction(wrong)))._tag, JSON.stringify(wrong.data)).toBe("NotCleared");
        expect(signed.length).toBe(before);
        const hash = await client.sendTransaction(right(index));
        expect([signed.length, raws.length, isCleared(raws.at(-1))]).toEqual([before + 1, before + 1, true]);
        await scene.mine();
        expect((await scene.receipt(hash)).status).toBe("0x1");
      }
      // and bytes of before are not what the last report says
      expect(isCleared(raws[0])).toBe(false);
    },
    count * 15_000,
  );

  it("guard every way of viem's to send or sign", async () => {
    const { account, signed } = watched(other);
    const client = clientOf(account) as unknown as Client;
    const bad = { to: "0x00000000000000000000000000000000000000dd", data: "0x12345678" } as const;
    const same = client as never;
    const refused = [
      () => actions.sendTransaction(same, bad as never),
      () => actions.sendTransactionSync(same, bad as never),
      () => actions.signTransaction(same, bad as never),
      () => actions.writeContract(same, { ...writing, address: bad.to } as never),
      () =>
        client
          .extend(() => ({}))
          .request({ method: "eth_sendTransaction", params: [{ ...bad, from: account.address }] } as never),
      () => actions.sendCalls(same, { calls: [bad] } as never),
    ];
    const writing = { abi: Token.abi, functionName: "transfer", args: [third.address, 1n] } as const;
    for (const send of refused) expect((await rejection(send()))._tag, String(send)).toBe("NotCleared");
    const stranger = await owner.signTransaction({
      ...{
        chainId: scene.chainId,
        type: "eip1559",
        nonce: 0,
        gas: 21_000n,
        maxFeePerGas: 10n ** 10n,
        to: third.address,
      },
    });
    const authorization = { chainId: scene.chainId, contractAddress: token, nonce: 0 } as const;
    const judged = [
      () => actions.signMessage(same, { message: "x" } as never),
      () => actions.signTypedData(same, { domain: {}, types: { A: [] }, primaryType: "A", message: {} } as never),
      () => actions.signAuthorization(same, authorization as never),
      () => (client.account as unknown as typeof other).sign({ hash: `0x${"11".repeat(32)}` }),
      () => actions.sendRawTransaction(same, { serializedTransaction: stranger }),
      () => client.request({ method: "personal_sign", params: ["0x11", account.address] } as never),
      () => client.request({ method: "eth_signTypedData_v4", params: [account.address, "{}"] } as never),
      () => client.request({ method: "eth_sendUserOperation", params: [] } as never),
      () => actions.sendCalls(same, { calls: [{ to: third.address }], forceAtomic: true } as never),
      () =>
        actions.sendCalls(same, {
          calls: [{ to: third.address }],
          capabilities: { paymasterService: { url: "x" } },
        } as never),
    ];
    for (const sign of judged) expect((await rejection(sign()))._tag, String(sign)).toBe("GuardRefused");
    expect(signed).toEqual([]);
    expect(other.signTransaction).not.toBe(client.account);
  });

  it("sign the cleared request in full, and send the bytes that they cleared", async () => {
    const { account, signed } = watched(other);
    const client = clientOf(account);
    const serializedTransaction = (await client.signTransaction({
      ...transfer(third.address),
      type: "eip1559",
    } as never)) as `0x${string}`;
    expect(signed).toMatchObject([{ to: token, chainId: scene.chainId, type: "eip1559" }]);
    // an old type with its price is kept; without one, what is proven has the new prices
    const { baseFeePerGas } = await client.getBlock();
    const old = { ...transfer(third.address), accessList: [{ address: token, storageKeys: [] }] };
    await client.signTransaction({ ...old, type: "eip2930", gasPrice: 3n * (baseFeePerGas ?? 1n) } as never);
    expect(signed.at(-1)).toMatchObject({ type: "eip2930", gasPrice: 3n * (baseFeePerGas ?? 1n) });
    await client.signTransaction({ ...transfer(third.address), type: "legacy" } as never);
    expect(signed.at(-1)).toMatchObject({ type: "eip1559" });
    const hash = await client.sendRawTransaction({ serializedTransaction });
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x1");
    const [one] = await client
      .sendCalls({ calls: [transfer(third.address), { to: third.address, value: 1n }] })
      .then(({ id }) => [id]);
    await scene.mine();
    expect(await client.getCallsStatus({ id: one as string })).toMatchObject({ status: "success", receipts: [{}, {}] });
  });

  it("refuse raw bytes, and inputs of several transactions, where one is signed", async () => {
    const { account, signed } = watched(other);
    const client = clientOf(account);
    const one = { ...transfer(third.address), from: account.address };
    const raw = await other.signTransaction({ to: third.address, chainId: scene.chainId, gas: 21_000n, gasPrice: 1n });
    const holding = [
      raw,
      { raw },
      { raw, from: account.address },
      { calls: [one, one], from: account.address },
      { transactions: [one, one], meta: {}, from: account.address },
      { method: "eth_sendTransaction", params: [one] },
    ];
    for (const transaction of holding) {
      const asked = [
        () => client.request({ method: "eth_sendTransaction", params: [transaction] } as never),
        () => client.request({ method: "eth_signTransaction", params: [transaction] } as never),
        () => client.signTransaction({ ...Object(transaction), type: "eip1559" } as never),
        () => client.sendTransaction({ ...Object(transaction) } as never),
      ];
      for (const ask of typeof transaction === "string" ? asked.slice(0, 2) : asked)
        await expect(ask()).rejects.toThrow(/must be the fields of one transaction|is not a field|must be an object/);
    }
    expect(signed).toEqual([]);
  });

  it("give twelve sends at once a nonce each", async () => {
    const { account, signed } = watched(third);
    const client = clientOf(account, { onCaution: "send" });
    const hashes = await Promise.all(
      Array.from({ length: 12 }, () => client.sendTransaction({ to: other.address, value: 1n }).catch(reasonOf)),
    );
    const sent = hashes.filter((hash) => typeof hash === "string");
    const nonces = signed.map((request) => (request as { readonly nonce: number }).nonce);
    expect(new Set(nonces).size).toBe(nonces.length);
    expect(sent).toHaveLength(12);
    await scene.mine();
    for (const hash of sent) expect((await scene.receipt(hash as `0x${string}`)).status).toBe("0x1");
  }, 60_000);

  it("prove again for a slow signer, and refuse a caution unless it is accepted", async () => {
    const slow = watched(other, 400);
    const quick = { maxAge: 300 } as const;
    const hash = await clientOf(slow.account, quick).sendTransaction({ to: third.address, value: 1n });
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x1");
    const approve = {
      to: token,
      data: encodeFunctionData({ abi: Token.abi, functionName: "approve", args: [third.address, 2n ** 256n - 1n] }),
    } as const;
    const refusal = await rejection(clientOf(other).sendTransaction(approve));
    expect([refusal._tag, refusal["code"], refusal["data"]]).toEqual([
      "NotCleared",
      -32003,
      expect.objectContaining({ _tag: "NotCleared", codes: expect.arrayContaining(["ApprovalUnlimited"]) as unknown }),
    ]);
    const seen: Array<Report.Report> = [];
    const asking = { onCaution: (report: Report.Report) => seen.push(report) > 0 };
    expect(await clientOf(other, asking).sendTransaction(approve)).toMatch(/^0x/);
    expect(seen.map(({ verdict }) => verdict)).toEqual(["caution"]);
    const throwing = { onCaution: () => Promise.reject(new Error("x")), policies: [Policy.noUnlimitedApprovals] };
    expect((await rejection(clientOf(other, throwing).sendTransaction(approve)))._tag).toBe("NotCleared");
    await scene.mine();
  });

  it("keep viem's own errors, decoded by the ABI of the call", async () => {
    const { abi } = Reverter;
    const call = (functionName: string, ...args: ReadonlyArray<unknown>) =>
      ({ address: reverter, abi: abi as Abi, functionName, args, chain: chainOf() }) as const;
    const { account, signed } = watched(other);
    const local = clientOf(account);
    const named = (transport: ReturnType<typeof custom>) =>
      createWalletClient({ account: owner.address, chain: chainOf(), transport });
    const { request } = createClient({ transport: http(scene.url, { retryCount: 0 }) });
    const node = { request: (asked: never) => request(asked) };
    type Verbs = Readonly<Record<"writeContract" | "simulateContract", (asked: object) => Promise<unknown>>>;
    const free = actions as unknown as { writeContract(client: unknown, asked: object): Promise<unknown> };
    const clients: ReadonlyArray<unknown> = [
      local,
      guard(named(custom(node as never)).extend(publicActions)),
      // a client of viem's that knows of no guard, over a guarded provider
      named(custom(guardProvider(node) as never)).extend(publicActions),
    ];
    /** What viem's error says, and what of ours stands behind it. */
    const told = async (promise: Promise<unknown>) => {
      const error = await promise.then(
        () => new Error("resolved"),
        (failure: unknown) => failure as BaseError,
      );
      expect(error).toBeInstanceOf(BaseError);
      const reverted = (error as BaseError).walk((one) => one instanceof ContractFunctionRevertedError);
      const { data, reason, signature } = reverted as ContractFunctionRevertedError;
      return [data?.errorName ?? signature, data?.args ?? [], reason, reasonOf(error)._tag];
    };
    for (const client of clients as ReadonlyArray<Verbs>) {
      const writes = [client.writeContract(call("plain", 7n)), free.writeContract(client, call("plain", 7n))];
      for (const write of writes.map(told)) expect(await write).toEqual(["Plain", [7n], undefined, "NotCleared"]);
      expect(await told(client.writeContract(call("reason", "no luck")))).toEqual([
        ...["Error", ["no luck"], "no luck", "NotCleared"],
      ]);
      const [name, args] = await told(client.simulateContract(call("plain", 7n)));
      expect([name, args]).toEqual(["Plain", [7n]]);
      const missing = { ...call("plain", 7n), abi: (abi as Abi).filter(({ type }) => type === "function") };
      expect((await told(client.writeContract(missing))).slice(0, 1)).toEqual([toFunctionSelector("Plain(uint256)")]);
    }
    const plain = {
      to: reverter,
      data: encodeFunctionData({ abi: abi as Abi, functionName: "plain", args: [7n] }),
    } as const;
    // a send names no ABI: those of the options explain it
    const explained = clientOf(account, { abis: [abi as Abi] });
    expect(await told(explained.sendTransaction(plain))).toEqual(["Plain", [7n], undefined, "NotCleared"]);
    const failure = await local.sendTransaction(plain).catch((error: NotCleared) => error);
    expect(failure).toMatchObject({ name: "NotCleared", code: 3, details: "execution reverted" });
    expect((failure as NotCleared).data.data).toBe(
      encodeErrorResult({ abi: abi as Abi, errorName: "Plain", args: [7n] }),
    );
    for (const text of [(failure as NotCleared).message, (failure as NotCleared).stack])
      expect(text).not.toContain("viem@");
    expect(inspect(failure, { depth: 0 })).not.toContain("viem@");
    // a node may have lost the bytes
    const cause = (failure as NotCleared).cause as Errors.ExecutionReverted;
    const lost = new NotCleared((failure as NotCleared).report, new Errors.ExecutionReverted({ ...cause, data: null }));
    expect([lost.code, lost.data.data, lost.cause]).toEqual([
      3,
      undefined,
      expect.objectContaining({ _tag: "ExecutionReverted", data: null }),
    ]);
    // what is no revert says so
    const poor = await local
      .sendTransaction({ to: third.address, value: 10n ** 30n })
      .catch((error: unknown) => error as NotCleared);
    expect(poor).toMatchObject({ code: -32003, shortMessage: expect.stringContaining("not cleared") });
    expect((poor as NotCleared).walk((one) => one instanceof ContractFunctionRevertedError)).toBe(null);
    expect(signed).toEqual([]);
    await using preflight = createPreflight({ url: scene.url });
    const input = { from: other.address, to: reverter, abi: abi as Abi, functionName: "plain", args: [7n] };
    const delivered = await preflight
      .deliver(input as never, () => Promise.reject(new Error("asked")))
      .catch((error: Error) => error);
    expect(delivered).toMatchObject({ _tag: "ExecutionReverted", cause: { data: { errorName: "Plain", args: [7n] } } });
    expect((delivered as Error).cause).toBeInstanceOf(ContractFunctionRevertedError);
    const walked = (delivered as BaseError).walk((one) => one instanceof ContractFunctionRevertedError);
    expect(walked).toBe((delivered as Error).cause);
    expect(JSON.stringify(delivered)).not.toContain("ContractFunctionRevertedError");
  });

  /** A wallet that holds a key, and does with a request what it likes. */
  const walletOf = (change: (transaction: Record<string, string>) => Record<string, string> = (same) => same) => {
    const wallet = createWalletClient({ account: other, chain: chainOf(), transport: http(scene.url) });
    const listened: Array<string> = [];
    const raws: Array<string> = [];
    return {
      ...{ listened, raws },
      on: (event: string) => void listened.push(event),
      request: async ({
        method,
        params = [],
      }: {
        readonly method: string;
        readonly params?: ReadonlyArray<unknown>;
      }) => {
        if (method !== "eth_sendTransaction") return wallet.request({ method, params } as never);
        const { from: _, type: __, ...changed } = change(params[0] as Record<string, string>);
        const number = (name: string) => (changed[name] === undefined ? {} : { [name]: BigInt(changed[name] ?? 0) });
        const serializedTransaction = await other.signTransaction({
          ...{ type: "eip1559", chainId: scene.chainId, to: changed["to"], data: changed["data"] },
          ...{ nonce: Number(changed["nonce"]), ...number("gas"), ...number("value") },
          ...{ ...number("maxFeePerGas"), ...number("maxPriorityFeePerGas") },
        } as never);
        raws.push(serializedTransaction);
        return wallet.request({ method: "eth_sendRawTransaction", params: [serializedTransaction] });
      },
    };
  };
  const asked = (transaction: object) =>
    ({ method: "eth_sendTransaction", params: [{ from: other.address, ...transaction }] }) as never;

  it(
    "let a provider send what was cleared, and pass everything else",
    async () => {
      const wallet = walletOf();
      const { policies, isCleared } = watching();
      const guarded = guardProvider(wallet, { policies });
      const diverting = guardProvider(walletOf((same) => ({ ...same, to: owner.address })));
      guarded.on("accountsChanged");
      expect(wallet.listened).toEqual(["accountsChanged"]);
      expect(await guarded.request({ method: "eth_chainId" } as never)).toBe(`0x${scene.chainId.toString(16)}`);
      const written = ({ value = 0n, gas, ...call }: { to: `0x${string}`; value?: bigint; gas?: bigint }) =>
        asked({ ...call, value: numberToHex(value), ...(gas === undefined ? {} : { gas: numberToHex(gas) }) });
      const hostile = hostileOf();
      for (let index = 0; index < count; index++) {
        const hash = await guarded.request(written(right(index)));
        expect([wallet.raws.length, isCleared(wallet.raws.at(-1))]).toEqual([index + 1, true]);
        await scene.mine();
        expect((await scene.receipt(hash as `0x${string}`)).status).toBe("0x1");
        // one row more: a wallet that pays another receiver, which is sent, and told
        const wrong = index % (hostile.length + 1);
        const isDiverted = wrong === hostile.length;
        const sending = isDiverted
          ? diverting.request(written({ to: third.address, value: 1n }))
          : guarded.request(written(dueOf(hostile, wrong)));
        expect((await rejection(sending))._tag, String(wrong)).toBe(isDiverted ? "Tampered" : "NotCleared");
        if (isDiverted) await scene.mine();
        expect(wallet.raws.length).toBe(index + 1);
      }
      const chain = await rejection(guarded.request(asked({ to: third.address, chainId: "0x7" })));
      expect([chain._tag, chain["code"]]).toEqual(["GuardRefused", 4100]);
    },
    count * 15_000,
  );

  it.each([
    ["the receiver", { to: owner.address }, "request to", false],
    ["the data", { data: "0x" }, "request data", false],
    ["the value", { value: "0x9" }, "request value", false],
    ["the fee", { maxFeePerGas: "0x2540be400" }, "request maxFeePerGas", true],
    ["the gas", { gas: "0x30d40" }, "request gas", true],
  ] as const)("report a wallet that changes %s", async (_, changed, what, isFee) => {
    const send = (options: GuardOptions) =>
      guardProvider(
        walletOf((same) => ({ ...same, ...changed })),
        options,
      ).request(asked(transfer(third.address)));
    // null is none, and lets nothing pass
    const failure = await rejection(send({ onChanged: null as never }));
    await scene.mine();
    expect([failure._tag, failure["mayBeSent"], failure["code"]]).toEqual(["Tampered", true, -32603]);
    expect(failure["differences"]).toMatchObject([{ what }]);
    expect(await scene.receipt((failure["data"] as { readonly hash: `0x${string}` }).hash)).not.toBeNull();
    const accepted = await rejection(send({ onChanged: () => true }));
    expect(accepted._tag.startsWith("resolved")).toBe(isFee);
    await scene.mine();
  });

  it("do not send again through a wallet that changed a send, whatever viem's transport makes of the code", async () => {
    let sends = 0;
    const wallet = walletOf((same) => ({ ...same, value: `0x${(++sends).toString(16)}` }));
    const client = createClient({ transport: custom(guardProvider(wallet), { retryDelay: 1 }) });
    const failure = await rejection(client.request(asked({ to: third.address, value: "0xff" })));
    expect([failure._tag ?? (failure["cause"] as { _tag?: string })._tag, sends]).toEqual(["Tampered", 1]);
    await scene.mine();
  });

  /** A wallet that passes calls on as it likes, and tells of its transactions when asked. */
  const callsWallet = (send: () => Promise<ReadonlyArray<`0x${string}`>>) => {
    const passed: Array<unknown> = [];
    let hashes: ReadonlyArray<`0x${string}`> = [];
    const told = { status: 200 };
    return {
      passed,
      told,
      request: async (each: { readonly method: string; readonly params?: ReadonlyArray<unknown> }) => {
        if (each.method === "wallet_getCallsStatus")
          return { ...told, receipts: hashes.map((transactionHash) => ({ transactionHash, status: "0x1", logs: [] })) };
        if (each.method !== "wallet_sendCalls") return walletOf().request(each);
        passed.push(each.params?.[0]);
        hashes = await send();
        return { id: "0x01" };
      },
    };
  };
  const callsOf = (transfers: number, from: `0x${string}` = other.address) => {
    const calls = [
      ...Array.from({ length: transfers }, () => transfer(third.address)),
      { to: third.address, value: "0x1" },
    ];
    return { version: "2.0.0", from, chainId: `0x${scene.chainId.toString(16)}`, calls };
  };
  const status = { method: "wallet_getCallsStatus", params: ["0x01"] } as never;

  it("prove calls as one bundle, pass them on unchanged, and settle them when their status is asked", async () => {
    const settled: Array<SettledCalls> = [];
    const pay = () => scene.pool(other, { to: third.address, value: 1n });
    // gas, fees and nonces of the wallet's own are no difference
    const wallet = callsWallet(async () => [await scene.pool(other, transfer(third.address)), await pay()]);
    const guarded = guardProvider(wallet, { onSettled: (one) => settled.push(one) });
    const request = callsOf(1);
    expect(await guarded.request({ method: "wallet_sendCalls", params: [request] } as never)).toEqual({ id: "0x01" });
    expect(wallet.passed).toEqual([request]);
    wallet.told.status = 100;
    await guarded.request(status);
    wallet.told.status = 200;
    await guarded.request(status);
    // not done, or not mined: nothing is told
    expect(settled).toEqual([]);
    await scene.mine();
    expect(await guarded.request(status)).toMatchObject({ status: 200 });
    expect(settled).toMatchObject([{ class: "same", differences: [], hashes: [{}, {}] }]);

    const changing = callsWallet(async () => [await scene.pool(other, transfer(owner.address)), await pay()]);
    const changed = guardProvider(changing, { onSettled: (one) => settled.push(one) });
    await changed.request({ method: "wallet_sendCalls", params: [request] } as never);
    await scene.mine();
    await changed.request(status);
    expect(settled[1]).toMatchObject({
      class: "unknown",
      differences: [
        { event: 0, b: null },
        { event: 1, a: null },
      ],
    });
    const asking = { ...request, capabilities: { paymasterService: { url: "x" } } };
    const unknown = await rejection(guarded.request({ method: "wallet_sendCalls", params: [asking] } as never));
    expect([unknown._tag, unknown["code"]]).toEqual(["GuardRefused", 5700]);
  });

  it("report unknown for calls whose wallet names more transactions than calls, and look up few of others at once", async () => {
    const settled: Array<SettledCalls> = [];
    const [asked, most] = [new Map<string, number>(), { now: 0, ever: 0 }];
    const counting = (wallet: ReturnType<typeof callsWallet>) => ({
      request: async (each: Parameters<typeof wallet.request>[0]) => {
        if (!/ByHash|Receipt/.test(each.method)) return wallet.request(each);
        asked.set(each.method, (asked.get(each.method) ?? 0) + 1);
        most.ever = Math.max(most.ever, ++most.now);
        return wallet.request(each).finally(() => most.now--);
      },
    });
    const settling = async (hashes: () => Promise<ReadonlyArray<`0x${string}`>>) => {
      const guarded = guardProvider(counting(callsWallet(hashes)), { onSettled: (one) => settled.push(one) });
      await guarded.request({ method: "wallet_sendCalls", params: [callsOf(5)] } as never);
      await scene.mine();
      asked.clear();
      await guarded.request(status);
    };
    const strange = Array.from({ length: 500 }, (_, index) => numberToHex(index + 1, { size: 32 }));
    await settling(() => Promise.resolve(strange));
    expect(settled).toMatchObject([{ class: "unknown", compared: 0, hashes: [] }]);
    expect([...asked]).toEqual([]);
    const transfers = Array.from({ length: 5 }, () => transfer(third.address));
    await settling(async () => {
      const hashes: Array<`0x${string}`> = [];
      for (const each of [...transfers, { to: third.address, value: 1n }]) hashes.push(await scene.pool(other, each));
      return hashes;
    });
    expect([settled[1]?.class, settled[1]?.hashes.length]).toEqual(["same", 6]);
    expect([...asked.values()]).toEqual([6, 6]);
    expect(most.ever).toBeLessThanOrEqual(4);
  }, 60_000);

  it("settle an atomic batch as one, with each of its events and the wallet's own", async () => {
    const code = await scene.deploy(Delegate);
    const settled: Array<SettledCalls> = [];
    const client = createWalletClient({ account: spare, chain: chainOf(), transport: http(scene.url) });
    const mint = encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [spare.address, 10n ** 6n] });
    await scene.pool(owner, { to: token, data: mint });
    await scene.mine();
    /** Delegates the account and runs the calls, in one transaction of the wallet's. */
    const run = async (receivers: ReadonlyArray<`0x${string}`>) => {
      const signed = await client.signAuthorization({ contractAddress: code, executor: "self" });
      const calls = receivers.map((to) => ({ ...transfer(to), value: 0n }));
      const data = encodeFunctionData({
        abi: Delegate.abi,
        functionName: "execute",
        args: [[...calls, { to: third.address, value: 1n, data: "0x" }]],
      });
      const hash = await client.sendTransaction({
        authorizationList: [signed],
        to: spare.address,
        data,
        gas: 500_000n,
      });
      await scene.mine();
      return [hash];
    };
    const options: GuardOptions = { onCaution: "send", onSettled: (one) => settled.push(one) };
    for (const receivers of [
      [third.address, third.address],
      [third.address],
      [third.address, third.address, other.address],
    ] as const) {
      const guarded = guardProvider(
        callsWallet(() => run(receivers)),
        options,
      );
      await guarded.request({ method: "wallet_sendCalls", params: [callsOf(2, spare.address)] } as never);
      await guarded.request(status);
    }
    expect(settled.map(({ class: name, hashes }) => [name, hashes.length])).toEqual([
      ["same", 1],
      ["unknown", 1],
      ["unknown", 1],
    ]);
    expect(
      settled.map(({ differences }) => differences.map(({ event, a, b }) => [event, a === null, b === null])),
    ).toEqual([[], [[1, false, true]], [[2, true, false]]]);
  });

  it("refuse an authorisation that is not signed, whoever hands it in", async () => {
    const { signed, account } = watched(owner);
    const entry = { authority: other.address, address: token, chainId: scene.chainId, nonce: 9 };
    const client = clientOf(account, { onCaution: "send" });
    const send = { to: spare.address, value: 1n, authorizationList: [entry] };
    expect(reasonOf(await rejection(client.sendTransaction(send as never)))).toMatchObject({
      ...{ _tag: "InvalidTransaction", field: "authorizationList" },
    });
    const wire = { ...entry, chainId: numberToHex(entry.chainId), nonce: "0x9" };
    const params = [{ from: owner.address, to: spare.address, value: "0x1", authorizationList: [wire] }];
    const guarded = guardProvider(
      callsWallet(() => Promise.reject(new Error("asked"))),
      { onCaution: "send" },
    );
    for (const method of ["eth_sendTransaction", "eth_signTransaction"])
      expect(reasonOf(await rejection(guarded.request({ method, params } as never)))).toMatchObject({
        ...{ _tag: "GuardRefused", what: "authorizationList" },
      });
    expect(signed).toEqual([]);
  });

  it("settle calls without an event alike in an account's own batch alone", async () => {
    const settled: Array<SettledCalls> = [];
    const stops = await scene.deploy({ abi: [], bytecode: creation("00") });
    const client = createWalletClient({ account: spare, chain: chainOf(), transport: http(scene.url) });
    const payment = { to: third.address, value: 1n, data: "0x" } as const;
    const data = encodeFunctionData({ abi: Delegate.abi, functionName: "execute", args: [[payment]] });
    const tuple = [
      { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] },
    ] as const;
    // ERC-7579: a batch that goes on where a call fails
    const trying = encodeFunctionData({
      abi: parseAbi(["function execute(bytes32 mode, bytes calls)"]),
      args: [`0x0101${"00".repeat(30)}`, encodeAbiParameters(tuple, [[[payment.to, payment.value, payment.data]]])],
    });
    const delegated = async () => {
      const signed = await client.signAuthorization({ contractAddress: stops, executor: "self" });
      return client.sendTransaction({ authorizationList: [signed], to: spare.address, data: trying, gas: 500_000n });
    };
    const rows = [
      // by a stranger, and by an account without code, which runs nothing
      [other, () => scene.pool(owner, { to: other.address, data })],
      [other, () => scene.pool(other, { to: other.address, data })],
      [spare, delegated],
    ] as const;
    for (const [{ address }, send] of rows) {
      const wallet = callsWallet(async () => [await send()]);
      const guarded = guardProvider(wallet, { onCaution: "send", onSettled: (one) => settled.push(one) });
      await guarded.request({ method: "wallet_sendCalls", params: [callsOf(0, address)] } as never);
      await scene.mine();
      await guarded.request(status);
    }
    expect(settled.map(({ class: name, differences }) => [name, differences])).toEqual(rows.map(() => ["unknown", []]));
  });
});

describe("a guard", () => {
  const transport = http("http://127.0.0.1:1");
  it("refuses a client that others extended, and a node that is not there", async () => {
    const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
    const extended = createWalletClient({ account, transport }).extend(() => ({ sneak: () => 1 }));
    expect(() => guard(extended)).toThrow("client.sneak");
    const client = guard(createWalletClient({ account, transport: http("http://127.0.0.1:1", { retryCount: 0 }) }));
    await expect(client.sendTransaction({ to: account.address, chain: null })).rejects.toThrow();
  });
});
