import { GenesisState } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/genesis.ts";
import {
  QueryParamsRequest,
  QueryParamsResponse,
} from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/query.ts";
import { MsgUpdateParams } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/tx.ts";
import { toChainTypeUrl, TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidRequest, wrapErrors } from "../../runtime/errors.ts";
import { atPath, type GenesisSchema, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { toMessageHandler, toQueryHandler } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import type { IBCModule, ICS4Wrapper } from "../ibc/channel/ibc-module.ts";
import { MODULE_NAME } from "./keys.ts";
import { limitApplication, limitSender } from "./middleware.ts";
import { paramsOf, requireAddress, storedParams } from "./params.ts";
import type { Environment, RateLimitDeps, RateLimitOptions } from "./types.ts";

/** The module with its middleware. */
export interface RateLimitModule extends ChainModule {
  /** Puts the limiter around the application of a port. */
  readonly limitApplication: (inner: IBCModule) => IBCModule;
  /** Puts the limiter in front of the channels of an application. */
  readonly limitSender: (inner: ICS4Wrapper) => ICS4Wrapper;
}

const FORM: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "neutron.ibcratelimit.v1beta1.GenesisState",
  type: GenesisState,
};

/** Creates the module `ibc-rate-limit`: a contract decides which transfers pass. */
export function createRateLimitModule(options: RateLimitOptions, deps: RateLimitDeps): RateLimitModule {
  const environment: Environment = { ...options, ...deps };
  const { chainName, bech32Prefix } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [
      toMessageHandler({
        typeUrl: toChainTypeUrl(TYPE_URL.updateRateLimitParams, chainName),
        type: MsgUpdateParams,
        signers: ({ authority }) => [authority],
        handle: (context, message) => updateParams(context, message, environment),
      }),
    ],
    queries: [
      toQueryHandler(
        toChainTypeUrl("/neutron.ibcratelimit.v1beta1.Query/Params", chainName),
        { request: QueryParamsRequest, response: QueryParamsResponse },
        (context) => ({ params: paramsOf(context) }),
      ),
    ],
    initGenesis: (context, json) => initGenesis(context, json, bech32Prefix),
    exportGenesis: (context) => printGenesis(FORM, { params: paramsOf(context) }),
    limitApplication: (inner) => limitApplication(inner, environment),
    limitSender: (inner) => limitSender(inner, environment),
  };
}

function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const params = readGenesis(FORM, json)?.params ?? { contractAddress: "" };
  atPath(`app_state.${MODULE_NAME}.params.contract_address`, () => {
    if (params.contractAddress !== "") requireAddress(bech32Prefix, params.contractAddress);
  });
  storedParams.set(context, params);
}

/** MsgUpdateParams, from the authority only. An empty address ends the limits. */
function updateParams(
  context: Context,
  { authority, params = { contractAddress: "" } }: MsgUpdateParams,
  { bech32Prefix, ...environment }: Environment,
): void {
  wrapErrors(
    (error) => error.wrap("failed to validate MsgUpdateParams"),
    () => {
      requireAddress(bech32Prefix, authority, "authority is invalid");
      if (params.contractAddress !== "")
        requireAddress(bech32Prefix, params.contractAddress, "contract_address is invalid");
    },
  );
  if (authority !== environment.authority)
    throw ErrInvalidRequest(`invalid authority; expected ${environment.authority}, got ${authority}`);
  storedParams.set(context, params);
}
