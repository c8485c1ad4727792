/** Extracts the name of the alert that mutes another from the latter's quiet reason. Undefined for any other quiet reason. */
export function mutedBy(quietReason: string | null | undefined): string | undefined {
  return /^muted by (\S+)$/.exec(quietReason ?? "")?.[1];
}

/** The fields of an alert that {@link underCauses} reads. */
interface CausedAlert {
  readonly validator: string;
  readonly name: string;
  readonly quiet: string | null | undefined;
}

/** An alert together with the muted alerts that it causes, directly or through others. */
export interface CauseGroup<T> {
  readonly alert: T;
  readonly consequences: readonly T[];
}

function keyOf(validator: string, name: string): string {
  return `${name} ${validator}`;
}

/** Groups muted alerts under their causes. An alert whose cause is not in the list forms its own group. Preserves the order. */
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
      // Iterating a set also visits elements added during the iteration. Alerts that mute each other are separate groups.
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

/** "also: sidecar slow, prices missing (muted); grpc closed (pending)"; empty without consequences. */
export function consequencesText(
  consequences: readonly { readonly title: string; readonly state: string }[],
): string {
  const parts = ["firing", "pending", "resolved"].flatMap((state) => {
    const titles = consequences.filter((one) => one.state === state).map(({ title }) => title);
    return titles.length === 0 ? [] : [`${titles.join(", ")} (${state === "firing" ? "muted" : state})`];
  });
  return parts.length === 0 ? "" : `also: ${parts.join("; ")}`;
}
