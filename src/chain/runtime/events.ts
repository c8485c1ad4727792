/** One attribute of an event; `index` says whether the node indexes it (always true for SDK events). */
interface EventAttribute {
  readonly key: string;
  readonly value: string;
  readonly index: boolean;
}

/** An ABCI event. */
export interface ChainEvent {
  readonly type: string;
  readonly attributes: readonly EventAttribute[];
}

/** An event with indexed attributes, in the order given. */
export function event(
  type: string,
  attributes: readonly (readonly [key: string, value: string])[],
): ChainEvent {
  return { type, attributes: attributes.map(([key, value]) => ({ key, value, index: true })) };
}
