import type { Coin as WireCoin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type { Fee } from "../../../cosmos/proto/gen/neutron/feerefunder/fee.ts";
import { FeeInfo, GenesisState } from "../../../cosmos/proto/gen/neutron/feerefunder/genesis.ts";
import { Params } from "../../../cosmos/proto/gen/neutron/feerefunder/params.ts";
import * as wire from "../../../cosmos/proto/gen/neutron/feerefunder/query.ts";
import * as tx from "../../../cosmos/proto/gen/neutron/feerefunder/tx.ts";
import { concat, uint64BigEndian, utf8 } from "../../../platform/base/bytes.ts";
import type { JsonValue } from "../../../platform/base/json.ts";
import type { AddedModules } from "../../../localnet/chain/module-set.ts";
import type { BankKeeper } from "../../../localnet/chain/modules/bank/keeper.ts";
import type { RelayedPacket } from "../../../localnet/chain/modules/ibc/channel/ibc-module.ts";
import { ErrChannelNotFound } from "../../../localnet/chain/modules/ibc/host/errors.ts";
import { validateChannelId, validatePortId } from "../../../localnet/chain/modules/ibc/host/identifiers.ts";
import type { IbcKeeper } from "../../../localnet/chain/modules/ibc/keeper.ts";
import { isZero, NO_FEE, validateFee } from "../../../localnet/chain/modules/transfer/packet.ts";
import type { CustomQueryHandler } from "../../../localnet/chain/modules/wasm/types.ts";
import { formatAddress, parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { type Coin, formatCoins, parseCoins, sumCoins } from "../../../localnet/chain/runtime/coins.ts";
import {
  type Context,
  event,
  type ChainModule,
  type QueryHandler,
} from "../../../localnet/chain/runtime/context.ts";
import * as errors from "../../../localnet/chain/runtime/errors.ts";
import { atPath, partOr, genesisSchema } from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import { checkUpdate } from "../../../localnet/chain/runtime/params-module.ts";
import { bytesCodec, createMap, messageCodec } from "../../../localnet/chain/store/collections.ts";
import type { ParamsOnlyOptions } from "../params-only/modules.ts";

/** Name of the module, of its store, and of the account that holds the locked fees. */
const MODULE_NAME = "feerefunder";

/**
 * Fees locked for packets that are not yet acknowledged or timed out. The keys are
 * `0x01 | channel id | ";" | port id | ";" | sequence`, with 8 bytes for the sequence.
 */
const feeInfos = createMap(MODULE_NAME, Uint8Array.of(1), bytesCodec, messageCodec<FeeInfo>(FeeInfo));

/** The params. `min_fee` is the minimum fee that a contract must lock for each packet that the contract sends. */
const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(2),
  type: Params,
  defaults: defaultParams("untrn"),
  unset: { minFee: undefined },
  validate: ({ minFee }) => validateFee(minFee ?? NO_FEE),
});

/** Returns the default minimum fees: 1,000 base units each for an acknowledgement and for a timeout. */
function defaultParams(denom: string): Params {
  const coins = [{ denom, amount: "1000" }];
  return { minFee: { recvFee: [], ackFee: coins, timeoutFee: coins } };
}

type PacketId = Pick<RelayedPacket, "source" | "sequence">;

interface FeeRefunderDeps {
  readonly bank: Pick<BankKeeper, "sendToModule" | "sendFromModule">;
  readonly channels: Pick<IbcKeeper, "channel">;
}

/** Locks, pays and returns the fees for contracts' packets. If a packet has no locked fee, nothing is paid or returned. */
type FeeRefunderKeeper = NonNullable<AddedModules["fees"]>;

/** The `feerefunder` module, with methods for other modules. */
export interface FeeRefunderModule extends ChainModule {
  readonly keeper: FeeRefunderKeeper;
  readonly handleCustomQuery: CustomQueryHandler;
}

/** Creates the `feerefunder` module, through which contracts pay the relayers of their packets' acknowledgements and timeouts. */
export function createFeeRefunderModule(
  options: ParamsOnlyOptions,
  deps: FeeRefunderDeps,
): FeeRefunderModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(
      tx.Msg,
      {
        UpdateParams: moduleParams.update({
          authority: options.authority,
          signerError: errors.ErrInvalidRequest,
          check: checkUpdate(options.bech32Prefix, moduleParams.validate),
        }),
      },
      options.chainName,
    ),
    queries: createQueries(options),
    initGenesis: (context, json) => initGenesis(context, json, options),
    exportGenesis,
    keeper: createFeeRefunderKeeper(options, deps),
    handleCustomQuery: (context, request) => {
      if (request["min_ibc_fee"] === undefined) return undefined;
      const { recvFee, ackFee, timeoutFee } = moduleParams.get(context).minFee ?? NO_FEE;
      return {
        min_fee: {
          recv_fee: coinsJson(recvFee),
          ack_fee: coinsJson(ackFee),
          timeout_fee: coinsJson(timeoutFee),
        },
      };
    },
  };
}

function coinsJson(coins: readonly WireCoin[]) {
  return coins.map(({ denom, amount }) => ({ denom, amount }));
}

