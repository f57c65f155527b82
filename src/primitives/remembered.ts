/** What was worked out of somebody's list once, for as long as the list is there and holds the same entries. */

interface Known<A, B> {
  readonly entries: ReadonlyArray<A>;
  readonly made: B;
}

/**
 * `make`, which works a list out again only when other entries stand in it. Lists are told apart by identity and
 * forgotten with whoever made them; an entry that is changed in place is not seen.
 */
export const remembered = <A, B>(make: (list: ReadonlyArray<A>) => B): ((list: ReadonlyArray<A>) => B) => {
  const lists = new WeakMap<ReadonlyArray<A>, Known<A, B>>();
  return (list) => {
    const known = lists.get(list);
    if (known?.entries.length === list.length && known.entries.every((entry, index) => entry === list[index]))
      return known.made;
    const made = make(list);
    lists.set(list, { entries: [...list], made });
    return made;
  };
};
