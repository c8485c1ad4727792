import { InvalidArgumentError } from "commander";
import type { JsonObject } from "../../platform/base/json.ts";
import { parseUint64 } from "../../platform/cli/options.ts";
import type { FieldWords } from "./command-inputs.ts";

/** A channel on the chain to which the command connects. */
export const CHANNEL_WORDS: FieldWords = [
  "<channel> channel of this chain, e.g. channel-0",
  numbered("channel", "channel-0"),
];

/** Returns a parser for ids that contain a number. */
export function numbered(kind: string, example: string): (text: string) => string {
  const pattern = new RegExp(`^${kind}-\\d{1,20}$`);
  return (text) => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(`an id such as ${example} was expected`);
  };
}

/** Parses a height as ibc-go prints it: "1-5000". */
export function parseHeight(text: string): {
  readonly revisionNumber: bigint;
  readonly revisionHeight: bigint;
} {
  const [, revision, height] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  if (revision === undefined || height === undefined)
    throw new InvalidArgumentError("a revision and a height such as 1-5000 were expected");
  return { revisionNumber: parseUint64(revision), revisionHeight: parseUint64(height) };
}

const DEFAULT_TIMEOUT_MS = 600_000;

/** Returns a transfer's timeouts. A default timeout time is set unless only a height is given. */
export function timeoutFields(
  given: { readonly timeout?: number; readonly timeoutHeight?: JsonObject },
  nowMs: number,
): JsonObject {
  const { timeout, timeoutHeight } = given;
  if (timeout === undefined && timeoutHeight !== undefined)
    return { timeout_height: timeoutHeight, timeout_timestamp: "0" };
  return {
    ...(timeoutHeight === undefined ? {} : { timeout_height: timeoutHeight }),
    timeout_timestamp: `${Math.round(nowMs + (timeout ?? DEFAULT_TIMEOUT_MS))}000000`,
  };
}
