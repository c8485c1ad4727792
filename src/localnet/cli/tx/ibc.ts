import { Command, InvalidArgumentError, Option } from "commander";
import { revisionOfChainId } from "../../../cosmos/comet/ibc-height.ts";
import { createTrustFinder, headerAny } from "../../../cosmos/light-client/client-update.ts";
import { createLightClientQueries } from "../../../cosmos/light-client/client-queries.ts";
import { Any } from "../../../cosmos/proto/gen/google/protobuf/any.ts";
import { MsgUpdateClient } from "../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { fromBase64, toBase64 } from "../../../platform/base/bytes.ts";
import { systemClock } from "../../../platform/base/clock.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { portsAt } from "../../../platform/base/localnet-defaults.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { withChain } from "../chain-connection.ts";
import { type ConnectionOptions, parseNodeUrl } from "../connection-options.ts";
import { type Fields, textOf, type FieldWords, isJsonObject } from "../command-inputs.ts";
import { message, messageCommands, type MessageGroup, messageCommand } from "../module-tx.ts";
import { parseDuration, parseUint64 } from "../../../platform/cli/options.ts";

/** `relaywatch tx ibc`: sends the IBC messages that users need. All other IBC messages come from relayers. */
export function txIbcCommand(context: CliContext): Command {
  const client = messageCommands(clientMessages(context))(context);
  const channel = messageCommands(CHANNEL_MESSAGES)(context);
  return new Command()
    .addCommand(client.name("client").description("light clients of other chains"))
    .addCommand(channel.name("channel").description("channels to other chains"));
}

function clientMessages(context: CliContext): MessageGroup {
  return {
    service: "ibc.core.client.v1.Msg",
    fields: {
      client_id: ["<client> light client, e.g. 07-tendermint-0", numbered("[a-z0-9-]+", "07-tendermint-0")],
    },
    messages: {
      update: message("UpdateClient", "update a light client with its chain's newest header", {
        takes: ["client_id"],
        options: {
          node: [
            "--counterparty-node <url>",
            "CometBFT RPC URL of the client's chain; default: remote-1 in the localnet on this machine",
            parseNodeUrl,
          ],
        },
        complete: async ({ client_id, node }, options) => ({
          client_id,
          client_message: await newestHeader({ clientId: textOf(client_id), node }, options, context),
        }),
        encode: encodeUpdate,
      }),
    },
  };
}

/** Encodes MsgUpdateClient. The field `client_message` is the header as a base64 Any, whose bytes are copied unchanged. */
function encodeUpdate({ client_id, client_message, signer }: JsonObject): Uint8Array {
  return MsgUpdateClient.encode({
    clientId: textOf(client_id),
    clientMessage: Any.decode(fromBase64(textOf(client_message))),
    signer: textOf(signer),
  }).finish();
}

/** Returns the newest header of the chain that the client tracks, with the validators that the client trusts, as a base64 Any. */
function newestHeader(
  { clientId, node }: { readonly clientId: string; readonly node: Fields[string] },
  options: ConnectionOptions,
  context: CliContext,
): Promise<string> {
  const remoteNode =
    typeof node === "string" ? node : `http://127.0.0.1:${portsAt(options.portOffset).remoteRpc}`;
  const { signal } = context;
  return withChain(options, context, async (own) => {
    const local = createLightClientQueries(own);
    const client = await local.clientState(clientId, signal);
    const { chainId } = client;
    return withChain({ ...options, node: remoteNode, chainId }, context, async (remote) => {
      const target = await remote.lightBlock(0n, signal);
      const at = { revision: revisionOfChainId(chainId), height: target.height };
      const finder = createTrustFinder({ local, remote, localTimeMs: systemClock.nowMs }, client, signal);
      return toBase64(Any.encode(headerAny(target, await finder.below(at))).finish());
    });
  });
}

/** A channel on the chain to which this command connects. */
const CHANNEL_WORDS: FieldWords = [
  "<channel> channel on this chain, e.g. channel-0",
  numbered("channel", "channel-0"),
];

const CHANNEL_MESSAGES: MessageGroup = {
  service: "ibc.core.channel.v1.Msg",
  fields: { channel_id: CHANNEL_WORDS, connection_hops: connectionWords() },
  messages: {
    "open-init": message("ChannelOpenInit", "start opening a channel; a relayer completes it", {
      takes: ["port_id", "channel.connection_hops"],
      options: {
        "channel.counterparty.port_id": [
          "--counterparty-port <port>",
          "port on the other chain; default: the same name as here",
        ],
        ordered: ["--ordered", "deliver packets in order; a timeout then closes the channel"],
        "channel.version": [
          "--channel-version <version>",
          "application version; default: ics20-1 for transfers",
        ],
      },
      complete: ({ ordered, ...given }) => ({
        "channel.counterparty.port_id": given["port_id"],
        // As on the deployed chain, the version is empty for ports other than `transfer`, although the counterparty will reject the
        // channel.
        "channel.version": given["port_id"] === "transfer" ? "ics20-1" : "",
        ...given,
        "channel.state": "STATE_INIT",
        "channel.ordering": ordered === true ? "ORDER_ORDERED" : "ORDER_UNORDERED",
      }),
      prints: { channel: "channel_id", version: "version" },
    }),
    "close-init": message("ChannelCloseInit", "close a channel, if its port's application allows it", {
      note: "\nUsers cannot close transfer channels.",
    }),
  },
};

/** Parses a connection id into a list with one element, because `connection_hops` is a list. */
function connectionWords() {
  const parse = numbered("connection", "connection-0");
  return [
    "<connection> connection on this chain, e.g. connection-0",
    (text: string) => [parse(text)],
  ] as const;
}

/** Returns a parser for ids that end in a number, such as "channel-0". */
function numbered(kind: string, example: string): (text: string) => string {
  const pattern = new RegExp(`^${kind}-\\d{1,20}$`);
  return (text) => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(`expected an id, e.g. ${example}`);
  };
}

/** Parses a height in ibc-go's format, such as "1-5000" for revision 1 and height 5000. */
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

/** Returns the JSON fields for a transfer's timeout height and time. By default, the transfer times out after 10 minutes. */
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

/** `relaywatch tx ibc-transfer`, with the same names and arguments as ibc-go. */
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

/**
 * `relaywatch tx transfer`: like `tx ibc-transfer transfer` without the port argument, because the port is almost always
 * `transfer`.
 */
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
