import type { Context } from "../../runtime/context.ts";
import { listChannels } from "../ibc/channel/channel-store.ts";
import type { IBCModule } from "../ibc/channel/ibc-module.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";
import { escrowAddress } from "../transfer/keeper.ts";
import { PORT_ID } from "../transfer/keys.ts";
import { storeEscrowAddress } from "./keeper.ts";

/** Records the escrow account of each transfer channel when the channel opens, outside of the application `transfer`. */
export function escrowMiddleware(inner: IBCModule): IBCModule {
  return {
    ...inner,
    onOpenAck: (context, channel, version) => {
      inner.onOpenAck(context, channel, version);
      storeEscrow(context, channel);
    },
    onOpenConfirm: (context, channel) => {
      inner.onOpenConfirm(context, channel);
      storeEscrow(context, channel);
    },
  };
}

function storeEscrow(context: Context, channel: ChannelEndpoint): void {
  storeEscrowAddress(context, escrowAddress(channel));
}

/** Records the escrow accounts of the channels that exist before the module: in a genesis, and on a chain that gets the module. */
export function recordEscrows(context: Context): void {
  for (const { portId, channelId } of listChannels(context))
    if (portId === PORT_ID) storeEscrow(context, { portId, channelId });
}
