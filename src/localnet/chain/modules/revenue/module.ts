import {
  orThrow,
  wrapErrors,
  ErrInvalidCoins,
  ErrInvalidRequest,
  GrpcCode,
  ModuleError,
  QueryError,
} from "../../runtime/errors.ts";
import {
  eachAtPath,
  atPath,
  genesisSchema,
  partOr,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import { GenesisState, type ValidatorInfo } from "../../../../cosmos/proto/gen/neutron/revenue/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/revenue/query.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/revenue/tx.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import { areValidCoins, formatCoins, parseCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler, QueryHandler } from "../../runtime/module.ts";
import { requireAuthorityAddress } from "../../runtime/params-module.ts";
import type { OracleVote } from "../oracle/extended-commit.ts";
import {
  baseAmount,
  countVotes,
  infos,
  type Keepers,
  performanceOf,
  presentBlock,
  rate,
  type RevenueDeps,
  type RevenueOptions,
  scheduleOf,
  setSchedule,
  TREASURY,
  twapOf,
} from "./keeper.ts";
import { MODULE_NAME, moduleParams, scheduleTypeOf } from "./params.ts";
import { compensationOf, blocksOf, isOfType, progressOf, startPeriod } from "./schedule.ts";

/** The module, and the function that the oracle calls. */
export interface RevenueModule extends ChainModule {
  /** Counts a block's votes, and pays the validators when a period ends. */
  readonly countVotes: (context: Context, votes: readonly OracleVote[]) => void;
}

/** Creates the `revenue` module, which pays validators for signing blocks and voting on prices. */
export function createRevenueModule(options: RevenueOptions, deps: RevenueDeps): RevenueModule {
  const keepers: Keepers = { ...options, ...deps };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueries(keepers),
    initGenesis: (context, json) => initGenesis(context, json, keepers),
    exportGenesis: (context) =>
      printGenesis(SCHEMA, {
        params: moduleParams.get(context),
        paymentSchedule: { paymentSchedule: scheduleOf(context) },
        validators: infos.values(context),
      }),
    countVotes: (context, votes) => countVotes(context, votes, keepers),
  };
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.revenue.GenesisState", GenesisState);

/** Stores parameters, period and counts. If there is no period, starts one. Throws `GenesisError`. */
function initGenesis(context: Context, json: JsonValue | undefined, { bech32Prefix }: Keepers): void {
  const given = readGenesis(SCHEMA, json);
  const path = `app_state.${MODULE_NAME}`;
  const params = partOr(json, "params", given?.params, moduleParams.defaults);
  atPath(`${path}.params`, () => moduleParams.set(context, params));
  const type = scheduleTypeOf(params);
  const schedule = given?.paymentSchedule?.paymentSchedule ?? startPeriod(type, presentBlock(context));
  atPath(`${path}.payment_schedule`, () => {
    if (!isOfType(schedule, type)) throw new Error("the period's type differs from the parameters' type");
    setSchedule(context, schedule);
  });
  eachAtPath(`${path}.validators`, given?.validators ?? [], (info) =>
    infos.set(context, parseAddress(`${bech32Prefix}valoper`, info.valOperAddress), info),
  );
}

function createHandlers(keepers: Keepers): readonly MessageHandler[] {
  const { chainName, bech32Prefix, authority: expected, bank } = keepers;
  return messageHandlers(
    tx.Msg,
    {
      UpdateParams: (context, { authority, params = moduleParams.defaults }) => {
        wrapErrors("invalid MsgUpdateParams", () => {
          requireAuthorityAddress(bech32Prefix, authority);
          wrapErrors("params are invalid", () => moduleParams.validate(params));
          const before = moduleParams.get(context);
          if (params.rewardAsset !== before.rewardAsset)
            throw ErrInvalidRequest("reward asset change is prohibited");
          if (params.rewardQuote?.asset !== before.rewardQuote?.asset)
            throw ErrInvalidRequest("quote asset change is prohibited");
        });
        if (authority !== expected)
          throw ErrInvalidRequest(`invalid authority; expected ${expected}, got ${authority}`);
        moduleParams.set(context, params);
      },
      FundTreasury: (context, { sender, amount }) => {
        const coins = parseCoins(amount);
        const { rewardAsset } = moduleParams.get(context);
        wrapErrors("invalid MsgFundTreasury", () => {
          if (coins.length !== 1) throw ErrInvalidRequest("exactly one coin must be provided");
          if (coins[0]?.denom !== rewardAsset)
            throw ErrInvalidRequest(`provided denom doesn't match the reward denom ${rewardAsset}`);
          if (!areValidCoins(coins)) throw ErrInvalidCoins(`invalid coins: ${formatCoins(coins)}`);
        });
        bank.sendToModule(context, parseAddress(bech32Prefix, sender), TREASURY, coins);
      },
    },
    chainName,
  );
}

function createQueries(keepers: Keepers): readonly QueryHandler[] {
  const { chainName, bech32Prefix } = keepers;
  return queryHandlers(
    wire.Query,
    {
      Params: moduleParams.query,
      PaymentInfo: (context) => {
        const params = moduleParams.get(context);
        const schedule = scheduleOf(context);
        const amount = internal("failed to calc base revenue amount: ", () =>
          baseAmount(context, params, keepers),
        );
        return {
          paymentSchedule: { paymentSchedule: schedule },
          effectivePeriodProgress: progressOf(schedule, presentBlock(context)).toString(),
          rewardAssetTwap: twapOf(context).toString(),
          baseRevenueAmount: toWireCoin({ denom: params.rewardAsset, amount }),
        };
      },
      ValidatorStats: (context, { valOperAddress }) => {
        const info = infos.get(
          context,
          orThrow(() => parseAddress(`${bech32Prefix}valoper`, valOperAddress), unknownValidator),
        );
        if (info === undefined) throw unknownValidator();
        return { stats: statsOf(context, info, keepers) };
      },
      ValidatorsStats: (context) => ({
        stats: infos.values(context).map((info) => statsOf(context, info, keepers)),
      }),
    },
    chainName,
  );
}

function unknownValidator(): QueryError {
  return new QueryError(GrpcCode.InvalidArgument, "validator info not found");
}

/** Returns the revenue for a full period at the current rating. */
function statsOf(context: Context, info: ValidatorInfo, keepers: Keepers): wire.ValidatorStats {
  const params = moduleParams.get(context);
  const performanceRating = rate(params, info);
  const totalProducedBlocksInPeriod = blocksOf(scheduleOf(context), presentBlock(context));
  const base = internal("", () => baseAmount(context, params, keepers));
  const { inActiveSet } = performanceOf(info);
  const amount = compensationOf(performanceRating, base, {
    inActiveSet,
    blocks: totalProducedBlocksInPeriod,
  });
  return {
    validatorInfo: info,
    totalProducedBlocksInPeriod,
    performanceRating: performanceRating.toString(),
    expectedRevenue: toWireCoin({ denom: params.rewardAsset, amount }),
  };
}

function internal<T>(words: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    throw new QueryError(GrpcCode.Internal, `${words}${error.message}`);
  }
}
