import { formatMinute } from "../../platform/base/text.ts";

/** Extracts the muting alert's name from a reason like "muted by sidecar-down"; undefined for other quiet reasons. */
export function mutedBy(quietReason: string | null | undefined): string | undefined {
  return /^muted by (\S+)$/.exec(quietReason ?? "")?.[1];
}

const MUTED_UNTIL = "muted until ";

/** Formats the end of the grace period after a cause, for example "muted until 11:36 UTC". */
export function mutedUntilText(untilMs: number): string {
  return `${MUTED_UNTIL}${formatMinute(untilMs).slice(11)} UTC`;
}

/** Returns true if a quiet reason starts with {@link mutedUntilText}. */
export function isMutedUntil(quietReason: string | null): boolean {
  return quietReason?.startsWith(MUTED_UNTIL) === true;
}

interface CausedAlert {
  readonly validator: string;
  readonly name: string;
  readonly quiet: string | null | undefined;
}

/** An alert together with the muted alerts that it causes, directly or through other alerts. */
export interface CauseGroup<T> {
  readonly alert: T;
  readonly consequences: readonly T[];
}

function keyOf(validator: string, name: string): string {
  return `${name} ${validator}`;
}

/** Groups muted alerts under their causes. An alert whose cause is not in `alerts` forms its own group. The alerts' order is preserved. */
export function underCauses<T>(
  alerts: readonly T[],
  read: (alert: T) => CausedAlert,
): readonly CauseGroup<T>[] {
  const byKey = new Map(
    alerts.map((alert) => {
      const { validator, name } = read(alert);
      return [keyOf(validator, name), alert] as const;
    }),
  );
  const rootOf = (alert: T): T => {
    const passed = new Set([alert]);
    for (const one of passed) {
      const { validator, quiet } = read(one);
      const cause = mutedBy(quiet);
      const next = cause === undefined ? undefined : byKey.get(keyOf(validator, cause));
      if (next === undefined) return one;
      // Stop at a cycle: alerts that mute each other form separate groups.
      if (passed.has(next)) return alert;
      passed.add(next);
    }
    return alert;
  };
  const groups = new Map<T, T[]>();
  for (const alert of alerts) if (rootOf(alert) === alert) groups.set(alert, []);
  for (const alert of alerts) if (!groups.has(alert)) groups.get(rootOf(alert))?.push(alert);
  return [...groups].map(([alert, consequences]) => ({ alert, consequences }));
}

/** Lists an alert's consequences, as in "also: sidecar slow, prices missing (muted)". Returns an empty string if the list is empty. */
export function consequencesText(
  consequences: readonly { readonly title: string; readonly state: string }[],
): string {
  const parts = ["firing", "pending", "resolved"].flatMap((state) => {
    const titles = consequences.filter((one) => one.state === state).map(({ title }) => title);
    return titles.length === 0 ? [] : [`${titles.join(", ")} (${state === "firing" ? "muted" : state})`];
  });
  return parts.length === 0 ? "" : `also: ${parts.join("; ")}`;
}
