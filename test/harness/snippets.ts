/** TypeScript in documents: taken out, and compiled in memory as if it stood in the repository. */
import { join } from "node:path";
import ts from "typescript";
import { root } from "./sources.js";

/** The `ts` blocks of a Markdown text. */
export const snippetsOf = (markdown: string): ReadonlyArray<string> =>
  [...markdown.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);

/** What the compiler complains of, by the file's name. Every text is a module of its own. */
export const complaintsOf = (files: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, "tsconfig.json"),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
      },
    },
  );
  const options: ts.CompilerOptions = { ...config?.options, noEmit: true, noUnusedLocals: false };
  const texts = new Map([...files].map(([name, text]) => [join(root, name), text]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.getSourceFile = (file, target, ...rest) => {
    const text = texts.get(file);
    return text === undefined ? getSourceFile(file, target, ...rest) : ts.createSourceFile(file, text, target, true);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].flatMap((name) => {
    const source = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText, start = 0 }) =>
        `${name.slice(root.length)}:${(source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1} ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
    );
  });
};
