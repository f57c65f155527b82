// Breaks each guard in a copy of the last commit, one at a time, and runs the tests that must then fail.
// `node scripts/mutations.mjs [part of a name or path]`; the exit code is 1 where a broken guard is not noticed.
// `--list` says only whether every marker `// guard: name` of the sources has its entry here, and can be broken.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";

/**
 * By the name in the marker: what is put in the place of the expression below it, which is `$` there, and the tests
 * that must notice, as few as do.
 */
const guards = {
  "a bundle in several blocks": ["false", "test/preflight/combined"],
  "a bundle in several blocks on sealed state": ["true", "test/preflight/combined"],
  "the next block's veto": ["null", "test/preflight/zoo"],
  "what is booked in events": ["() => []", "test/preflight/combined"],
  "places of those concerned": ["[]", "test/preflight/places"],
  "accounts that a policy names": ["[]", "test/preflight/combined"],
  "own transactions in flight that the state lacks": ["true", "test/net/net"],
  "a node that does not validate, with some in flight": ["false", "test/preflight/tiers"],
  "no validation is told": ["[]", "test/preflight/pure/taken"],
  "native movements unseen": ["$ === null ? null : true", "test/preflight/tiers"],
  "an answer's weight in memory": ["0", "test/rpc/room"],
  "room for events": ["mostRuns * told", "test/preflight/pure/room"],
  "a remembered chain is checked": ["false", "test/preflight/known"],
  "another branch answers": ["false", "test/preflight/known"],
  "a remembered head that is no longer the latest": ["true", "test/preflight/lastHead"],
  "what was sent beside the scan, and may be older than what that says": ["false", "test/preflight/speculate"],
  "a scan that may be newer than the proof": ["false", "test/preflight/speculate"],
  "code that the bundle itself puts there": ["false", "test/preflight/forks"],
  "a fee alone is not what was asked for": ["true", "test/steps/reading/falseAnswers"],
  "an event of a right that is measured not to be there": ["true", "test/steps/reading/falseAnswers"],
  "a fork ahead": ['$.map((finding) => ({ ...finding, severity: "info" }))', "test/quorum/alone"],
  "gas in a block that is a little smaller": ["false", "test/preflight/pure/gas"],
  "requests are those of the inputs": ["true", "test/preflight/reprove"],
  "what found no room to be read": ["[]", "test/net/net"],
  "bounds of a policy": ["true", "test/preflight/pure/compare"],
  "a report of an older version": ["false", "test/report/versions"],
  "signed bytes that are not what was proven": ["false", "test/preflight/forms"],
  "a signature that is not what its carriers used": ["false", "test/signing/signatures"],
  "an earlier report's amount that is no longer the most": ["false", "test/signing/signatures"],
  "a message that fits the signer's own account as well": ["false", "test/signing/signatures"],
  "a nonce that nobody could read, where the signature itself was not run": ["false", "test/signing/signatures"],
  "a domain that says more than is signed": ["false", "test/signing/typedData"],
  "a message about another account than is said": ["false", "test/signing/typedData"],
  "a step of the pipeline that the report lacks": ["[]", "test/preflight/ownStep"],
  "the run with free gas": ["$ && []", "test/preflight/reprove"],
  "a request for another chain than the wallet's": ["false", "test/guard/guard"],
  "a change of the wallet's that nobody accepted": ["true", "test/guard/guard"],
  "a wallet that was switched while it was proven": ["null", "test/guard/hostile"],
  "raw bytes that nobody cleared": ["false", "test/guard/hostile"],
  "a node that nobody named, whose verdict a program would take for the chain's": [
    "Option.isNone(flags.rpcUrl)",
    "test/cli/check",
  ],
  "a nonce that another send took": ["false", "test/guard/hostile"],
  "a capability that the proof knows nothing of": ["false", "test/guard/hostile"],
  "an authorisation that the chain skips, so that nothing would be made of the calls": [
    "false",
    "test/preflight/pure/batches",
  ],
  "calls that have to be one, and are not proven as one": ["(sending) => sending", "test/accounts/batches"],
  "a signature of what is no transaction": ["true", "test/guard/hostile"],
  "a way to sign or send that is not known": ["null", "test/guard/hostile"],
  "a request that is changed while it is proven": ["params", "test/guard/hostile"],
  "a send that a transport would try twice": ["pass", "test/guard/hostile"],
  "an authorisation that nobody has signed": ["false", "test/guard/guard"],
  "a caution that nobody accepted": ["false", "test/guard/guard"],
  "signed bytes that are not the cleared request": ["null", "test/guard/hostile"],
  "a clearance that expired while it was signed": ["true", "test/guard/hostile"],
  "an outcome that changed while it was signed": ["undefined", "test/guard/hostile"],
  "a message that is changed while it is judged": ["argument", "test/guard/hostile"],
  "a field of a call that the proof knows nothing of": ["undefined", "test/guard/strangers"],
  "a sender whom the request does not name, and the node's client does": ["undefined", "test/guard/strangers"],
  "two kinds of data, of which nobody knows what a wallet signs": ["false", "test/guard/strangers"],
  "a chain that wallets read otherwise than the guard": ["true", "test/guard/strangers"],
  "a wallet that never says its chain": ["1e9", "test/guard/strangers"],
  "one account that waits for another": ['""', "test/guard/strangers"],
  "a reason that viem can read": ["true", "test/guard/strangers"],
  "a request within another": ["false", "test/guard/strangers"],
  "a wallet's method that nobody knows": ["firstWord.test(method)", "test/guard/strangers"],
  "what an account holds beside its signatures": ["true", "test/guard/strangers"],
  "what a transport holds beside its request": ["true", "test/guard/strangers"],
  "blobs that nobody hashed": ["false", "test/guard/strangers"],
  "what a provider holds beside its members": ["value", "test/guard/strangers"],
  "a listener that gets hold of the provider": ["listener", "test/guard/strangers"],
  "a provider that is changed through its guard": [
    "(_, name, value) => Reflect.set(provider, name, value)",
    "test/guard/strangers",
  ],
  "a member that may sign": ["true", "test/guard/strangers"],
  "a node that a page names for the chain in use": ["false", "test/guard/strangers"],
  "a chain of which nobody knows which one a wallet reads": ["false", "test/guard/strangers"],
  "a proof by a node that the page named": ["report", "test/guard/strangers"],
  "a sender by another name, and the marks of what was sent": ["false", "test/guard/hostile"],
  "bytes, or several transactions, where one is signed": ["Effect.void", "test/guard/guard"],
  "a message that is more than a sign-in": ["false", "test/guard/signIn"],
  "what a wallet does for a page that connects": ["false", "test/guard/signIn"],
  "a wallet that signed something other than the sign-in": ["false", "test/guard/signIn"],
  "a report that says how long it holds": ["report", "test/promise/doors"],
  "a signature that nobody can prove": ["false", "test/guard/proven"],
  "a kind that is not named": ["false", "test/guard/proven"],
  "a proof on another chain than the wallet's": ["false", "test/guard/proven"],
  "somebody gains by a signature and is not named": ["false", "test/guard/proven"],
  "typed data that its EntryPoint hashes to another digest": ["false", "test/signing/operation"],
  "typed data leaves out the form of the account's signature, and an authorisation": [
    "false",
    "test/accounts/operations",
  ],
  "a signature over something else, or by somebody else": ["false", "test/guard/proven"],
  "an action that was added before the guard": ["undefined", "test/guard/guard"],
};

