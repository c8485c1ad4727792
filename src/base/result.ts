/** A value or a fault, where a fault is an ordinary answer rather than an exception. */
export type Result<T, F> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: F };

/** A good result. */
export function good<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** A bad result. */
export function bad<F>(fault: F): { readonly ok: false; readonly fault: F } {
  return { ok: false, fault };
}
