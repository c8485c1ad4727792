import { fromUtf8, utf8 } from "../../../src/platform/base/bytes.ts";
import type { IBCModule } from "../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";

const FORWARD = /"memo":"{\\"forward\\"/;
/** The acknowledgement in the recorded transaction 170: what the module of packet forwarding replied to the memo of a packet. */
const REPLY =
  '{"error":"packet-forward-middleware error: port ID (transfer) channel ID (channel-9): channel not found: insufficient funds"}';

/** Stands in for the module of packet forwarding, which this chain does not have, so that what follows its reply is as recorded. */
export function replyToForwarding(inner: IBCModule): IBCModule {
  return {
    ...inner,
    onReceive: (context, packet) =>
      FORWARD.test(fromUtf8(packet.data))
        ? { success: false, bytes: utf8(REPLY) }
        : inner.onReceive(context, packet),
  };
}
