import { Argument, InvalidArgumentError } from "commander";
import type { JsonObject } from "../../../../../platform/base/json.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";

/** The argument `<port>`. */
export function portArgument(description = "port, e.g. transfer"): Argument {
  return new Argument("<port>", description);
}

/** The argument `<channel>` of the chain that the command connects to. */
export function channelArgument(): Argument {
  return new Argument("<channel>", "channel of this chain, e.g. channel-0").argParser(
    numbered("channel", "channel-0"),
  );
}

/** The argument `<connection>`. */
export function connectionArgument(): Argument {
  return new Argument("<connection>", "connection of this chain, e.g. connection-0").argParser(
    numbered("connection", "connection-0"),
  );
}

/** The argument `<client>`. */
export function clientArgument(): Argument {
  return new Argument("<client>", "light client, e.g. 07-tendermint-0").argParser(
    numbered("[a-z0-9-]+", "07-tendermint-0"),
  );
}

function numbered(kind: string, example: string): (text: string) => string {
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

/** Returns the timeouts of a transfer: the time is set by default, but not beside a height alone. */
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

/** The argument `<sequence...>`: numbers of packets. */
export function sequencesArgument(): Argument {
  return new Argument("<sequence...>", "numbers of packets").argParser(
    (text: string, previous: readonly string[] | undefined) => [
      ...(previous ?? []),
      parseUint64(text).toString(),
    ],
  );
}