const isJoint = (node) =>
  ts.isConditionalExpression(node) ||
  (ts.isBinaryExpression(node) && ["&&", "||", "??"].includes(node.operatorToken.getText()));

/** Of what stands below a marker the part that decides: a declared, returned or tested value, else a single operand. */
const decidingPart = (node) => {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations[0].initializer;
  if (ts.isPropertyAssignment(node)) return node.initializer;
  if (ts.isReturnStatement(node) || ts.isIfStatement(node) || ts.isSpreadElement(node)) return node.expression;
  return ts.isExpression(node) && !isJoint(node) ? node : undefined;
};

/** The expression below a marker, whatever its text is; undefined where there is none. */
const guardedAt = (source, marker) => {
  const visit = (node) =>
    node.pos <= marker && marker < node.end
      ? ((marker < node.getStart() ? decidingPart(node) : undefined) ?? ts.forEachChild(node, visit))
      : undefined;
  return visit(source);
};

/** Every guard that is marked below a folder, with the source that lacks it. */
const markedIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const path = join(folder, file);
      const text = readFileSync(path, "utf8");
      return [...text.matchAll(/\/\/ guard: (.+)/g)].map(({ index, 1: name }) => {
        const guarded = guardedAt(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true), index);
        const entry = Object.hasOwn(guards, name) ? guards[name] : undefined;
        if (entry === undefined || guarded === undefined) return { name, path, text };
        const instead = entry[0].replaceAll("$", () => `(${guarded.getText()})`);
        const broken = `${text.slice(0, guarded.getStart())}(${instead})${text.slice(guarded.end)}`;
        return { name, path, text, broken };
      });
    });

