import { GenesisState } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/genesis.ts";
import { Query } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/query.ts";
import { Msg } from "../../../../cosmos/proto/gen/neutron/ibcratelimit/v1beta1/tx.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context, ChainModule } from "../../runtime/context.ts";
import { ErrInvalidRequest } from "../../runtime/errors.ts";
import { atPath, genesisSchema } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { checkUpdate, type ParamsModuleOptions, requireAddress } from "../../runtime/params-module.ts";
import type { IBCModule, ICS4Wrapper } from "../ibc/channel/ibc-module.ts";
import {
  type Keepers,
  MODULE_NAME,
  moduleParams,
  type RateLimitDeps,
  rateLimitICS4Wrapper,
  rateLimitMiddleware,
} from "./middleware.ts";

/** The module and its middleware. */
export interface RateLimitModule extends ChainModule {
  /** Wraps the limiter around a port's application. */
  readonly rateLimitMiddleware: (inner: IBCModule) => IBCModule;
  /** Puts the limiter in front of an application's channels. */
  readonly rateLimitICS4Wrapper: (inner: ICS4Wrapper) => ICS4Wrapper;
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.ibcratelimit.v1beta1.GenesisState", GenesisState);

/** Creates the `rate-limited-ibc` module, in which a contract decides which transfers are allowed. */
export function createRateLimitModule(options: ParamsModuleOptions, deps: RateLimitDeps): RateLimitModule {
  const keepers: Keepers = { ...options, ...deps };
  const { chainName, bech32Prefix, authority } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    // An empty address removes the limits.
    messages: messageHandlers(
      Msg,
      {
        UpdateParams: moduleParams.update({
          authority,
          signerError: ErrInvalidRequest,
          check: checkUpdate(bech32Prefix, ({ contractAddress }) => {
            if (contractAddress !== "")
              requireAddress(bech32Prefix, contractAddress, "contract_address is invalid");
          }),
        }),
      },
      chainName,
    ),
    queries: queryHandlers(Query, { Params: moduleParams.query }, chainName),
    initGenesis: (context, json) => initGenesis(context, json, bech32Prefix),
    exportGenesis: (context) => SCHEMA.print({ params: moduleParams.get(context) }),
    rateLimitMiddleware: (inner) => rateLimitMiddleware(inner, keepers),
    rateLimitICS4Wrapper: (inner) => rateLimitICS4Wrapper(inner, keepers),
  };
}

function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const params = SCHEMA.read(json)?.params ?? { contractAddress: "" };
  atPath(`app_state.${MODULE_NAME}.params.contract_address`, () => {
    if (params.contractAddress !== "") parseAddress(bech32Prefix, params.contractAddress);
  });
  moduleParams.set(context, params);
}
