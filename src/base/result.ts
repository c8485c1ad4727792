/** A value or an error, where an error is an ordinary answer rather than an exception. */
export type Result<T, F> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: F };

/** A good result. */
export function good<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** A bad result. */
export function bad<F>(error: F): { readonly ok: false; readonly error: F } {
  return { ok: false, error };
}