/** A line for each marker and entry of which nothing could be broken. */
const staleIn = (marked) => [
  ...Object.keys(guards)
    .filter((name) => marked.filter((one) => one.name === name).length !== 1)
    .map((name) => `${name}: not marked exactly once`),
  ...marked
    .filter(
      ({ broken }) =>
        broken === undefined || ts.transpileModule(broken, { reportDiagnostics: true }).diagnostics.length > 0,
    )
    .map(({ name, path }) => `${name}: marked in ${path}, and not known how to break`),
];

/** Whether the tests fail without the guard. */
const isNoticed = ({ name, path, text, broken }, cwd) => {
  writeFileSync(path, broken);
  const command = ["vitest", "run", "--project=pure", "--project=unit", "--coverage.enabled=false", "--bail=1"];
  const env = { ...process.env, TEST_ALL: "1" };
  const run = spawnSync("npx", [...command, ...guards[name][1].split(" ")], { cwd, env, encoding: "utf8" });
  writeFileSync(path, text);
  return run.status !== 0 && /Tests .*failed/.test(run.stdout);
};

const root = execFileSync("git", ["rev-parse", "--show-toplevel"], { encoding: "utf8" }).trim();
const wanted = process.argv[2] ?? "";
if (wanted === "--list") {
  const marked = markedIn(join(root, "src"));
  const stale = staleIn(marked);
  for (const line of stale) console.error(line);
  console.log(`${marked.length} guards`);
  process.exit(stale.length === 0 ? 0 : 1);
}

const copy = join(mkdtempSync(join(tmpdir(), "mutations-")), "copy");
execFileSync("git", ["worktree", "add", "--quiet", "--detach", copy, "HEAD"], { cwd: root });
for (const modules of ["node_modules", "tools/beds/node_modules"])
  if (existsSync(join(root, modules))) symlinkSync(join(root, modules), join(copy, modules));
let unnoticed = 0;
try {
  const marked = markedIn(join(copy, "src"));
  for (const line of staleIn(marked)) {
    console.log(`STALE       ${line}`);
    unnoticed++;
  }
  for (const guard of marked) {
    if (guard.broken === undefined || !`${guard.name} ${guard.path}`.includes(wanted)) continue;
    const started = performance.now();
    const isCaught = isNoticed(guard, copy);
    if (!isCaught) unnoticed++;
    const seconds = Math.round((performance.now() - started) / 1_000);
    console.log(`${isCaught ? "noticed    " : "NOT NOTICED"} ${guard.name}, ${seconds} s`);
  }
} finally {
  execFileSync("git", ["worktree", "remove", "--force", copy], { cwd: root });
  rmSync(join(copy, ".."), { recursive: true, force: true });
}
process.exit(unnoticed === 0 ? 0 : 1);
