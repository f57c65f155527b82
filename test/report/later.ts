/** The fields of a stored report that came after the first one, with what each decodes as where it is not there. */
import { options } from "../preflight/pure/world.js";

/** Names from the report inwards; `*` = every entry of a list. */
export type Path = ReadonlyArray<string>;

/** Every field that may be missing. `undefined`: it stays away. */
export const later: ReadonlyArray<readonly [path: Path, absent: unknown]> = [
  [["chain"], undefined],
  [["carriers"], []],
  [["signings"], []],
  [["signing"], undefined],
  [["exposure"], null],
  [["stateChanges"], []],
  [["payees"], []],
  [["names"], undefined],
  [["owned"], []],
  [["observed", "reads"], []],
  [["observed", "traced"], 0],
  [["observed", "named"], []],
  [["observed", "until"], null],
  [["approvals", "*", "extended"], false],
  [["findings", "*", "docs"], undefined],
  ...["transactions", "carriers"].flatMap(
    (list) =>
      [
        [[list, "*", "call"], null],
        [[list, "*", "outcome", "inner"], undefined],
        [[list, "*", "outcome", "trace"], null],
      ] as const,
  ),
  ...Object.entries(options).map(([name, value]) => [["options", name], value] as const),
  [["options", "isMaxAgeGiven"], undefined],
];

type Part = Record<string, unknown>;

/** `json`, `change` made to each object that holds the field at the end of `path`. */
const changedAt = (
  json: unknown,
  [name = "", ...others]: Path,
  change: (part: Part, name: string) => Part,
): unknown => {
  if (name === "*") return (json as ReadonlyArray<unknown>).map((entry) => changedAt(entry, others, change));
  const part = json as Part;
  if (others.length === 0) return change(part, name);
  return part[name] === undefined ? part : { ...part, [name]: changedAt(part[name], others, change) };
};

/** The JSON without the field, everywhere. */
export const without = (json: unknown, path: Path): unknown =>
  changedAt(json, path, (part, name) => Object.fromEntries(Object.entries(part).filter(([key]) => key !== name)));

/** The JSON with `value` in the field, everywhere. */
export const withValue = (json: unknown, path: Path, value: unknown): unknown =>
  changedAt(json, path, (part, name) => ({ ...part, [name]: value }));

/** The JSON with the default of every field that it leaves out. */
export const whole = (json: unknown): unknown =>
  later.reduce(
    (all, [path, absent]) =>
      absent === undefined ? all : changedAt(all, path, (part, name) => ({ [name]: absent, ...part })),
    json,
  );
