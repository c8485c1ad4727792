import type { Context } from "./context.ts";

/** One attribute of an event. `index`: whether the node indexes it (always true for SDK events). */
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

/** Returns the context with another list of events. Its branches use the list too, once their work has succeeded. */
export function collectEvents(context: Context, events: ChainEvent[]): Context {
  return {
    ...context,
    emit: (each) => {
      events.push(each);
    },
    atomically: (work) =>
      context.atomically((inner) => {
        const pending: ChainEvent[] = [];
        const result = work(collectEvents(inner, pending));
        events.push(...pending);
        return result;
      }),
    withGas: (gas) => collectEvents(context.withGas(gas), events),
  };
}
