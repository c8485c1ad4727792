import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/genesis.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, type GenesisSchema, partOr, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { punishDoubleSign, countVote } from "./infractions.ts";
import { createHandlers } from "./handlers.ts";
import {
  createHooks,
  hasMissed,
  infoFromWire,
  infoToWire,
  setMissed,
  signingInfos,
  type SlashingHooks,
} from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { DEFAULT_PARAMS, paramsOf, storedParams, validateParams } from "./params.ts";
import { createQueryHandlers } from "./queries.ts";
import type { Keepers, SlashingDeps, SlashingOptions } from "./types.ts";

/** The module with its hooks for staking. */
export interface SlashingModule extends ChainModule {
  readonly hooks: SlashingHooks;
}

/** Creates the module `slashing`: downtime and double signs of validators. */
export function createSlashingModule(options: SlashingOptions, deps: SlashingDeps): SlashingModule {
  const format = (consensus: Uint8Array): string =>
    formatAddress(`${options.bech32Prefix}valcons`, consensus);
  const keepers: Keepers = { ...options, ...deps, format };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueryHandlers(keepers),
    beginBlock: (context, { lastCommit, misbehavior = [] }) => {
      for (const vote of lastCommit) countVote(context, keepers, vote);
      for (const evidence of misbehavior) punishDoubleSign(context, keepers, evidence);
    },
    initGenesis: (context, genesis) => initGenesis(context, genesis, keepers),
    exportGenesis,
    hooks: createHooks(keepers),
  };
}

const SCHEMA: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "cosmos.slashing.v1beta1.GenesisState",
  type: GenesisState,
};
const PATH = `app_state.${MODULE_NAME}`;

/** Stores parameters and signing infos, and the public keys of the validators of staking, whose genesis runs before. */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: Keepers): void {
  const state = readGenesis(SCHEMA, json) ?? GenesisState.decode(new Uint8Array(0));
  const params = partOr(json, "params", state.params, DEFAULT_PARAMS);
  atPath(`${PATH}.params`, () => validateParams(params));
  storedParams.set(context, params);
  const prefix = `${keepers.bech32Prefix}valcons`;
  const { afterValidatorCreated } = createHooks(keepers);
  for (const operator of keepers.staking.operators(context)) afterValidatorCreated(context, operator);
  state.signingInfos.forEach(({ address, validatorSigningInfo }, index) =>
    atPath(`${PATH}.signing_infos[${index}]`, () => {
      if (validatorSigningInfo === undefined) throw new Error("validator_signing_info was expected");
      if (validatorSigningInfo.address !== address)
        throw new Error(`the info is that of ${validatorSigningInfo.address}, not of ${address}`);
      signingInfos.set(context, parseAddress(prefix, address), infoFromWire(validatorSigningInfo));
    }),
  );
  state.missedBlocks.forEach(({ address, missedBlocks }, at) =>
    atPath(`${PATH}.missed_blocks[${at}]`, () => {
      const consensus = parseAddress(prefix, address);
      for (const { index, missed } of missedBlocks) {
        if (index < 0n || index >= params.signedBlocksWindow)
          throw new Error(`block ${index} is not in the window of ${params.signedBlocksWindow}`);
        setMissed(context, consensus, index, missed);
      }
    }),
  );
}

/** Prints the state. */
function exportGenesis(context: Context): JsonValue {
  const infos = [...signingInfos.entries(context)];
  return printGenesis(SCHEMA, {
    params: paramsOf(context),
    signingInfos: infos.map(([, info]) => ({
      address: info.address,
      validatorSigningInfo: infoToWire(info),
    })),
    missedBlocks: infos.map(([consensus, { address }]) => ({
      address,
      missedBlocks: missedOf(context, consensus),
    })),
  });
}

function missedOf(context: Context, consensus: Uint8Array) {
  const window = Number(paramsOf(context).signedBlocksWindow);
  return Array.from({ length: window }, (_, index) => BigInt(index))
    .filter((index) => hasMissed(context, consensus, index))
    .map((index) => ({ index, missed: true }));
}
