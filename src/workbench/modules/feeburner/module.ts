import { GenesisState } from "../../../cosmos/proto/gen/neutron/feeburner/genesis.ts";
import { Params } from "../../../cosmos/proto/gen/neutron/feeburner/params.ts";
import * as wire from "../../../cosmos/proto/gen/neutron/feeburner/query.ts";
import { TotalBurnedNeutronsAmount } from "../../../cosmos/proto/gen/neutron/feeburner/total_burned_neutrons_amount.ts";
import * as tx from "../../../cosmos/proto/gen/neutron/feeburner/tx.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import type { JsonValue } from "../../../platform/base/json.ts";
import { moduleAddress, parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { type Coin, parseWireInt, toWireCoin } from "../../../localnet/chain/runtime/coins.ts";
import type { BankKeeper } from "../../../localnet/chain/modules/bank/keeper.ts";
import type { CustomQueryHandler } from "../../../localnet/chain/modules/wasm/types.ts";
import type { Context, ChainModule } from "../../../localnet/chain/runtime/context.ts";
import { ErrInvalidRequest } from "../../../localnet/chain/runtime/errors.ts";
import { GenesisError, genesisSchema } from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import { checkUpdate, initParams, requireAddress } from "../../../localnet/chain/runtime/params-module.ts";
import { createItem, messageCodec } from "../../../localnet/chain/store/collections.ts";
import type { ParamsOnlyOptions } from "../params-only/modules.ts";

const MODULE_NAME = "feeburner";

type FeeBank = Pick<BankKeeper, "balances" | "burn" | "send">;

/** The `feeburner` module, with the step that a chain that burns its fees runs at the end of each block. */
export interface FeeBurnerModule extends ChainModule {
  /** Burns and counts the fees that a module account has received. Fees in other denominations go to the treasury. */
  readonly burnFees: (context: Context, feeRecipient: string) => void;
  readonly handleCustomQuery: CustomQueryHandler;
}

/** Total amount of fees burned since genesis, stored under the key `BurnedFees`. */
const burned = createItem(
  MODULE_NAME,
  utf8("BurnedFees"),
  messageCodec<TotalBurnedNeutronsAmount>(TotalBurnedNeutronsAmount),
);

/** Creates the `feeburner` module, which burns and counts fees. */
export function createFeeBurnerModule(options: ParamsOnlyOptions, bank: FeeBank): FeeBurnerModule {
  const params = paramsOf(options);
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(
      tx.Msg,
      {
        UpdateParams: params.update({
          authority: options.authority,
          signerError: ErrInvalidRequest,
          check: checkUpdate(options.bech32Prefix, ({ treasuryAddress }) =>
            requireAddress(options.bech32Prefix, treasuryAddress, "treasury_address is invalid"),
          ),
        }),
      },
      options.chainName,
    ),
    queries: queryHandlers(
      wire.Query,
      {
        Params: params.query,
        TotalBurnedNeutronsAmount: (context) => ({
          totalBurnedNeutronsAmount: { coin: toWireCoin(totalOf(context, params)) },
        }),
      },
      options.chainName,
    ),
    initGenesis: (context, json) => initGenesis(context, json, params),
    exportGenesis: (context) =>
      SCHEMA.print({
        params: params.get(context),
        totalBurnedNeutronsAmount: burned.get(context) ?? { coin: undefined },
      }),
    handleCustomQuery: (context, request) =>
      request["total_burned_neutrons_amount"] === undefined
        ? undefined
        : { coin: { ...toWireCoin(totalOf(context, params)) } },
    burnFees: (context, feeRecipient) => burnFees(context, feeRecipient, { bank, params, options }),
  };
}

/**
 * `neutron_denom` is the denomination whose fees are burned. As on the deployed chain, a message may leave it empty, so that
 * nothing is burned. `treasury_address` receives fees in all other denominations; only genesis may leave it empty.
 */
function paramsOf(options: ParamsOnlyOptions): ModuleParams<Params> {
  return defineParams({
    store: MODULE_NAME,
    key: Uint8Array.of(1),
    type: Params,
    defaults: { neutronDenom: options.denom, reserveAddress: "", treasuryAddress: "" },
    unset: { neutronDenom: "", reserveAddress: "", treasuryAddress: "" },
    validate: ({ treasuryAddress }) => {
      if (treasuryAddress !== "")
        requireAddress(options.bech32Prefix, treasuryAddress, "invalid treasury address");
    },
  });
}

function totalOf(context: Context, params: ModuleParams<Params>): Coin {
  const { denom = "", amount = "" } = burned.get(context)?.coin ?? {};
  return denom === ""
    ? { denom: params.get(context).neutronDenom, amount: 0n }
    : { denom, amount: parseWireInt(amount) };
}

function burnFees(
  context: Context,
  feeRecipient: string,
  {
    bank,
    params,
    options,
  }: { readonly bank: FeeBank; readonly params: ModuleParams<Params>; readonly options: ParamsOnlyOptions },
): void {
  const account = moduleAddress(feeRecipient);
  const fees = [...bank.balances(context, account)];
  if (fees.length === 0) return;
  const { neutronDenom, treasuryAddress } = params.get(context);
  const others = fees.filter(({ denom }) => denom !== neutronDenom);
  for (const coin of fees.filter(({ denom }) => denom === neutronDenom)) {
    bank.burn(context, feeRecipient, [coin]);
    const total = totalOf(context, params);
    burned.set(context, { coin: toWireCoin({ ...total, amount: total.amount + coin.amount }) });
  }
  if (others.length === 0) return;
  // Like the deployed chain, also burn these fees if there is no treasury.
  if (treasuryAddress === "") bank.burn(context, feeRecipient, others);
  else bank.send(context, account, parseAddress(options.bech32Prefix, treasuryAddress), others);
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.feeburner.GenesisState", GenesisState);

function initGenesis(context: Context, json: JsonValue | undefined, params: ModuleParams<Params>): void {
  initParams(context, json, SCHEMA, params);
  if (params.get(context).neutronDenom === "")
    throw new GenesisError(`app_state.${MODULE_NAME}.params.neutron_denom`, "expected a denomination");
  const total = SCHEMA.read(json)?.totalBurnedNeutronsAmount;
  if ((total?.coin?.denom ?? "") !== "" && total !== undefined) burned.set(context, total);
}
