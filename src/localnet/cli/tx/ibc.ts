import { Command } from "commander";
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
import { type Fields, textOf } from "../command-inputs.ts";
import { type ConnectionOptions, parseNodeUrl } from "../connection-options.ts";
import { message, messageCommands, type MessageGroup } from "../module-tx.ts";
import { CHANNEL_WORDS, numbered } from "./transfer.ts";

/** `relaywatch tx ibc`: the IBC steps that people take by hand. A relayer takes all other steps. */
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

/** The header is already encoded and is left unchanged. */
function encodeUpdate({ client_id, client_message, signer }: JsonObject): Uint8Array {
  return MsgUpdateClient.encode({
    clientId: textOf(client_id),
    clientMessage: Any.decode(fromBase64(textOf(client_message))),
    signer: textOf(signer),
  }).finish();
}

/** Reads the newest header of the client's chain, including the validators that the client trusts. Returns it as a base64 Any. */
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

const CHANNEL_MESSAGES: MessageGroup = {
  service: "ibc.core.channel.v1.Msg",
  fields: { channel_id: CHANNEL_WORDS, connection_hops: connectionWords() },
  messages: {
    "open-init": message("ChannelOpenInit", "start opening a channel; a relayer takes the remaining steps", {
      takes: ["port_id", "channel.connection_hops"],
      options: {
        "channel.counterparty.port_id": [
          "--counterparty-port <port>",
          "port on the other chain; default: the same",
        ],
        ordered: ["--ordered", "packets arrive in order, and a timeout closes the channel"],
        "channel.version": [
          "--channel-version <version>",
          "application version; default: ics20-1 for transfers",
        ],
      },
      complete: ({ ordered, ...given }) => ({
        "channel.counterparty.port_id": given["port_id"],
        // As on the deployed chain, an empty version stays empty, and the other chain rejects it.
        "channel.version": given["port_id"] === "transfer" ? "ics20-1" : "",
        ...given,
        "channel.state": "STATE_INIT",
        "channel.ordering": ordered === true ? "ORDER_ORDERED" : "ORDER_UNORDERED",
      }),
      prints: { channel: "channel_id", version: "version" },
    }),
    "close-init": message("ChannelCloseInit", "close a channel; the application of its port must allow it", {
      note: "\nUsers cannot close transfer channels.",
    }),
  },
};

/** A channel has one connection. */
function connectionWords() {
  const parse = numbered("connection", "connection-0");
  return [
    "<connection> connection on this chain, e.g. connection-0",
    (text: string) => [parse(text)],
  ] as const;
}