function createFeeRefunderKeeper(
  { bech32Prefix }: ParamsOnlyOptions,
  { bank, channels }: FeeRefunderDeps,
): FeeRefunderKeeper {
  const distribute = (
    kind: "ack" | "timeout",
    context: Context,
    relayer: Uint8Array,
    packet: PacketId,
  ): void => {
    const key = feeKey(packet);
    const info = feeInfos.get(context, key);
    if (info === undefined) return;
    const { ackFee = [], timeoutFee = [] } = info.fee ?? {};
    const [paid, returned] = kind === "ack" ? [ackFee, timeoutFee] : [timeoutFee, ackFee];
    bank.sendFromModule(context, MODULE_NAME, relayer, parseCoins(paid));
    bank.sendFromModule(context, MODULE_NAME, parseAddress(bech32Prefix, info.payer), parseCoins(returned));
    emit(context, `distribute_${kind}_fee`, ["receiver", formatAddress(bech32Prefix, relayer)], packet);
    feeInfos.delete(context, key);
  };
  return {
    lockFees: (context, payer, packet, fee) => {
      const { portId, channelId } = packet.source;
      if (channels.channel(context, packet.source) === undefined)
        throw ErrChannelNotFound(`channel with id ${channelId} and port ${portId} not found`);
      errors.wrapErrors("failed to lock fees", () => requireMinFee(context, fee));
      const address = formatAddress(bech32Prefix, payer);
      const packetId = { channelId, portId, sequence: packet.sequence };
      feeInfos.set(context, feeKey(packet), { payer: address, packetId, fee });
      errors.wrapErrors("failed to send coins during fees locking", () =>
        bank.sendToModule(context, payer, MODULE_NAME, totalOf(fee)),
      );
      emit(context, "distribute_lock_fees", ["payer", address], packet);
    },
    distributeAcknowledgementFee: (context, relayer, packet) => distribute("ack", context, relayer, packet),
    distributeTimeoutFee: (context, relayer, packet) => distribute("timeout", context, relayer, packet),
  };
}

function emit(
  context: Context,
  type: string,
  account: readonly [key: string, address: string],
  { source, sequence }: PacketId,
): void {
  context.emit(
    event(type, [
      account,
      ["port_id", source.portId],
      ["channel_id", source.channelId],
      ["sequence", sequence.toString()],
    ]),
  );
  context.emit(event("message", [["module", MODULE_NAME]]));
}

/** Returns the key under which {@link feeInfos} stores a packet's fee. */
function feeKey({ source: { channelId, portId }, sequence }: PacketId): Uint8Array {
  return concat(utf8(`${channelId};${portId};`), uint64BigEndian(sequence));
}

function totalOf({ recvFee, ackFee, timeoutFee }: Fee): readonly Coin[] {
  return sumCoins(parseCoins([...recvFee, ...ackFee, ...timeoutFee]));
}

function requireMinFee(context: Context, fee: Fee): void {
  const least = moduleParams.get(context).minFee ?? NO_FEE;
  const pairs = [
    ["timeout", parseCoins(fee.timeoutFee), parseCoins(least.timeoutFee)],
    ["ack", parseCoins(fee.ackFee), parseCoins(least.ackFee)],
  ] as const;
  for (const [name, offered, wanted] of pairs)
    if (
      !offered.some((coin) =>
        wanted.some(({ denom, amount }) => denom === coin.denom && amount <= coin.amount),
      )
    )
      throw errors.ErrInsufficientFee(
        `provided ${name} fee is less than min governance set ${name} fee: ${formatCoins(offered)} < ${formatCoins(wanted)}`,
      );
  for (const [name, offered, wanted] of pairs)
    if (!offered.every((coin) => wanted.some(({ denom }) => denom === coin.denom)))
      throw errors.ErrInvalidCoins(`${name} fee cannot have coins other than in params`);
  if (!isZero(fee.recvFee)) throw errors.ErrInvalidCoins("recv fee must be zero");
}

function createQueries({ chainName }: ParamsOnlyOptions): readonly QueryHandler[] {
  return queryHandlers(
    wire.Query,
    {
      Params: moduleParams.query,
      FeeInfo: (context, { portId, channelId, sequence }) => {
        const feeInfo = feeInfos.get(context, feeKey({ source: { portId, channelId }, sequence }));
        if (feeInfo !== undefined) return { feeInfo };
        throw errors.ErrInvalidRequest(
          `no fee info found for port_id = ${portId}, channel_id=${channelId}, sequence=${sequence}`,
        );
      },
    },
    chainName,
  );
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.feerefunder.GenesisState", GenesisState);

const CONTRACT_BYTES = 32;

/** Stores genesis params and locked fees. Throws `GenesisError` for an invalid or repeated fee, or for a payer that is not a contract. */
function initGenesis(context: Context, json: JsonValue | undefined, options: ParamsOnlyOptions): void {
  const state = SCHEMA.read(json);
  atPath(`app_state.${MODULE_NAME}.params`, () =>
    moduleParams.set(context, partOr(json, "params", state?.params, defaultParams(options.denom))),
  );
  for (const [index, info] of (state?.feeInfos ?? []).entries())
    atPath(`app_state.${MODULE_NAME}.fee_infos[${index}]`, () => {
      if (parseAddress(options.bech32Prefix, info.payer).length !== CONTRACT_BYTES)
        throw new Error(`fee payer address ${info.payer} is not a contract`);
      const { portId = "", channelId = "", sequence = 0n } = info.packetId ?? {};
      validatePortId(portId);
      validateChannelId(channelId);
      validateFee(info.fee ?? NO_FEE);
      const key = feeKey({ source: { portId, channelId }, sequence });
      if (feeInfos.has(context, key)) throw new Error("the packet is given twice");
      feeInfos.set(context, key, info);
    });
}

function exportGenesis(context: Context): JsonValue {
  return SCHEMA.print({
    params: moduleParams.get(context),
    feeInfos: [...feeInfos.entries(context)].map(([, info]) => info),
  });
}
