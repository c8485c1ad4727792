import type { Channel } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Context } from "../../../runtime/context.ts";
import type { IbcApplication, PortRouter } from "./ibc-module.ts";
import { getChannel } from "./channel-store.ts";
import { ErrCapabilityNotFound } from "../host/errors.ts";
import type { ChannelEndpoint } from "./packet.ts";

const WORDS = "could not retrieve module from port-id";

// On the deployed chain, an application owns a capability for its port and for each of its channels. The capability exists
// exactly as long as the port is bound and the channel stored, so neither needs a store of its own here.

/** Returns the application of a port. Throws capability/7. */
export function applicationOfPort(router: PortRouter, portId: string): IbcApplication {
  const application = router(portId);
  if (application === undefined) throw ErrCapabilityNotFound(`ports/${portId}`).wrap(WORDS);
  return application;
}

/** Returns a channel with its application. Throws capability/7. */
export function applicationOfChannel(
  context: Context,
  router: PortRouter,
  end: ChannelEndpoint,
): { readonly application: IbcApplication; readonly channel: Channel } {
  const channel = getChannel(context, end);
  const application = router(end.portId);
  if (channel === undefined || application === undefined) {
    const name = `capabilities/ports/${end.portId}/channels/${end.channelId}`;
    throw ErrCapabilityNotFound(name).wrap(WORDS);
  }
  return { application, channel };
}
