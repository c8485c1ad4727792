import * as wire from "../../../proto/gen/ibc/core/client/v1/tx.ts";
import * as connectionWire from "../../../proto/gen/ibc/core/connection/v1/tx.ts";
import type { Context } from "../../runtime/context.ts";
import { toMessageHandler, type WireType } from "../../runtime/handler-forms.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { createClient } from "./client/create-client.ts";
import { recoverClient } from "./client/recover-client.ts";
import { updateClient } from "./client/update-client.ts";
import { ErrNotSupported } from "../../runtime/sdk-errors.ts";
import { ErrIbcUnauthorized } from "./errors.ts";
import {
  validateCreateClient,
  validateRecoverClient,
  validateSubmitMisbehaviour,
  validateUpdateClient,
} from "./messages.ts";
import { verifyingBlock } from "./tendermint/verify-header.ts";
import { setClientParams, setConnectionParams } from "./params.ts";

export interface IbcOptions {
  readonly bech32Prefix: string;
  /** Address that may change params and recover clients, bech32. */
  readonly authority: string;
}

const CLIENT = "/ibc.core.client.v1.";
const CONNECTION = "/ibc.core.connection.v1.";

/**
 * Handlers of all messages of IBC clients and connections. Handshake messages fail: connections are opened in genesis.
 */
export function createMessageHandlers(options: IbcOptions): readonly MessageHandler[] {
  const { bech32Prefix } = options;
  return [
    handler(`${CLIENT}MsgCreateClient`, wire.MsgCreateClient, (context, message) => {
      validateCreateClient(message, bech32Prefix);
      // The response of ibc-go 8 is empty; relayers read the new client's id from the event.
      createClient(context, message.clientState, message.consensusState);
    }),
    handler(`${CLIENT}MsgUpdateClient`, wire.MsgUpdateClient, (context, message) => {
      validateUpdateClient(message, bech32Prefix, verifyingBlock(context));
      updateClient(context, message.clientId, message.clientMessage);
    }),
    handler(`${CLIENT}MsgSubmitMisbehaviour`, wire.MsgSubmitMisbehaviour, (context, message) => {
      validateSubmitMisbehaviour(message, bech32Prefix, verifyingBlock(context));
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
    unsupported(`${CLIENT}MsgUpgradeClient`, wire.MsgUpgradeClient),
    unsupported(`${CLIENT}MsgIBCSoftwareUpgrade`, wire.MsgIBCSoftwareUpgrade),
    unsupported(`${CONNECTION}MsgConnectionOpenInit`, connectionWire.MsgConnectionOpenInit),
    unsupported(`${CONNECTION}MsgConnectionOpenTry`, connectionWire.MsgConnectionOpenTry),
    unsupported(`${CONNECTION}MsgConnectionOpenAck`, connectionWire.MsgConnectionOpenAck),
    unsupported(`${CONNECTION}MsgConnectionOpenConfirm`, connectionWire.MsgConnectionOpenConfirm),
  ];
}

function handler<T extends { readonly signer: string }>(
  typeUrl: string,
  type: WireType<T>,
  handle: (context: Context, message: T) => void,
): MessageHandler {
  return toMessageHandler({ typeUrl, type, signers: ({ signer }) => [signer], handle });
}

/** Creates the handler of a message that ibc-go supports and this chain does not. It always fails. */
function unsupported<T extends { readonly signer: string }>(
  typeUrl: string,
  type: WireType<T>,
): MessageHandler {
  return handler(typeUrl, type, () => {
    throw ErrNotSupported(`${typeUrl} is not implemented: connections are opened in genesis`);
  });
}

function requireAuthority({ authority }: IbcOptions, signer: string): void {
  if (signer !== authority) throw ErrIbcUnauthorized(`expected ${authority}, got ${signer}`);
}
