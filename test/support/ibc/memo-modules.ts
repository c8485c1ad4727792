import { fromUtf8, utf8 } from "../../../src/platform/base/bytes.ts";
import type { IBCModule } from "../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";

/**
 * The acknowledgements of the recorded transaction 170: what the modules of packet forwarding and of hooks, which this chain does
 * not have, replied to the memos of two packets.
 */
const REPLIES: readonly (readonly [memo: RegExp, reply: string])[] = [
  [
    /"memo":"{\\"forward\\"/,
    '{"error":"packet-forward-middleware error: port ID (transfer) channel ID (channel-9): channel not found: insufficient funds"}',
  ],
  [/"memo":"{\\"wasm\\"/, '{"error":"ABCI code: 6: error handling packet: see events for details"}'],
];

/** Stands in for the two modules, so that what follows their replies is as recorded. */
export function replyToMemos(inner: IBCModule): IBCModule {
  return {
    ...inner,
    onReceive: (context, packet) => {
      const reply = REPLIES.find(([memo]) => memo.test(fromUtf8(packet.data)))?.[1];
      return reply === undefined ? inner.onReceive(context, packet) : { success: false, bytes: utf8(reply) };
    },
  };
}
