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

/** Creates an event. All attributes are indexed and keep their order. */
export function event(
  type: string,
  attributes: readonly (readonly [key: string, value: string])[],
): ChainEvent {
  return { type, attributes: attributes.map(([key, value]) => attribute(key, value)) };
}
