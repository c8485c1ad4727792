import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import {
  cancelUnbonding,
  delegateTokens,
  redelegateTokens,
  undelegateTokens,
  updateParams,
} from "./delegation-messages.ts";
import { addressOf } from "./messages.ts";
import type { Environment } from "./types.ts";
import { createValidator, editValidator } from "./validator-messages.ts";

/** The messages of the module. */
export function createHandlers(environment: Environment): readonly MessageHandler[] {
  const ofOperator = ({ validatorAddress }: { readonly validatorAddress: string }): readonly string[] => [
    operatorAccount(environment, validatorAddress),
  ];
  return [
    toMessageHandler({
      typeUrl: url("MsgCreateValidator"),
      type: wire.MsgCreateValidator,
      signers: ofOperator,
      handle: (context, message) => createValidator(context, environment, message),
    }),
    toMessageHandler({
      typeUrl: url("MsgEditValidator"),
      type: wire.MsgEditValidator,
      signers: ofOperator,
      handle: (context, message) => editValidator(context, environment, message),
    }),
    toMessageHandler({
      typeUrl: url("MsgDelegate"),
      type: wire.MsgDelegate,
      signers: ofDelegator,
      handle: (context, message) => delegateTokens(context, environment, message),
    }),
    toMessageHandler({
      typeUrl: url("MsgUndelegate"),
      type: wire.MsgUndelegate,
      signers: ofDelegator,
      handle: (context, message) => undelegateTokens(context, environment, message),
    }),
    toMessageHandler({
      typeUrl: url("MsgBeginRedelegate"),
      type: wire.MsgBeginRedelegate,
      signers: ofDelegator,
      handle: (context, message) => redelegateTokens(context, environment, message),
    }),
    toMessageHandler({
      typeUrl: url("MsgCancelUnbondingDelegation"),
      type: wire.MsgCancelUnbondingDelegation,
      signers: ofDelegator,
      handle: (context, message) => cancelUnbonding(context, environment, message),
    }),
    toMessageHandler({
      typeUrl: url("MsgUpdateParams"),
      type: wire.MsgUpdateParams,
      signers: ({ authority }) => [authority],
      handle: (context, message) => updateParams(context, environment, message),
    }),
  ];
}

function url(name: string): string {
  return `/cosmos.staking.v1beta1.${name}`;
}

function ofDelegator({ delegatorAddress }: { readonly delegatorAddress: string }): readonly string[] {
  return [delegatorAddress];
}

/** The account of an operator: the same bytes with the prefix of accounts. */
function operatorAccount({ accounts, operators }: Environment, text: string): string {
  return accounts.format(addressOf(operators, text, "validator"));
}
