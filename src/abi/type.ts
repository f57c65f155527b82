/** The types of parameters as ABIs write them: the one place that takes `type[n]` apart. */

/** A parameter as JSON ABIs write it. */
export interface Parameter {
  /** The Solidity type. */
  readonly type: string;
  /** The parameter's name, where it has one. */
  readonly name?: string | undefined;
  /** Of a tuple, or of an array of tuples. */
  readonly components?: ReadonlyArray<Parameter> | undefined;
}

/** Deeper types are nobody's: walks over them end here. */
export const deepest = 16;

/** What an array type is made of; null for every other type. `length` null = as many as the data says. */
export const arrayOf = (type: string): { readonly element: string; readonly length: number | null } | null => {
  const found = /^(.+)\[(\d*)\]$/.exec(type);
  if (found?.[1] === undefined) return null;
  return { element: found[1], length: found[2] === "" || found[2] === undefined ? null : Number(found[2]) };
};

/** The parameter of an array's elements; null where it is none. */
export const elementOf = <P extends { readonly type: string }>(parameter: P): P | null => {
  const array = arrayOf(parameter.type);
  return array === null ? null : { ...parameter, type: array.element };
};

/** Whether its place in the head holds an offset, for the value's size is not known by its type. */
export const isDynamic = ({ type, components }: Parameter, depth: number = 0): boolean => {
  if (type === "bytes" || type === "string") return true;
  if (depth > deepest) return true;
  const array = arrayOf(type);
  if (array !== null) return array.length === null || isDynamic({ type: array.element, components }, depth + 1);
  return type === "tuple" && (components ?? []).some((component) => isDynamic(component, depth + 1));
};
