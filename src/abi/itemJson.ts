/** ABI items as the JSON that they are. */
import type * as Schema from "effect/Schema";

/** abitype declares an item with readonly tuples, and with fields that may be absent; neither changes what it is. */
export const itemJson = (item: object): Schema.Json => item as Schema.Json;
