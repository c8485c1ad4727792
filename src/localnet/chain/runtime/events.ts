/** An event attribute. `index` specifies whether the node indexes it (always true for SDK events). */
interface EventAttribute {
  readonly key: string;
  readonly value: string;
  readonly index: boolean;
}

export interface ChainEvent {
  readonly type: string;
  readonly attributes: readonly EventAttribute[];
}

/** Creates an indexed attribute. */
export function attribute(key: string, value: string): EventAttribute {
  return { key, value, index: true };
}

/** Creates an event. All attributes are indexed and keep their order; an undefined value is left out. */
export function event(
  type: string,
  attributes:
    | Readonly<Record<string, string | undefined>>
    | readonly (readonly [key: string, value: string])[],
): ChainEvent {
  const entries = Array.isArray(attributes) ? attributes : Object.entries(attributes);
  const given: EventAttribute[] = [];
  for (const [key, value] of entries) if (value !== undefined) given.push(attribute(key, value));
  return { type, attributes: given };
}
