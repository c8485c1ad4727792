import { MsgUnjail, MsgUpdateParams } from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/tx.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidAddress, ErrInvalidSigner, registerError } from "../../runtime/errors.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { DEFAULT_PARAMS, storedParams, validateParams } from "./params.ts";
import { signingInfos } from "./keeper.ts";
import type { Keepers } from "./types.ts";

/** The messages of the module. */
export function createHandlers(keepers: Keepers): readonly MessageHandler[] {
  const { bech32Prefix, authority } = keepers;
  const operatorOf = (text: string): Uint8Array => {
    try {
      return parseAddress(`${bech32Prefix}valoper`, text);
    } catch (error) {
      throw ErrInvalidAddress(`validator input address: ${error instanceof Error ? error.message : ""}`);
    }
  };
  return [
    toMessageHandler({
      typeUrl: "/cosmos.slashing.v1beta1.MsgUnjail",
      type: MsgUnjail,
      signers: ({ validatorAddr }) => [formatAddress(bech32Prefix, operatorOf(validatorAddr))],
      handle: (context, { validatorAddr }) => unjail(context, keepers, operatorOf(validatorAddr)),
    }),
    toMessageHandler({
      typeUrl: "/cosmos.slashing.v1beta1.MsgUpdateParams",
      type: MsgUpdateParams,
      signers: (message) => [message.authority],
      handle: (context, message) => {
        if (message.authority !== authority)
          throw ErrInvalidSigner(`invalid authority; expected ${authority}, got ${message.authority}`);
        const params = message.params ?? { ...DEFAULT_PARAMS, signedBlocksWindow: 0n };
        validateParams(params);
        storedParams.set(context, params);
      },
    }),
  ];
}

/** Releases a jailed validator whose time is over and whose own stake is large enough. */
function unjail(context: Context, { staking }: Keepers, operator: Uint8Array): void {
  const validator = staking.byOperator(context, operator);
  const own = validator.ownTokens();
  if (own === undefined) throw ErrMissingSelfDelegation();
  const { minSelfDelegation, consensus } = validator;
  if (own < minSelfDelegation) throw ErrSelfDelegationTooLowToUnjail(`${own} less than ${minSelfDelegation}`);
  if (!validator.jailed) throw ErrValidatorNotJailed();
  const info = signingInfos.get(context, consensus);
  if (info !== undefined && (info.tombstoned || context.timeNs < info.jailedUntilNs))
    throw ErrValidatorJailed();
  staking.unjail(context, consensus);
}

// Errors of codespace "slashing" by their Go names (cosmos-sdk v0.50 x/slashing/types/errors.go).
const ErrValidatorJailed = registerError("slashing", 4, "validator still jailed; cannot be unjailed");
const ErrValidatorNotJailed = registerError("slashing", 5, "validator not jailed; cannot be unjailed");
const ErrMissingSelfDelegation = registerError(
  "slashing",
  6,
  "validator has no self-delegation; cannot be unjailed",
);
const ErrSelfDelegationTooLowToUnjail = registerError(
  "slashing",
  7,
  "validator's self delegation less than minimum; cannot be unjailed",
);
