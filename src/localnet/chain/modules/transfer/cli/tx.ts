import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../../../../platform/base/clock.ts";
import type { JsonObject } from "../../../../../platform/base/json.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { channelArgument, parseHeight, portArgument, timeoutFields } from "../../ibc/cli/arguments.ts";
import { sendJsonMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import { parseDuration } from "../../../../../platform/cli/options.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import { coinArgument } from "../../staking/cli/arguments.ts";

interface TransferOptions extends TxOptions {
  readonly port: string;
  readonly memo: string;
  readonly timeout?: number;
  readonly timeoutHeight?: JsonObject;
}

const TRANSFER = "send coins to an account of another chain";
const TRANSFER_PORT = "transfer";

/** `relaywatch tx ibc-transfer`. Names and arguments are those of ibc-go. */
export function txIbcTransferCommand(context: CliContext): Command {
  return new Command().addCommand(
    transferOptions(txMessageCommand("transfer", TRANSFER).addArgument(portArgument()))
      .addArgument(channelArgument())
      .addArgument(receiverArgument())
      .addArgument(coinArgument())
      .action((...words: readonly [string, string, string, JsonObject, TransferOptions]) => {
        const [port, channel, receiver, coin, options] = words;
        return transfer({ port, channel, receiver, coin }, options, context);
      }),
  );
}

/** `relaywatch tx transfer`: the same without the port, which is almost always `transfer`. */
export function txTransferCommand(context: CliContext): Command {
  return transferOptions(txMessageCommand("transfer", TRANSFER))
    .addArgument(channelArgument())
    .addArgument(receiverArgument())
    .addArgument(coinArgument())
    .option("--port <port>", "port of the channel", TRANSFER_PORT)
    .action((channel: string, receiver: string, coin: JsonObject, options: TransferOptions) =>
      transfer({ port: options.port, channel, receiver, coin }, options, context),
    );
}

function receiverArgument(): Argument {
  return new Argument("<receiver>", "address on the other chain");
}

function transferOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--timeout <duration>",
        "the coins come back when the other chain did not receive them within this time; default: 10m",
      ).argParser(parseDuration),
    )
    .addOption(
      new Option(
        "--timeout-height <height>",
        "the coins come back when the other chain did not receive them before this height, e.g. 1-5000",
      ).argParser(parseTimeoutHeight),
    )
    .option("--memo <text>", "text for the receiver", "")
    .addHelpText(
      "after",
      `
The transaction only sends the packet. A relayer relays it; on a localnet the IBC relayer (localnet start --ibc-relayer).
"relaywatch query ibc channel packet-commitments PORT CHANNEL" lists the packets in flight.
With --timeout-height and without --timeout, only the height counts.`,
    );
}

function parseTimeoutHeight(text: string): JsonObject {
  const height = parseHeight(text);
  if (height.revisionHeight === 0n) throw new InvalidArgumentError("a height above 0 was expected");
  return {
    revision_number: height.revisionNumber.toString(),
    revision_height: height.revisionHeight.toString(),
  };
}

interface Transfer {
  readonly port: string;
  readonly channel: string;
  readonly receiver: string;
  readonly coin: JsonObject;
}

function transfer(
  { port, channel, receiver, coin }: Transfer,
  options: TransferOptions,
  context: CliContext,
): Promise<void> {
  const { memo } = options;
  return sendJsonMessage(
    {
      type: TYPE_URL.transfer.slice(1),
      fields: (sender) => ({
        source_port: port,
        source_channel: channel,
        token: coin,
        sender,
        receiver,
        ...timeoutFields(options, systemClock.nowMs()),
        memo,
      }),
      printed: [["packet", "sequence"]],
    },
    options,
    context,
  );
}
