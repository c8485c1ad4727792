import type { LedgerEvent, LedgerView, Rollup } from "./ledger-view.ts";

/**
 * Joins what is in memory with what is older than it. Memory has every month, and of the rollups all since its oldest one. It is
 * never behind; the state file is while its disk fails. `stored` is read only for a range that begins before memory does.
 */
export function joinedView(memory: LedgerView, stored: LedgerView): LedgerView {
  const { validator, chainId, months } = memory;
  const joined = (
    span: "days" | "hours" | "minutes",
    ...[fromMs, toMs, source]: Parameters<LedgerView["days"]>
  ): readonly Rollup[] => {
    const [oldest] = memory[span](0, toMs, source);
    const beginMs = oldest?.startMs ?? toMs;
    const older = fromMs < beginMs ? stored[span](fromMs, beginMs, source) : [];
    return [...older, ...memory[span](fromMs, toMs, source)];
  };
  return {
    validator,
    chainId,
    months,
    days: (...range) => joined("days", ...range),
    hours: (...range) => joined("hours", ...range),
    minutes: (...range) => joined("minutes", ...range),
    events: (fromMs, toMs) => joinedEvents(memory.events(fromMs, toMs), stored.events(fromMs, toMs)),
  };
}

/** Memory has the newest events, and the present length of one that goes on. */
function joinedEvents(
  recent: readonly LedgerEvent[],
  stored: readonly LedgerEvent[],
): readonly LedgerEvent[] {
  const known = new Set(recent.map(keyOf));
  return [...stored.filter((event) => !known.has(keyOf(event))), ...recent].toSorted(
    (a, b) => a.fromMs - b.fromMs,
  );
}

function keyOf({ kind, fromMs, node }: LedgerEvent): string {
  return `${kind} ${fromMs} ${node ?? ""}`;
}
