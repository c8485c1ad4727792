import { InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../../platform/base/clock.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { parseDuration } from "../../../platform/cli/options.ts";
import { type Fields, isJsonObject } from "../command-inputs.ts";
import { message, messageCommand, messageCommands, type MessageGroup } from "../module-tx.ts";
import { CHANNEL_WORDS, parseHeight, timeoutFields } from "../ibc-arguments.ts";

const TRANSFER = {
  complete: ({ timeout, timeout_height: height, ...rest }: Fields): Fields => {
    const time = typeof timeout === "number" ? { timeout } : {};
    const given = { ...time, ...(isJsonObject(height) ? { timeoutHeight: height } : {}) };
    return { ...rest, ...timeoutFields(given, systemClock.nowMs()) };
  },
  note: `
The transaction only sends the packet. A relayer relays it; on a localnet, the IBC relayer does (localnet start --ibc-relayer).
"relaywatch query ibc channel packet-commitments PORT CHANNEL" lists the packets in flight.
With --timeout-height and without --timeout, only the height counts.`,
  prints: { packet: "sequence" },
};

const TRANSFER_OPTIONS = {
  timeout: [
    "--timeout <duration>",
    "the coins come back if the other chain does not receive them within this time; default: 10m",
    parseDuration,
  ],
  timeout_height: [
    "--timeout-height <height>",
    "the coins come back if the other chain does not receive them before this height, e.g. 1-5000",
    parseTimeoutHeight,
  ],
  memo: () => new Option("--memo <text>", "text for the receiver").default(""),
} as const;

const GROUP = {
  service: "ibc.applications.transfer.v1.Msg",
  fields: {
    source_port: "<port> port, e.g. transfer",
    source_channel: CHANNEL_WORDS,
    receiver: "<receiver> address on the other chain",
    token: "<amount> amount with its denomination: 1000000untrn",
  },
} as const;

/** `relaywatch tx ibc-transfer`. Uses the same names and arguments as ibc-go. */
export const txIbcTransferCommand = messageCommands({
  ...GROUP,
  messages: {
    transfer: message("Transfer", "send coins to an account of another chain", {
      ...TRANSFER,
      takes: ["source_port", "source_channel", "receiver", "token"],
      options: TRANSFER_OPTIONS,
    }),
  },
});

const SHORT: MessageGroup = {
  ...GROUP,
  messages: {
    transfer: message("Transfer", "send coins to an account of another chain", {
      ...TRANSFER,
      takes: ["source_channel", "receiver", "token"],
      options: {
        ...TRANSFER_OPTIONS,
        source_port: () => new Option("--port <port>", "port of the channel").default("transfer"),
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
  if (height.revisionHeight === 0n) throw new InvalidArgumentError("a height above 0 was expected");
  return {
    revision_number: height.revisionNumber.toString(),
    revision_height: height.revisionHeight.toString(),
  };
}
