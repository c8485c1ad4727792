import type { ErrorKind } from "../../../runtime/module-error.ts";

/** Runs work that may come back to itself. */
export type DepthGuard = <T>(work: () => T) => T;

/** Counts how deep calls stand inside each other and refuses the one beyond `limit`. Only for synchronous work. */
export function createDepthGuard(limit: number, tooDeep: ErrorKind): DepthGuard {
  let depth = 0;
  return (work) => {
    if (depth >= limit) throw tooDeep();
    depth += 1;
    try {
      return work();
    } finally {
      depth -= 1;
    }
  };
}
