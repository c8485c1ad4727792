import * as wire from "../../../proto/gen/ibc/core/client/v1/tx.ts";
import * as connectionWire from "../../../proto/gen/ibc/core/connection/v1/tx.ts";
import type { Context } from "../../runtime/context.ts";
import { toMessageHandler, type WireType } from "../../runtime/handler-forms.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { createClient } from "./client/create-client.ts";
import { recoverClient } from "./client/recover-client.ts";
import { updateClient } from "./client/update-client.ts";
import { ErrIbcUnauthorized, ErrNotImplemented } from "./errors.ts";
import {
  validateCreateClient,
  validateRecoverClient,
  validateSubmitMisbehaviour,
  validateUpdateClient,
} from "./messages.ts";
import { setClientParams, setConnectionParams } from "./params.ts";

/** What the messages need to know of their chain. */
export interface IbcOptions {
  readonly bech32Prefix: string;
  /** Address that may change params and recover clients. */
  readonly authority: string;
}

const CLIENT = "/ibc.core.client.v1.";
const CONNECTION = "/ibc.core.connection.v1.";

/** All messages of IBC clients and connections. Opening a connection by handshake is refused: connections come from genesis. */
export function ibcMessages(options: IbcOptions): readonly MessageHandler[] {
  const { bech32Prefix } = options;
  return [
    handler(`${CLIENT}MsgCreateClient`, wire.MsgCreateClient, (context, message) => {
      validateCreateClient(message, bech32Prefix);
      // ibc-go 8 leaves the new client's id to the event
      createClient(context, message.clientState, message.consensusState);
    }),
    handler(`${CLIENT}MsgUpdateClient`, wire.MsgUpdateClient, (context, message) => {
      validateUpdateClient(message, bech32Prefix);
      updateClient(context, message.clientId, message.clientMessage);
    }),
    handler(`${CLIENT}MsgSubmitMisbehaviour`, wire.MsgSubmitMisbehaviour, (context, message) => {
      validateSubmitMisbehaviour(message, bech32Prefix);
      updateClient(context, message.clientId, message.misbehaviour);
    }),
    handler(`${CLIENT}MsgRecoverClient`, wire.MsgRecoverClient, (context, message) => {
      validateRecoverClient(message, bech32Prefix);
      requireAuthority(options, message.signer);
      recoverClient(context, message.subjectClientId, message.substituteClientId);
    }),
    handler(`${CLIENT}MsgUpdateParams`, wire.MsgUpdateParams, (context, message) => {
      requireAuthority(options, message.signer);
      setClientParams(context, message.params ?? { allowedClients: [] });
    }),
    handler(`${CONNECTION}MsgUpdateParams`, connectionWire.MsgUpdateParams, (context, message) => {
      requireAuthority(options, message.signer);
      setConnectionParams(context, message.params ?? { maxExpectedTimePerBlock: 0n });
    }),
    refused(`${CLIENT}MsgUpgradeClient`, wire.MsgUpgradeClient),
    refused(`${CLIENT}MsgIBCSoftwareUpgrade`, wire.MsgIBCSoftwareUpgrade),
    refused(`${CONNECTION}MsgConnectionOpenInit`, connectionWire.MsgConnectionOpenInit),
    refused(`${CONNECTION}MsgConnectionOpenTry`, connectionWire.MsgConnectionOpenTry),
    refused(`${CONNECTION}MsgConnectionOpenAck`, connectionWire.MsgConnectionOpenAck),
    refused(`${CONNECTION}MsgConnectionOpenConfirm`, connectionWire.MsgConnectionOpenConfirm),
  ];
}

function handler<T extends { readonly signer: string }>(
  typeUrl: string,
  type: WireType<T>,
  handle: (context: Context, message: T) => void,
): MessageHandler {
  return toMessageHandler({ typeUrl, type, signers: ({ signer }) => [signer], handle });
}

/** A message that other chains of the family take and this one does not. */
function refused<T extends { readonly signer: string }>(typeUrl: string, type: WireType<T>): MessageHandler {
  return handler(typeUrl, type, () => {
    throw ErrNotImplemented(`${typeUrl} is not implemented: connections are opened in genesis`);
  });
}

function requireAuthority({ authority }: IbcOptions, signer: string): void {
  if (signer !== authority) throw ErrIbcUnauthorized(`expected ${authority}, got ${signer}`);
}
