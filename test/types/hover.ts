/** What an editor shows where a name stands, by TypeScript's language service. */
import { join } from "node:path";
import ts from "typescript";
import { root } from "../harness/sources.js";

/** What is shown of a name: its type, and its documentation. */
interface Shown {
  readonly type: string;
  readonly docs: string;
}

const mark = "/*?*/";

/** What is shown of the names behind each mark in a module of a user, by the sources. */
export const hover = (text: string): ReadonlyArray<Shown> => {
  const file = join(root, "test/types/hovered.ts");
  const config = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path)).config as {
    compilerOptions: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [file], include: [] }, ts.sys, root);
  const read = (path: string) => (path === file ? text : ts.sys.readFile(path));
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) => {
      const found = read(path);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
    directoryExists: ts.sys.directoryExists,
    ...(ts.sys.realpath === undefined ? {} : { realpath: ts.sys.realpath }),
  });
  const places = [...text.matchAll(/\/\*\?\*\//g)].map(({ index }) => index + mark.length);
  return places.map((place) => {
    const info = service.getQuickInfoAtPosition(file, place);
    return {
      type: ts.displayPartsToString(info?.displayParts),
      docs: ts.displayPartsToString(info?.documentation),
    };
  });
};
