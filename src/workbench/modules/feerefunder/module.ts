import type { Coin as WireCoin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { GenesisState } from "../../../cosmos/proto/gen/neutron/feerefunder/genesis.ts";
import * as wire from "../../../cosmos/proto/gen/neutron/feerefunder/query.ts";
import * as tx from "../../../cosmos/proto/gen/neutron/feerefunder/tx.ts";
import type { JsonValue } from "../../../platform/base/json.ts";
import { parseAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { ErrInvalidRequest } from "../../../localnet/chain/runtime/errors.ts";
import {
  atPath,
  type GenesisSchema,
  partOr,
  printGenesis,
  readGenesis,
} from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import type { ChainModule, QueryHandler } from "../../../localnet/chain/runtime/module.ts";
import { checkUpdate } from "../../../localnet/chain/runtime/params-module.ts";
import { validateChannelId, validatePortId } from "../../../localnet/chain/modules/ibc/host/identifiers.ts";
import { NO_FEE, validateFee } from "../../../localnet/chain/modules/transfer/packet-fee.ts";
import type { MessageJson } from "../../../localnet/chain/modules/wasm/contract.ts";
import * as fees from "./keeper.ts";

/** The module and the methods that other modules call. */
export interface FeeRefunderModule extends ChainModule {
  readonly keeper: fees.FeeRefunderKeeper;
  /** Answers a contract's custom query for this module. Returns undefined for any other query. */
  readonly handleCustomQuery: (
    context: Context,
    request: Readonly<Record<string, unknown>>,
  ) => MessageJson | undefined;
}

/** Creates the `feerefunder` module. Through it, contracts pay the relayers that deliver replies to their packets. */
export function createFeeRefunderModule(
  options: fees.FeeRefunderOptions,
  deps: fees.FeeRefunderDeps,
): FeeRefunderModule {
  return {
    name: fees.MODULE_NAME,
    stores: [fees.MODULE_NAME],
    messages: messageHandlers(
      tx.Msg,
      {
        UpdateParams: fees.moduleParams.update({
          authority: options.authority,
          signerError: ErrInvalidRequest,
          check: checkUpdate(options.bech32Prefix, fees.moduleParams.validate),
        }),
      },
      options.chainName,
    ),
    queries: createQueries(options),
    initGenesis: (context, json) => initGenesis(context, json, options),
    exportGenesis,
    keeper: fees.createFeeRefunderKeeper(options, deps),
    handleCustomQuery: (context, request) =>
      request["min_ibc_fee"] === undefined ? undefined : { min_fee: minFeeJson(context) },
  };
}

function createQueries({ chainName }: fees.FeeRefunderOptions): readonly QueryHandler[] {
  return queryHandlers(
    wire.Query,
    {
      Params: fees.moduleParams.query,
      FeeInfo: (context, { portId, channelId, sequence }) => {
        const feeInfo = fees.feeInfos.get(context, fees.feeKey({ source: { portId, channelId }, sequence }));
        if (feeInfo !== undefined) return { feeInfo };
        throw ErrInvalidRequest(
          `no fee info found for port_id = ${portId}, channel_id=${channelId}, sequence=${sequence}`,
        );
      },
    },
    chainName,
  );
}

/** Returns the minimum fee as JSON, for a contract's query. */
function minFeeJson(context: Context): MessageJson {
  const { recvFee, ackFee, timeoutFee } = fees.moduleParams.get(context).minFee ?? NO_FEE;
  return { recv_fee: coinsJson(recvFee), ack_fee: coinsJson(ackFee), timeout_fee: coinsJson(timeoutFee) };
}

function coinsJson(coins: readonly WireCoin[]): MessageJson {
  return coins.map(({ denom, amount }) => ({ denom, amount }));
}

const SCHEMA: GenesisSchema<GenesisState> = {
  module: fees.MODULE_NAME,
  typeName: "neutron.feerefunder.GenesisState",
  type: GenesisState,
};

const CONTRACT_BYTES = 32;

/** Stores params and locked fees. Throws `GenesisError` if a fee is invalid or occurs twice, or if a payer is not a contract. */
function initGenesis(context: Context, json: JsonValue | undefined, options: fees.FeeRefunderOptions): void {
  const state = readGenesis(SCHEMA, json);
  atPath(`app_state.${fees.MODULE_NAME}.params`, () =>
    fees.moduleParams.set(context, partOr(json, "params", state?.params, fees.defaultParams(options.denom))),
  );
  for (const [index, info] of (state?.feeInfos ?? []).entries())
    atPath(`app_state.${fees.MODULE_NAME}.fee_infos[${index}]`, () => {
      if (parseAddress(options.bech32Prefix, info.payer).length !== CONTRACT_BYTES)
        throw new Error(`fee payer address ${info.payer} is not a contract`);
      const { portId = "", channelId = "", sequence = 0n } = info.packetId ?? {};
      validatePortId(portId);
      validateChannelId(channelId);
      validateFee(info.fee ?? NO_FEE);
      const packet: fees.PacketId = { source: { portId, channelId }, sequence };
      if (fees.feeInfos.has(context, fees.feeKey(packet))) throw new Error("the packet is given twice");
      fees.feeInfos.set(context, fees.feeKey(packet), info);
    });
}

function exportGenesis(context: Context): JsonValue {
  return printGenesis(SCHEMA, {
    params: fees.moduleParams.get(context),
    feeInfos: [...fees.feeInfos.entries(context)].map(([, info]) => info),
  });
}
