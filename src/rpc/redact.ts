/** URLs in texts for people: keys live in paths, queries and labels of hosts, so these are hidden. */

/** A shorter secret is hidden as a whole word only: a user called `eth` stands in `eth_call`, and in bytes by chance. */
export const wordLength = 8;

/** A label that could be a key: long, and with a digit or longer than a word. */
export const isKeyLabel = (part: string): boolean =>
  part.length >= wordLength && (/\d/.test(part) || part.length >= 20);

/** The host with `hide` in place of each part of its labels. The last label, which everybody shares, and addresses stay. */
export const overLabels = (host: string, hide: (part: string) => string): string => {
  const end = host.startsWith("[") ? 0 : host.replace(/\.$/, "").lastIndexOf(".") + 1;
  return host.slice(0, end).replace(/[^._-]+/g, hide) + host.slice(end);
};

/** A host without what could be a key. */
export const shownHost = (host: string): string => overLabels(host, (part) => (isKeyLabel(part) ? "…" : part));

/** Hides of every URL in a text all but its scheme and host: whose it is nobody knows. */
export const redactUrls = (text: string): string =>
  text.replace(
    /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s"'/]*@)?([^\s"'<>/?#]*)([/?#][^\s"']*)?/gi,
    (_, scheme: string, host: string, rest = "") => `${scheme}${shownHost(host)}${rest.length > 1 ? "/…" : rest}`,
  );
