import type { Context } from "./context.ts";
import type { ChainEvent } from "./events.ts";

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
