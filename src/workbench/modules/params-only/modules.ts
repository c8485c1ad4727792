import { GenesisState as GlobalFeeGenesis } from "../../../cosmos/proto/gen/gaia/globalfee/v1beta1/genesis.ts";
import { Params as GlobalFeeParams } from "../../../cosmos/proto/gen/gaia/globalfee/v1beta1/params.ts";
import * as globalfeeQuery from "../../../cosmos/proto/gen/gaia/globalfee/v1beta1/query.ts";
import * as globalfeeTx from "../../../cosmos/proto/gen/gaia/globalfee/v1beta1/tx.ts";
import { GenesisState as DynamicFeesGenesis } from "../../../cosmos/proto/gen/neutron/dynamicfees/v1/genesis.ts";
import { Params as DynamicFeesParams } from "../../../cosmos/proto/gen/neutron/dynamicfees/v1/params.ts";
import * as dynamicfeesQuery from "../../../cosmos/proto/gen/neutron/dynamicfees/v1/query.ts";
import * as dynamicfeesTx from "../../../cosmos/proto/gen/neutron/dynamicfees/v1/tx.ts";
import { isDenom, parseWireInt } from "../../../localnet/chain/runtime/coins.ts";
import * as errors from "../../../localnet/chain/runtime/errors.ts";
import { genesisSchema } from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import type { ChainModule } from "../../../localnet/chain/runtime/context.ts";
import { defineParams } from "../../../localnet/chain/runtime/params.ts";
import * as moduleParams from "../../../localnet/chain/runtime/params-module.ts";

export interface ParamsOnlyOptions extends moduleParams.ParamsModuleOptions {
  /** The chain's fee denomination, such as "untrn". */
  readonly denom: string;
}

/** Creates `globalfee` and `dynamicfees`, of which this chain implements only the params. */
export function createParamsOnlyModules(options: ParamsOnlyOptions): readonly ChainModule[] {
  return [createGlobalFee(options), createDynamicFees(options)];
}

const IBC_CHANNEL = "/ibc.core.channel.v1";

/** Creates `globalfee`, whose params are the prices and exceptions that the deployed chain applies if its fee market is disabled. */
function createGlobalFee({ authority }: ParamsOnlyOptions): ChainModule {
  const schema = genesisSchema("globalfee", "gaia.globalfee.v1beta1.GenesisState", GlobalFeeGenesis);
  const params = defineParams<GlobalFeeParams>({
    store: "globalfee",
    key: Uint8Array.of(0),
    type: GlobalFeeParams,
    defaults: {
      minimumGasPrices: [],
      bypassMinFeeMsgTypes: [
        `${IBC_CHANNEL}.MsgRecvPacket`,
        `${IBC_CHANNEL}.MsgAcknowledgement`,
        "/ibc.core.client.v1.MsgUpdateClient",
        `${IBC_CHANNEL}.MsgTimeout`,
        `${IBC_CHANNEL}.MsgTimeoutOnClose`,
      ],
      maxTotalBypassMinFeeMsgGasUsage: 1_000_000n,
    },
    unset: { minimumGasPrices: [], bypassMinFeeMsgTypes: [], maxTotalBypassMinFeeMsgGasUsage: 0n },
    validate: validateGlobalFee,
  });
  return {
    name: schema.module,
    stores: [schema.module],
    messages: messageHandlers(globalfeeTx.Msg, {
      UpdateParams: params.update({ authority, signerError: errors.ErrInvalidSigner }),
    }),
    queries: queryHandlers(globalfeeQuery.Query, { Params: params.query }),
    initGenesis: (context, json) => moduleParams.initParams(context, json, schema, params),
    exportGenesis: (context) => moduleParams.exportParams(context, schema, params),
  };
}

function validateGlobalFee({ minimumGasPrices, bypassMinFeeMsgTypes }: GlobalFeeParams): void {
  const seen = new Set<string>();
  let last = "";
  for (const { denom, amount } of minimumGasPrices) {
    if (seen.has(denom)) throw errors.unregisteredError(`duplicate denomination ${denom}`);
    if (!isDenom(denom)) throw errors.unregisteredError(`invalid denom: ${denom}`);
    if (denom <= last) throw errors.unregisteredError(`denomination ${denom} is not sorted`);
    if (parseWireInt(amount) < 0n) throw errors.unregisteredError(`coin ${denom} amount is negative`);
    last = denom;
    seen.add(denom);
  }
  for (const type of bypassMinFeeMsgTypes) {
    if (type === "") throw errors.unregisteredError("invalid empty bypass msg type");
    if (!type.startsWith("/")) throw errors.unregisteredError(`invalid bypass msg type name ${type}`);
  }
}

/** Creates `dynamicfees`, whose params are the prices of other denominations that the deployed chain accepts as fees. */
function createDynamicFees({ chainName, bech32Prefix, authority }: ParamsOnlyOptions): ChainModule {
  const schema = genesisSchema("dynamicfees", "neutron.dynamicfees.v1.GenesisState", DynamicFeesGenesis);
  const params = defineParams<DynamicFeesParams>({
    store: schema.module,
    key: Uint8Array.of(1),
    type: DynamicFeesParams,
    defaults: { ntrnPrices: [] },
  });
  return {
    name: schema.module,
    stores: [schema.module],
    messages: messageHandlers(
      dynamicfeesTx.Msg,
      {
        UpdateParams: params.update({
          authority,
          signerError: errors.ErrInvalidRequest,
          check: (message) => moduleParams.requireAuthorityAddress(bech32Prefix, message.authority),
        }),
      },
      chainName,
    ),
    queries: queryHandlers(dynamicfeesQuery.Query, { Params: params.query }, chainName),
    initGenesis: (context, json) => moduleParams.initParams(context, json, schema, params),
    exportGenesis: (context) => moduleParams.exportParams(context, schema, params),
  };
}
