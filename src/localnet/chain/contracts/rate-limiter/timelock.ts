import type { JsonValue } from "../../../../platform/base/json.ts";
import {
  ContractError,
  type ContractResponse,
  type ContractScope,
  NO_RESPONSE,
} from "../../modules/wasm/contract.ts";
import { type QueuedMessage, queuedMessages, timelockDelay } from "./state.ts";

const HOUR = 3_600_000_000_000n;

/** Runs one message; its sender and role were checked when it was queued. */
type RunMessage = (message: JsonValue) => void;

/** Queues the message of a sender with a delay. Returns undefined for a sender without one. */
export function queueMessage(
  scope: ContractScope,
  sender: string,
  message: JsonValue,
): ContractResponse | undefined {
  const delayHours = timelockDelay(sender).get(scope.storage) ?? 0;
  if (delayHours === 0) return undefined;
  const index = scope.transactionIndex();
  if (index === undefined) throw new ContractError("a message with a delay must be sent in a transaction");
  const id = `${scope.height}_${index}`;
  const queue = queuedMessages.get(scope.storage) ?? [];
  queuedMessages.set(scope.storage, [...queue, { message, submittedAt: scope.timeNs, delayHours, id }]);
  return { ...NO_RESPONSE, attributes: [{ key: "message.id", value: id }] };
}

/** Removes all queued messages with an id. An unknown id removes nothing. */
export function removeMessage({ storage }: ContractScope, id: string): void {
  const queue = queuedMessages.get(storage) ?? [];
  queuedMessages.set(
    storage,
    queue.filter((message) => message.id !== id),
  );
}

/**
 * Runs queued messages whose delay is over: those with the given ids, or else the first `count`. A message that is not due
 * goes to the end of the queue. A message that fails is dropped, as in the reference contract.
 */
export function processMessages(
  scope: ContractScope,
  chosen: { readonly ids: readonly string[] | undefined; readonly count: number | undefined },
  run: RunMessage,
): void {
  const queue = queuedMessages.get(scope.storage) ?? [];
  const [taken, left] = takeMessages(queue, chosen);
  const due = taken.filter((message) => isDue(message, scope.timeNs));
  const early = taken.filter((message) => !isDue(message, scope.timeNs));
  queuedMessages.set(scope.storage, [...left, ...early]);
  for (const { message } of due) runOrDrop(() => run(message));
}

function takeMessages(
  queue: readonly QueuedMessage[],
  { ids, count }: { readonly ids: readonly string[] | undefined; readonly count: number | undefined },
): readonly [taken: readonly QueuedMessage[], left: readonly QueuedMessage[]] {
  if (ids !== undefined)
    return [queue.filter(({ id }) => ids.includes(id)), queue.filter(({ id }) => !ids.includes(id))];
  if (count === undefined) throw new ContractError("both count and message_ids are None");
  return [queue.slice(0, count), queue.slice(count)];
}

function isDue({ submittedAt, delayHours }: QueuedMessage, nowNs: bigint): boolean {
  return nowNs >= submittedAt + BigInt(delayHours) * HOUR;
}

function runOrDrop(work: () => void): void {
  try {
    work();
  } catch (error) {
    // Any other exception is a bug of the contract.
    if (!(error instanceof ContractError)) throw error;
  }
}
