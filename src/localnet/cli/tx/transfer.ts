import { InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../../platform/base/clock.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { parseDuration, parseUint64 } from "../../../platform/cli/options.ts";
import { type Fields, type FieldWords, isJsonObject } from "../command-inputs.ts";
import { message, messageCommand, messageCommands, type MessageGroup } from "../module-tx.ts";

/** A channel on the chain to which the command connects. */
export const CHANNEL_WORDS: FieldWords = [
  "<channel> channel on this chain, e.g. channel-0",
  numbered("channel", "channel-0"),
];

/** Returns a parser for ids that contain a number. */
export function numbered(kind: string, example: string): (text: string) => string {
  const pattern = new RegExp(`^${kind}-\\d{1,20}$`);
  return (text) => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(`expected an id, e.g. ${example}`);
  };
}

/** Parses a height as ibc-go prints it: "1-5000". */
export function parseHeight(text: string): {
  readonly revisionNumber: bigint;
  readonly revisionHeight: bigint;
} {
  const [, revision, height] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  if (revision === undefined || height === undefined)
    throw new InvalidArgumentError("expected a revision and a height, e.g. 1-5000");
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

const TRANSFER = {
  complete: ({ timeout, timeout_height: height, ...rest }: Fields): Fields => {
    const time = typeof timeout === "number" ? { timeout } : {};
    const given = { ...time, ...(isJsonObject(height) ? { timeoutHeight: height } : {}) };
    return { ...rest, ...timeoutFields(given, systemClock.nowMs()) };
  },
  note: `
The transaction only sends the packet. A relayer relays it; on a localnet, the IBC relayer does (localnet start --ibc-relayer).
"relaywatch query ibc channel packet-commitments PORT CHANNEL" lists the packets in flight.
With --timeout-height but without --timeout, only the height applies.`,
  prints: { packet: "sequence" },
};

const TRANSFER_OPTIONS = {
  timeout: [
    "--timeout <duration>",
    "refund the coins if the other chain does not receive them within this time; default: 10m",
    parseDuration,
  ],
  timeout_height: [
    "--timeout-height <height>",
    "refund the coins if the other chain does not receive them before this height, e.g. 1-5000",
    parseTimeoutHeight,
  ],
  memo: () => new Option("--memo <text>", "memo for the receiver").default(""),
} as const;

const GROUP = {
  service: "ibc.applications.transfer.v1.Msg",
  fields: {
    source_port: "<port> port, e.g. transfer",
    source_channel: CHANNEL_WORDS,
    receiver: "<receiver> address on the other chain",
    token: "<amount> amount with denomination, e.g. 1000000untrn",
  },
} as const;

/** `relaywatch tx ibc-transfer`. Uses the same names and arguments as ibc-go. */
export const txIbcTransferCommand = messageCommands({
  ...GROUP,
  messages: {
    transfer: message("Transfer", "send coins to an account on another chain", {
      ...TRANSFER,
      takes: ["source_port", "source_channel", "receiver", "token"],
      options: TRANSFER_OPTIONS,
    }),
  },
});

const SHORT: MessageGroup = {
  ...GROUP,
  messages: {
    transfer: message("Transfer", "send coins to an account on another chain", {
      ...TRANSFER,
      takes: ["source_channel", "receiver", "token"],
      options: {
        ...TRANSFER_OPTIONS,
        source_port: () => new Option("--port <port>", "the channel's port").default("transfer"),
      },
    }),
  },
};

/** `relaywatch tx transfer`: the same command without the port, which is almost always `transfer`. */
export function txTransferCommand(context: CliContext): ReturnType<typeof messageCommand> {
  return messageCommand(SHORT, "transfer", context);
}

function parseTimeoutHeight(text: string): JsonObject {
  const height = parseHeight(text);
  if (height.revisionHeight === 0n) throw new InvalidArgumentError("expected a height above 0");
  return {
    revision_number: height.revisionNumber.toString(),
    revision_height: height.revisionHeight.toString(),
  };
}
