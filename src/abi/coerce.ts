/** One walk over a value beside its parameter: the first part that does not fit is named by its path. */
import * as Result from "effect/Result";
import { escapeText } from "../primitives/text.js";
import { isRecord } from "../primitives/record.js";
import { each, no, type Checked } from "../primitives/problem.js";
import { arrayOf, type Parameter } from "./type.js";

/** How a walk reads. */
export interface Reading {
  /** A value of an elementary type, or what is wrong with it. */
  readonly read: (type: string, value: unknown) => Result.Result<unknown, string>;
  /** Whether lengths and fields must be those of the type; if not, the encoder is the judge of them. */
  readonly isExact: boolean;
}

/** A tuple's components from an object by their names. */
const fieldsOf = (
  components: ReadonlyArray<Parameter>,
  given: Readonly<Record<string, unknown>>,
  reading: Reading,
  field: string,
): Checked<unknown> => {
  const stray = reading.isExact && Object.keys(given).find((key) => !components.some(({ name }) => name === key));
  if (typeof stray === "string") return no(`${field}.${escapeText(stray, 40)}`, "is not a field of this tuple");
  const fields = each(components, (component): Checked<readonly [string, unknown]> => {
    const name = component.name ?? "";
    const path = `${field}.${escapeText(name, 40)}`;
    return reading.isExact && !Object.hasOwn(given, name)
      ? no(path, "is missing")
      : Result.map(coerce(component, given[name], reading, path), (value) => [name, value]);
  });
  return Result.map(fields, (all) => Object.fromEntries(all));
};

/** One value by its parameter; `field` is its path. */
export const coerce = (parameter: Parameter, value: unknown, reading: Reading, field: string): Checked<unknown> => {
  const { type, components } = parameter;
  const array = arrayOf(type);
  if (array !== null) {
    if (!Array.isArray(value)) return no(field, `must be an array for ${type}`);
    if (reading.isExact && array.length !== null && value.length !== array.length)
      return no(field, `must have ${array.length} entries for ${type}, got ${value.length}`);
    const element = { type: array.element, components };
    return each(value, (one, index) => coerce(element, one, reading, `${field}[${index}]`));
  }
  if (type !== "tuple") return Result.mapError(reading.read(type, value), (problem) => ({ field, problem }));
  if (Array.isArray(value)) return coerceAll(components ?? [], value, reading, field);
  return isRecord(value)
    ? fieldsOf(components ?? [], value, reading, field)
    : no(field, "must be an object or an array");
};

/** Values in the order of their parameters: arguments, or a tuple given as an array. */
export const coerceAll = (
  parameters: ReadonlyArray<Parameter>,
  values: ReadonlyArray<unknown>,
  reading: Reading,
  field: string,
): Checked<ReadonlyArray<unknown>> =>
  reading.isExact && values.length !== parameters.length
    ? no(field, `must have ${parameters.length} ${parameters.length === 1 ? "entry" : "entries"}, got ${values.length}`)
    : each(parameters, (parameter, index) => coerce(parameter, values[index], reading, `${field}[${index}]`));
