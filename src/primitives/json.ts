/** Our own values as JSON, also where `JSON.stringify` meets them: bigints are decimal strings. */

/** The value's own fields as plain JSON: what the schemas of this library write, which a test compares. */
export const plainJson = (value: unknown): unknown => {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plainJson);
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value))
    if (field === undefined) continue;
    // why: JSON of a node may have a field `__proto__`
    else if (name !== "__proto__") fields[name] = plainJson(field);
    else
      Object.defineProperty(fields, name, {
        ...{ value: plainJson(field), enumerable: true, configurable: true, writable: true },
      });
  return fields;
};

const toJson: PropertyDescriptor = {
  value(this: unknown) {
    return plainJson(this);
  },
  configurable: true,
  writable: true,
};

/**
 * The same object, which `JSON.stringify` now takes. Its `toJSON` is not enumerable: copies by spread or
 * `structuredClone` lack it, and comparisons do not see it.
 */
export const withJson = <A extends object>(value: A): A =>
  Object.isExtensible(value) && !Object.hasOwn(value, "toJSON")
    ? Object.defineProperty(value, "toJSON", toJson)
    : value;
