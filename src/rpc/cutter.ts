/** Texts out of what a socket delivers. */
const [quote, backslash] = [0x22, 0x5c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/**
 * Takes what came, and gives the texts that are whole with it; null where one is longer than `maxBytes`. A string is a
 * text of its own, as a WebSocket's frames are; bytes are a stream of texts, as those of `geth.ipc` are.
 */
export const cutter = (maxBytes: number) => {
  const decoder = new TextDecoder();
  let beginnings: Array<string> = [];
  let [length, depth] = [0, 0];
  let [isString, isEscaped] = [false, false];

  const stream = (text: string): ReadonlyArray<string> | null => {
    const whole: Array<string> = [];
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (isString) {
        if (isEscaped) isEscaped = false;
        else if (code === backslash) isEscaped = true;
        else if (code === quote) isString = false;
      } else if (code === quote) isString = true;
      else if (opening.has(code)) depth++;
      else if (closing.has(code) && --depth <= 0) {
        whole.push([...beginnings, text.slice(from, at + 1)].join(""));
        beginnings = [];
        [length, depth, from] = [0, 0, at + 1];
      }
    }
    beginnings.push(text.slice(from));
    length += text.length - from;
    return length > maxBytes || whole.some((text) => text.length > maxBytes) ? null : whole;
  };

  return (chunk: string | Uint8Array): ReadonlyArray<string> | null => {
    if (typeof chunk !== "string") return stream(decoder.decode(chunk, { stream: true }));
    return chunk.length > maxBytes ? null : [chunk];
  };
};
