/**
 * The length of FastLZ (level 1) output, without producing it: what OP-stack chains since Fjord price a
 * transaction's data by.
 *
 * Greedy matching as in FastLZ's level 1 with the details that the chain's rules fix: a hash table of
 * 8,192 three-byte hashes, distances up to 8,191, runs of at most 32 literals (one byte of overhead),
 * matches of at most 264 bytes (two or three bytes), and no match beginning in the last 13 bytes.
 */

const literalRun = 32;
const longestMatch = 262;
const mostDistance = 8191;
const tableBits = 13;
/** No match begins in these last bytes, and none reaches into the last 4. */
const tail = 13;
const matchTail = 4;

const literalsLength = (count: number): number =>
  Math.floor(count / literalRun) * (literalRun + 1) + (count % literalRun === 0 ? 0 : (count % literalRun) + 1);

/** Bytes that encode a match of `length` + 1 bytes beyond its first two. */
const matchLength = (length: number): number => {
  const rest = length - 1;
  return Math.floor(rest / longestMatch) * 3 + (rest % longestMatch >= 6 ? 3 : 2);
};

/** Bytes of `data` after FastLZ compression. Linear in its size. */
export const compressedLength = (data: Uint8Array): number => {
  const table = new Int32Array(1 << tableBits);
  const at = (index: number): number => data[index] ?? 0;
  const three = (index: number): number => at(index) | (at(index + 1) << 8) | (at(index + 2) << 16);
  // Knuth's multiplicative hash, its upper 13 bits
  const hash = (value: number): number => (Math.imul(value, 2_654_435_769) >>> 19) & ((1 << tableBits) - 1);
  const limit = data.length < tail ? 0 : data.length - tail;
  const matchEnd = limit + tail - matchTail;
  let length = 0;
  let anchor = 0;
  let position = 2;
  while (position < limit) {
    let reference = -1;
    for (; position < limit; position++) {
      const bytes = three(position);
      const slot = hash(bytes);
      const earlier = table[slot] ?? 0;
      table[slot] = position;
      if (position - earlier <= mostDistance && three(earlier) === bytes) {
        reference = earlier;
        break;
      }
    }
    // a match at the last position before the limit does not count
    if (reference === -1 || position + 1 >= limit) break;
    length += literalsLength(position - anchor);
    let more = 0;
    while (position + 3 + more < matchEnd && at(reference + 3 + more) === at(position + 3 + more)) more++;
    // the comparison counts the byte at which it stops
    const matched = position + 3 + more < matchEnd ? more + 1 : more;
    length += matchLength(matched);
    position += matched;
    table[hash(three(position))] = position;
    table[hash(three(position + 1))] = position + 1;
    position += 2;
    anchor = position;
  }
  return length + literalsLength(data.length - anchor);
};
