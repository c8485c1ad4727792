/** Returns "; did you mean …?" with up to three names similar to the wrong name; "" if no name is similar. */
export function didYouMean(wrong: string, names: Iterable<string>): string {
  const word = wrong.slice(0, MAX_LENGTH);
  // Allow two changes, because two swapped letters are two changes.
  const allowed = Math.max(Math.min(2, word.length - 1), word.length * 0.4);
  const found = [...names]
    .map((name) => ({
      name,
      changes: editDistance(word, name.slice(0, MAX_LENGTH)),
      common: commonBeginning(word, name),
    }))
    .filter(
      ({ name, changes, common }) => changes <= allowed || common > word.length / 2 || sharesWord(word, name),
    )
    .toSorted((one, other) => other.common - one.common || one.changes - other.changes);
  const [last, ...others] = found
    .slice(0, 3)
    .map(({ name }) => name)
    .toReversed();
  if (last === undefined) return "";
  const before = others.length === 0 ? "" : `${others.toReversed().join(", ")} or `;
  return `; did you mean ${before}${last}?`;
}

/** Maximum number of a name's first characters to compare. */
const MAX_LENGTH = 60;

function commonBeginning(wrong: string, name: string): number {
  let length = 0;
  while (length < wrong.length && wrong[length] === name[length]) length += 1;
  return length;
}

/** Returns true if two names have a word in common, like "oracle-down" and "sidecar-down". */
function sharesWord(wrong: string, name: string): boolean {
  const words = name.split("-");
  return wrong.split("-").some((word) => word.length > 3 && words.includes(word));
}

/** Returns the Levenshtein distance: the smallest number of characters to insert, remove or replace. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, character] of Array.from(one).entries()) {
    const next = [index + 1];
    for (let at = 1; at <= other.length; at += 1)
      next.push(
        Math.min(
          (next[at - 1] ?? 0) + 1,
          (row[at] ?? 0) + 1,
          (row[at - 1] ?? 0) + (other[at - 1] === character ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[other.length] ?? 0;
}
