/** A value or an error, for operations whose failure is an expected outcome. */
export type Result<T, F> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: F };

/** Creates a successful result. */
export function good<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** Creates a failed result. */
export function bad<F>(error: F): { readonly ok: false; readonly error: F } {
  return { ok: false, error };
}
