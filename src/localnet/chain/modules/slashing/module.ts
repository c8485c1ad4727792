import { parseQueryAddress, messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { eachAtPath, atPath, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { pageOf } from "../../runtime/pagination.ts";
import type { ChainModule, MessageHandler, QueryHandler, Context } from "../../runtime/context.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/query.ts";
import * as tx from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/tx.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import * as keeper from "./keeper.ts";
import * as errors from "../../runtime/errors.ts";

export interface SlashingModule extends ChainModule {
  readonly hooks: ReturnType<typeof keeper.createHooks>;
}

/** Creates the `slashing` module, which punishes validators for downtime and double signing. */
export function createSlashingModule(
  options: keeper.SlashingOptions,
  deps: keeper.SlashingDeps,
): SlashingModule {
  const format = (consensus: Uint8Array): string =>
    formatAddress(`${options.bech32Prefix}valcons`, consensus);
  const keepers: keeper.Keepers = { ...options, ...deps, format };
  return {
    name: keeper.MODULE_NAME,
    stores: [keeper.MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueryHandlers(keepers),
    beginBlock: (context, { lastCommit, misbehavior = [] }) => {
      for (const vote of lastCommit) keeper.countVote(context, keepers, vote);
      for (const evidence of misbehavior) keeper.punishDoubleSign(context, keepers, evidence);
    },
    initGenesis: (context, genesis) => initGenesis(context, genesis, keepers),
    exportGenesis,
    hooks: keeper.createHooks(keepers),
  };
}

const SCHEMA = genesisSchema(keeper.MODULE_NAME, "cosmos.slashing.v1beta1.GenesisState", GenesisState);
const PATH = `app_state.${keeper.MODULE_NAME}`;

/** Stores the parameters, the signing infos and the validators' public keys. Must run after the staking module's genesis. */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: keeper.Keepers): void {
  const state = SCHEMA.read(json) ?? GenesisState.decode(new Uint8Array(0));
  const params = partOr(json, "params", state.params, keeper.moduleParams.defaults);
  atPath(`${PATH}.params`, () => keeper.moduleParams.set(context, params));
  const prefix = `${keepers.bech32Prefix}valcons`;
  const { afterValidatorCreated } = keeper.createHooks(keepers);
  for (const operator of keepers.staking.operators(context)) afterValidatorCreated(context, operator);
  eachAtPath(`${PATH}.signing_infos`, state.signingInfos, ({ address, validatorSigningInfo }) => {
    if (validatorSigningInfo === undefined) throw new Error("expected validator_signing_info");
    if (validatorSigningInfo.address !== address)
      throw new Error(`expected the info of ${address}, got ${validatorSigningInfo.address}`);
    keeper.signingInfos.set(
      context,
      parseAddress(prefix, address),
      keeper.infoFromWire(validatorSigningInfo),
    );
  });
  eachAtPath(`${PATH}.missed_blocks`, state.missedBlocks, ({ address, missedBlocks }) => {
    const consensus = parseAddress(prefix, address);
    for (const { index, missed } of missedBlocks) {
      if (index < 0n || index >= params.signedBlocksWindow)
        throw new Error(`block ${index} is not in the window of ${params.signedBlocksWindow}`);
      keeper.setMissed(context, consensus, index, missed);
    }
  });
}

function exportGenesis(context: Context): JsonValue {
  const infos = [...keeper.signingInfos.entries(context)];
  return SCHEMA.print({
    params: keeper.moduleParams.get(context),
    signingInfos: infos.map(([, info]) => ({
      address: info.address,
      validatorSigningInfo: keeper.infoToWire(info),
    })),
    missedBlocks: infos.map(([consensus, { address }]) => ({
      address,
      missedBlocks: missedOf(context, consensus),
    })),
  });
}

function missedOf(context: Context, consensus: Uint8Array) {
  const window = Number(keeper.moduleParams.get(context).signedBlocksWindow);
  return Array.from({ length: window }, (_, index) => BigInt(index))
    .filter((index) => keeper.hasMissed(context, consensus, index))
    .map((index) => ({ index, missed: true }));
}

function createQueryHandlers({ bech32Prefix }: keeper.Keepers): readonly QueryHandler[] {
  const prefix = `${bech32Prefix}valcons`;
  return queryHandlers(wire.Query, {
    Params: keeper.moduleParams.query,
    SigningInfo: (context, { consAddress }) => {
      if (consAddress === "") throw errors.invalidArgument("invalid request");
      const info = keeper.signingInfos.get(context, parseQueryAddress(prefix, consAddress));
      if (info === undefined) throw errors.notFound(`SigningInfo not found for validator ${consAddress}`);
      return { valSigningInfo: keeper.infoToWire(info) };
    },
    SigningInfos: (context, request) => {
      const { items, pagination } = pageOf(
        keeper.signingInfos.range(context),
        request.pagination,
        keeper.infoToWire,
      );
      return { info: items, pagination };
    },
  });
}

function createHandlers(keepers: keeper.Keepers): readonly MessageHandler[] {
  const { bech32Prefix, authority } = keepers;
  const operatorOf = (text: string): Uint8Array =>
    errors.orThrowWith(errors.ErrInvalidAddress, "validator input address", () =>
      parseAddress(`${bech32Prefix}valoper`, text),
    );
  return messageHandlers(tx.Msg, {
    Unjail: {
      signers: ({ validatorAddr }) => [formatAddress(bech32Prefix, operatorOf(validatorAddr))],
      handle: (context, { validatorAddr }) => unjail(context, keepers, operatorOf(validatorAddr)),
    },
    UpdateParams: keeper.moduleParams.update({
      authority,
      signerError: errors.ErrInvalidSigner,
      absent: { ...keeper.moduleParams.defaults, signedBlocksWindow: 0n },
    }),
  });
}

/** Releases a jailed validator whose jail time has ended and whose self-delegation is large enough. */
function unjail(context: Context, { staking }: keeper.Keepers, operator: Uint8Array): void {
  const validator = staking.byOperator(context, operator);
  const own = validator.ownTokens();
  if (own === undefined) throw ErrMissingSelfDelegation();
  const { minSelfDelegation, consensus } = validator;
  if (own < minSelfDelegation) throw ErrSelfDelegationTooLowToUnjail(`${own} less than ${minSelfDelegation}`);
  if (!validator.jailed) throw ErrValidatorNotJailed();
  const info = keeper.signingInfos.get(context, consensus);
  if (info !== undefined && (info.tombstoned || context.timeNs < info.jailedUntilNs))
    throw ErrValidatorJailed();
  staking.unjail(context, consensus);
}

// Errors in the codespace "slashing", under their Go names (cosmos-sdk v0.50 x/slashing/types/errors.go).
const slashingError = errors.errorsOf("slashing");
const ErrValidatorJailed = slashingError(4, "validator still jailed; cannot be unjailed");
const ErrValidatorNotJailed = slashingError(5, "validator not jailed; cannot be unjailed");
const ErrMissingSelfDelegation = slashingError(6, "validator has no self-delegation; cannot be unjailed");
const ErrSelfDelegationTooLowToUnjail = slashingError(
  7,
  "validator's self delegation less than minimum; cannot be unjailed",
);
