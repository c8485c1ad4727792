import * as wire from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import type { MessageHandler } from "../../../runtime/module.ts";
import { setClientParams } from "../host/params.ts";
import { requireAuthority, signedHandler, unsupportedHandler } from "../host/handler-forms.ts";
import { verifyingBlock } from "../tendermint/verify-header.ts";
import type { IbcOptions } from "../types.ts";
import { createClient } from "./create-client.ts";
import {
  paramsIn,
  validateCreateClient,
  validateRecoverClient,
  validateSubmitMisbehaviour,
  validateUpdateClient,
  validateUpdateParams,
  validateUpgradeClient,
} from "./messages.ts";
import { recoverClient } from "./recover-client.ts";
import { updateClient } from "./update-client.ts";

const CLIENT = "/ibc.core.client.v1.";

/** Handlers of the messages of `ibc.core.client.v1`. Those of chain upgrades always fail. */
export function clientHandlers({ bech32Prefix, authority }: IbcOptions): readonly MessageHandler[] {
  return [
    signedHandler(`${CLIENT}MsgCreateClient`, wire.MsgCreateClient, {
      packed: ({ clientState, consensusState }) => [
        ["ClientState", clientState],
        ["ConsensusState", consensusState],
      ],
      validate: (message) => validateCreateClient(message, bech32Prefix),
      handle: (context, message) => {
        // The response of ibc-go 8 is empty; relayers read the new client's id from the event.
        createClient(context, message.clientState, message.consensusState);
      },
    }),
    signedHandler(`${CLIENT}MsgUpdateClient`, wire.MsgUpdateClient, {
      packed: ({ clientMessage }) => [["ClientMessage", clientMessage]],
      validate: (message) => validateUpdateClient(message, bech32Prefix),
      handle: (context, message) => {
        validateUpdateClient(message, bech32Prefix, verifyingBlock(context));
        updateClient(context, message.clientId, message.clientMessage);
      },
    }),
    signedHandler(`${CLIENT}MsgSubmitMisbehaviour`, wire.MsgSubmitMisbehaviour, {
      packed: ({ misbehaviour }) => [["ClientMessage", misbehaviour]],
      validate: (message) => validateSubmitMisbehaviour(message, bech32Prefix),
      handle: (context, message) => {
        validateSubmitMisbehaviour(message, bech32Prefix, verifyingBlock(context));
        updateClient(context, message.clientId, message.misbehaviour);
      },
    }),
    signedHandler(`${CLIENT}MsgRecoverClient`, wire.MsgRecoverClient, {
      validate: (message) => validateRecoverClient(message, bech32Prefix),
      handle: (context, message) => {
        requireAuthority(authority, message);
        recoverClient(context, message.subjectClientId, message.substituteClientId);
      },
    }),
    signedHandler(`${CLIENT}MsgUpdateParams`, wire.MsgUpdateParams, {
      validate: (message) => validateUpdateParams(message, bech32Prefix),
      handle: (context, message) => {
        requireAuthority(authority, message);
        setClientParams(context, paramsIn(message));
      },
    }),
    unsupportedHandler(`${CLIENT}MsgUpgradeClient`, wire.MsgUpgradeClient, {
      packed: ({ clientState, consensusState }) => [
        ["ClientState", clientState],
        ["ConsensusState", consensusState],
      ],
      validate: (message) => validateUpgradeClient(message, bech32Prefix),
    }),
    unsupportedHandler(`${CLIENT}MsgIBCSoftwareUpgrade`, wire.MsgIBCSoftwareUpgrade, {
      packed: ({ upgradedClientState }) => [["ClientState", upgradedClientState]],
    }),
  ];
}
