import { Command, Option } from "commander";
import { portsAt } from "../../../../../platform/base/localnet-defaults.ts";
import { systemClock } from "../../../../../platform/base/clock.ts";
import { revisionOfChainId } from "../../../../../cosmos/comet/ibc-height.ts";
import { createTrustFinder, headerAny } from "../../../../../cosmos/light-client/client-update.ts";
import { createLightClientQueries } from "../../../../../cosmos/light-client/client-queries.ts";
import { MsgUpdateClient } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import { parseNodeUrl, withChain } from "../../../../cli/chain-connection.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { channelArgument, clientArgument, connectionArgument, portArgument } from "./arguments.ts";
import { sendJsonMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import { sendMessage } from "../../../../cli/send-message.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";

const CHANNEL_PACKAGE = "ibc.core.channel.v1";

/** `relaywatch tx ibc`: the steps of IBC that people take by hand. A relayer takes the others. */
export function txIbcCommand(context: CliContext): Command {
  const client = new Command("client").description("light clients of other chains");
  const channel = new Command("channel").description("channels to other chains");
  return new Command()
    .addCommand(client.addCommand(updateClientCommand(context)))
    .addCommand(channel.addCommand(openInitCommand(context)).addCommand(closeInitCommand(context)));
}

interface UpdateOptions extends TxOptions {
  readonly counterpartyNode?: string;
}

function updateClientCommand(context: CliContext): Command {
  return txMessageCommand("update", "give a light client the newest header of its chain")
    .addArgument(clientArgument())
    .addOption(
      new Option(
        "--counterparty-node <url>",
        "CometBFT RPC of the chain of the client; default: remote-1 of the localnet on this machine",
      ).argParser(parseNodeUrl),
    )
    .action(async (clientId: string, options: UpdateOptions) => {
      const clientMessage = await newestHeader(clientId, options, context);
      await sendMessage(
        {
          typeUrl: TYPE_URL.updateClient,
          encode: (signer) => MsgUpdateClient.encode({ clientId, clientMessage, signer }).finish(),
        },
        options,
        context,
      );
    });
}

/** Reads the newest header of the client's chain, with the validators that the client trusts. */
function newestHeader(
  clientId: string,
  options: UpdateOptions,
  context: CliContext,
): Promise<ReturnType<typeof headerAny>> {
  const { portOffset, counterpartyNode } = options;
  const node = counterpartyNode ?? `http://127.0.0.1:${portsAt(portOffset).remoteRpc}`;
  const { signal } = context;
  return withChain(options, context, async (own) => {
    const local = createLightClientQueries(own);
    const client = await local.clientState(clientId, signal);
    return withChain({ ...options, node, chainId: client.chainId }, context, async (remote) => {
      const target = await remote.lightBlock(0n, signal);
      const at = { revision: revisionOfChainId(client.chainId), height: target.height };
      const finder = createTrustFinder({ local, remote, clock: systemClock }, client, signal);
      return headerAny(target, await finder.below(at));
    });
  });
}

interface OpenOptions extends TxOptions {
  readonly ordered?: true;
  readonly channelVersion?: string;
  readonly counterpartyPort?: string;
}

function openInitCommand(context: CliContext): Command {
  return txMessageCommand("open-init", "begin to open a channel; a relayer takes the further steps")
    .addArgument(portArgument())
    .addArgument(connectionArgument())
    .option("--counterparty-port <port>", "port on the other chain; default: the same")
    .option("--ordered", "packets arrive in order, and a timeout closes the channel")
    .option("--channel-version <version>", "version of the application; default: ics20-1 for transfers")
    .action((port: string, connection: string, options: OpenOptions) =>
      sendJsonMessage(
        {
          type: `${CHANNEL_PACKAGE}.MsgChannelOpenInit`,
          fields: (signer) => ({
            port_id: port,
            channel: {
              state: "STATE_INIT",
              ordering: options.ordered ? "ORDER_ORDERED" : "ORDER_UNORDERED",
              counterparty: { port_id: options.counterpartyPort ?? port, channel_id: "" },
              connection_hops: [connection],
              // As on the deployed chain, an empty version stays empty, and the other chain refuses it.
              version: options.channelVersion ?? (port === "transfer" ? "ics20-1" : ""),
            },
            signer,
          }),
          printed: [
            ["channel", "channel_id"],
            ["version", "version"],
          ],
        },
        options,
        context,
      ),
    );
}

function closeInitCommand(context: CliContext): Command {
  return txMessageCommand("close-init", "close a channel; the application of its port must allow it")
    .addArgument(portArgument())
    .addArgument(channelArgument())
    .addHelpText("after", "\nChannels of transfers cannot be closed by their users.")
    .action((port: string, channel: string, options: TxOptions) =>
      sendJsonMessage(
        {
          type: `${CHANNEL_PACKAGE}.MsgChannelCloseInit`,
          fields: (signer) => ({ port_id: port, channel_id: channel, signer }),
        },
        options,
        context,
      ),
    );
}
