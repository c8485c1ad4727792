/** Remembers the promise for each key, also a rejected one: meant for the length of a round. */
export function askOnce<Q, T>(
  ask: (question: Q) => Promise<T>,
  keyOf: (question: Q) => bigint,
): (question: Q) => Promise<T> {
  const known = new Map<bigint, Promise<T>>();
  return (question) => {
    const key = keyOf(question);
    const asked = known.get(key) ?? ask(question);
    known.set(key, asked);
    return asked;
  };
}
