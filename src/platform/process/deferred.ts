export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** Creates a pending promise, whose unhandled rejection is ignored. */
export function createDeferred<T>(): Deferred<T> {
  let functions: Pick<Deferred<T>, "resolve" | "reject"> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    functions = { resolve, reject };
  });
  promise.catch(() => {});
  return {
    promise,
    resolve: (value) => functions?.resolve(value),
    reject: (error) => functions?.reject(error),
  };
}
