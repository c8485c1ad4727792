import type { Problem, ProblemCode } from "./problems.ts";
import type { RelayerStatus } from "./relayer-status.ts";

/** Problems that are reported immediately, because nothing works or nothing can be sent while they last. */
const IMMEDIATE: ReadonlySet<ProblemCode> = new Set([
  "starting",
  "store-not-writable",
  "not-sending",
  "lease-unknown",
  "account-cannot-pay",
] as const);
/** A problem that recurs within this time is treated as ongoing. */
const HELD_MS = 1_500;

/**
 * Creates a filter that ignores problems that last less than one block time. For example, behind a load balancer whose nodes are a
 * few blocks apart, reads sometimes fail although every result is on time.
 */
export function createProblemHold() {
  const seen = new Map<string, { readonly fromMs: number; readonly lastMs: number }>();
  return {
    /**
     * Returns the problems that have lasted long enough, with each problem's start time. `nowMs` is monotonic time, and `wallMs` is
     * wall-clock time.
     */
    lasting: (
      problems: readonly Problem[],
      {
        blockMs,
        nowMs,
        wallMs,
      }: { readonly blockMs: number; readonly nowMs: number; readonly wallMs: number },
    ): readonly Problem[] => {
      const found = problems.flatMap((problem) => {
        const key = `${problem.code} ${problem.connectionId ?? ""}`;
        const known = seen.get(key);
        // On a busy machine, the last check may have been long ago, so a problem ends only once a check no longer finds it.
        const fromMs = known?.fromMs ?? nowMs;
        seen.set(key, { fromMs, lastMs: nowMs });
        const lastsMs = nowMs - fromMs;
        return IMMEDIATE.has(problem.code) || lastsMs >= blockMs
          ? [{ ...problem, sinceMs: wallMs - lastsMs }]
          : [];
      });
      for (const [key, { lastMs }] of seen) if (nowMs - lastMs > HELD_MS) seen.delete(key);
      return found;
    },
  };
}

/** A condition that needs attention although the relayer is ready. */
interface Degradation {
  readonly code: "dead-letters" | "transaction-index";
  readonly text: string;
  /** Path of the relayer's page that shows the details. */
  readonly page: "/dead-letters" | "/endpoints";
}

/** RPC methods that use a node's transaction index. */
const INDEX_METHODS = ["tx", "tx_search"];

/** Returns the conditions that need attention: dead letters, and unusable or incomplete transaction indexes. */
export function degradations({
  deadLetters,
  endpoints,
}: Pick<RelayerStatus, "deadLetters" | "endpoints">): readonly Degradation[] {
  const what = deadLetters === 1 ? "transaction was" : "transactions were";
  const advice = "send them again or acknowledge them: relaywatch relayer dead-letters";
  const letters = `${deadLetters} ${what} not delivered; ${advice}`;
  const indexes = endpoints.flatMap(({ chainId, lacks }) => {
    const reason = INDEX_METHODS.flatMap((method) => lacks?.get(method) ?? [])[0];
    return reason === undefined ? [] : [`${chainId}: ${reason}; another index is used, or blocks are read`];
  });
  return [
    ...(deadLetters === 0 ? [] : [{ code: "dead-letters", text: letters, page: "/dead-letters" } as const]),
    ...indexes.map((text) => ({ code: "transaction-index", text, page: "/endpoints" }) as const),
  ];
}
