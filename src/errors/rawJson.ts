/** The node's answer kept as evidence: as it came when it is small and plain JSON, cut to size otherwise. */
import type * as Schema from "effect/Schema";

const limits = { depth: 12, values: 1000, characters: 65_536 } as const;

interface Budget {
  values: number;
  characters: number;
}

/** Whether `value` is JSON within the limits, so that it can be kept by reference. */
const fits = (value: unknown, depth: number, budget: Budget): value is Schema.Json => {
  budget.values -= 1;
  if (budget.values < 0 || depth > limits.depth) return false;
  switch (typeof value) {
    case "string":
      budget.characters -= value.length;
      return budget.characters >= 0;
    case "number":
      // minus zero is read from JSON but not written to it
      return Number.isFinite(value) && !Object.is(value, -0);
    case "boolean":
      return true;
    case "object": {
      if (value === null) return true;
      if (Array.isArray(value)) return value.every((element) => fits(element, depth + 1, budget));
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) return false;
      return Object.entries(value).every(([key, field]) => {
        budget.characters -= key.length;
        return fits(field, depth + 1, budget);
      });
    }
    default:
      return false;
  }
};

const cut = (text: string, budget: Budget): string => {
  const kept = text.slice(0, Math.max(0, budget.characters));
  budget.characters -= kept.length;
  return kept.length === text.length ? text : `${kept}… (+${text.length - kept.length} characters)`;
};

const copy = (value: unknown, depth: number, budget: Budget): Schema.Json => {
  budget.values -= 1;
  if (budget.values < 0 || depth > limits.depth) return null;
  if (typeof value === "string") return cut(value, budget);
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : String(value);
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint") return cut(value.toString(), budget);
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return value.slice(0, limits.values).map((element) => copy(element, depth + 1, budget));
  // an Error's own words are not enumerable
  const words = value instanceof Error ? { name: value.name, message: value.message, cause: value.cause } : {};
  const fields: Record<string, Schema.Json> = {};
  for (const [key, field] of Object.entries({ ...words, ...value }).slice(0, limits.values)) {
    if (budget.values <= 0) break;
    if (field !== undefined && typeof field !== "function") {
      Object.defineProperty(fields, cut(key, budget), {
        value: copy(field, depth + 1, budget),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  return fields;
};

/** `value` itself when it is JSON of at most 1,000 values and 64 KiB of text, else a copy cut to that. */
export const rawJson = (value: unknown): Schema.Json => {
  const budget = () => ({ values: limits.values, characters: limits.characters });
  return fits(value, 0, budget()) ? value : copy(value, 0, budget());
};
