/**
 * Returns a function that calls `load` once for each key and returns the same promise afterwards. A rejected promise is
 * kept too, so that one cycle does not repeat a failed request. Create a new function for each cycle.
 */
export function memoize<Q, T>(load: (request: Q) => Promise<T>, keyOf: (request: Q) => bigint) {
  const promises = new Map<bigint, Promise<T>>();
  return (request: Q): Promise<T> => {
    const key = keyOf(request);
    const promise = promises.get(key) ?? load(request);
    promises.set(key, promise);
    return promise;
  };
}
