import type { Params } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/tx.ts";
import type { Context } from "../../../runtime/context.ts";
import type { MessageHandler } from "../../../runtime/module.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { setConnectionParams, validateConnectionParams } from "../params.ts";
import { requireAuthority, requireSigner, signedHandler } from "../signed-message.ts";
import type { IbcOptions } from "../types.ts";
import { openAck, openConfirm, openInit, openTry } from "./handshake.ts";
import { validateOpenAck, validateOpenConfirm, validateOpenInit, validateOpenTry } from "./messages.ts";

const CONNECTION = "/ibc.core.connection.v1.";

/** Handlers of the messages of `ibc.core.connection.v1`. */
export function connectionHandlers({ bech32Prefix, authority }: IbcOptions): readonly MessageHandler[] {
  return [
    signedHandler(`${CONNECTION}MsgConnectionOpenInit`, wire.MsgConnectionOpenInit, {
      validate: (message) => validateOpenInit(message, bech32Prefix),
      handle: step("open init", openInit),
    }),
    signedHandler(`${CONNECTION}MsgConnectionOpenTry`, wire.MsgConnectionOpenTry, {
      packed: ({ clientState }) => [["ClientState", clientState]],
      validate: (message) => validateOpenTry(message, bech32Prefix),
      handle: step("open try", openTry),
    }),
    signedHandler(`${CONNECTION}MsgConnectionOpenAck`, wire.MsgConnectionOpenAck, {
      packed: ({ clientState }) => [["ClientState", clientState]],
      validate: (message) => validateOpenAck(message, bech32Prefix),
      handle: step("open ack", openAck),
    }),
    signedHandler(`${CONNECTION}MsgConnectionOpenConfirm`, wire.MsgConnectionOpenConfirm, {
      validate: (message) => validateOpenConfirm(message, bech32Prefix),
      handle: step("open confirm", openConfirm),
    }),
    signedHandler(`${CONNECTION}MsgUpdateParams`, wire.MsgUpdateParams, {
      validate: (message) => {
        requireSigner(bech32Prefix, message);
        validateConnectionParams(paramsIn(message));
      },
      handle: (context, message) => {
        requireAuthority(authority, message);
        setConnectionParams(context, paramsIn(message));
      },
    }),
  ];
}

/** Returns the params of a message. Absent params are zero, as in Go. */
function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return params ?? { maxExpectedTimePerBlock: 0n };
}

/** Names the step of the handshake in its errors. */
function step<T>(name: string, handle: (context: Context, message: T) => void) {
  return (context: Context, message: T): void =>
    wrapErrors(
      (error) => error.wrap(`connection handshake ${name} failed`),
      () => handle(context, message),
    );
}
