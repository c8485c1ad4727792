import { onAbort, pause } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";

/** Names of endpoints, best first; undefined: the configured order counts. */
type Order = (() => readonly string[]) | undefined;

/** Chooses the route of each connection attempt. */
interface RoutePicker<T> {
  /** The best route that was not tried in this round. After a round, the next one begins. Undefined when there is no route. */
  readonly next: () => T | undefined;
  /** Begins a new round. */
  readonly restart: () => void;
}

/** Creates a picker at the beginning of a round. */
export function createRoutePicker<T extends { readonly name: string }>(
  routes: readonly T[],
  order: Order,
): RoutePicker<T> {
  const tried = new Set<T>();
  const restart = (): void => tried.clear();
  return {
    restart,
    next: () => {
      if (tried.size === routes.length) restart();
      const rest = routes.filter((route) => !tried.has(route));
      const ordered = (order?.() ?? []).flatMap((name) => rest.find((route) => route.name === name) ?? []);
      const route = ordered[0] ?? rest[0];
      if (route !== undefined) tried.add(route);
      return route;
    },
  };
}

/** Ends a session because another endpoint has been the best one for a while. */
export class BetterEndpointError extends Error {
  readonly better: string;

  constructor(better: string) {
    super(`${better} is better`);
    this.better = better;
  }
}

/** Checks of the order within `moveAfterMs`. */
const CHECKS = 4;

interface BestDeps {
  readonly order: Order;
  /** How long another endpoint must be the best one. */
  readonly moveAfterMs: number;
  readonly clock: Clock;
}

/**
 * Runs `session` at the endpoint `name` until it ends, or until one other endpoint has been the best one for `moveAfterMs`.
 * Then throws {@link BetterEndpointError}.
 */
export async function whileBest(
  name: string,
  session: (signal: AbortSignal) => Promise<never>,
  { order, moveAfterMs, clock }: BestDeps,
  signal: AbortSignal,
): Promise<never> {
  if (order === undefined) return session(signal);
  const own = new AbortController();
  const unwatch = onAbort(signal, (reason) => own.abort(reason));
  const watch = async (): Promise<void> => {
    let better: string | undefined;
    let checks = 0;
    while (!own.signal.aborted) {
      await pause(moveAfterMs / CHECKS, clock, own.signal);
      const [best = name] = order();
      checks = best === better ? checks + 1 : 0;
      better = best;
      if (best !== name && checks >= CHECKS) own.abort(new BetterEndpointError(best));
    }
  };
  void watch();
  try {
    return await session(own.signal);
  } catch (error) {
    throw own.signal.reason instanceof BetterEndpointError ? own.signal.reason : error;
  } finally {
    unwatch();
    own.abort(new Error("the session is over"));
  }
}
