import { eachAtPath, atPath, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { GenesisState, type ValidatorInfo } from "../../../../cosmos/proto/gen/neutron/revenue/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/revenue/query.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/revenue/tx.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import { areValidCoins, formatCoins, parseCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context, ChainModule, MessageHandler, QueryHandler } from "../../runtime/context.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { requireAuthorityAddress } from "../../runtime/params-module.ts";
import type { OracleVote } from "../oracle/module.ts";
import { compensationOf, blocksOf, isOfType, progressOf, startPeriod } from "./schedule.ts";
import * as keeper from "./keeper.ts";
import * as errors from "../../runtime/errors.ts";

export interface RevenueModule extends ChainModule {
  /** Counts a block's votes, and pays the validators when a period ends. */
  readonly countVotes: (context: Context, votes: readonly OracleVote[]) => void;
}

/** Creates the `revenue` module, which pays validators for signing blocks and voting on prices. */
export function createRevenueModule(options: keeper.RevenueOptions, deps: keeper.RevenueDeps): RevenueModule {
  const keepers: keeper.Keepers = { ...options, ...deps };
  return {
    name: keeper.MODULE_NAME,
    stores: [keeper.MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueries(keepers),
    initGenesis: (context, json) => initGenesis(context, json, keepers),
    exportGenesis: (context) =>
      SCHEMA.print({
        params: keeper.moduleParams.get(context),
        paymentSchedule: { paymentSchedule: keeper.scheduleOf(context) },
        validators: keeper.infos.values(context),
      }),
    countVotes: (context, votes) => keeper.countVotes(context, votes, keepers),
  };
}

const SCHEMA = genesisSchema(keeper.MODULE_NAME, "neutron.revenue.GenesisState", GenesisState);

/** Stores the parameters, the payment period (by default, a new period) and each validator's counts. Throws `GenesisError`. */
function initGenesis(context: Context, json: JsonValue | undefined, { bech32Prefix }: keeper.Keepers): void {
  const given = SCHEMA.read(json);
  const path = `app_state.${keeper.MODULE_NAME}`;
  const params = partOr(json, "params", given?.params, keeper.moduleParams.defaults);
  atPath(`${path}.params`, () => keeper.moduleParams.set(context, params));
  const type = keeper.scheduleTypeOf(params);
  const schedule = given?.paymentSchedule?.paymentSchedule ?? startPeriod(type, keeper.presentBlock(context));
  atPath(`${path}.payment_schedule`, () => {
    if (!isOfType(schedule, type)) throw new Error("the period's type differs from the parameters' type");
    keeper.setSchedule(context, schedule);
  });
  eachAtPath(`${path}.validators`, given?.validators ?? [], (info) =>
    keeper.infos.set(context, parseAddress(`${bech32Prefix}valoper`, info.valOperAddress), info),
  );
}

function createHandlers(keepers: keeper.Keepers): readonly MessageHandler[] {
  const { chainName, bech32Prefix, authority: expected, bank } = keepers;
  return messageHandlers(
    tx.Msg,
    {
      UpdateParams: (context, { authority, params = keeper.moduleParams.defaults }) => {
        errors.wrapErrors("invalid MsgUpdateParams", () => {
          requireAuthorityAddress(bech32Prefix, authority);
          errors.wrapErrors("params are invalid", () => keeper.moduleParams.validate(params));
          const before = keeper.moduleParams.get(context);
          if (params.rewardAsset !== before.rewardAsset)
            throw errors.ErrInvalidRequest("reward asset change is prohibited");
          if (params.rewardQuote?.asset !== before.rewardQuote?.asset)
            throw errors.ErrInvalidRequest("quote asset change is prohibited");
        });
        if (authority !== expected)
          throw errors.ErrInvalidRequest(`invalid authority; expected ${expected}, got ${authority}`);
        keeper.moduleParams.set(context, params);
      },
      FundTreasury: (context, { sender, amount }) => {
        const coins = parseCoins(amount);
        const { rewardAsset } = keeper.moduleParams.get(context);
        errors.wrapErrors("invalid MsgFundTreasury", () => {
          if (coins.length !== 1) throw errors.ErrInvalidRequest("exactly one coin must be provided");
          if (coins[0]?.denom !== rewardAsset)
            throw errors.ErrInvalidRequest(`provided denom doesn't match the reward denom ${rewardAsset}`);
          if (!areValidCoins(coins)) throw errors.ErrInvalidCoins(`invalid coins: ${formatCoins(coins)}`);
        });
        bank.sendToModule(context, parseAddress(bech32Prefix, sender), keeper.TREASURY, coins);
      },
    },
    chainName,
  );
}

function createQueries(keepers: keeper.Keepers): readonly QueryHandler[] {
  const { chainName, bech32Prefix } = keepers;
  return queryHandlers(
    wire.Query,
    {
      Params: keeper.moduleParams.query,
      PaymentInfo: (context) => {
        const params = keeper.moduleParams.get(context);
        const schedule = keeper.scheduleOf(context);
        const amount = internal("failed to calc base revenue amount: ", () =>
          keeper.baseAmount(context, params, keepers),
        );
        return {
          paymentSchedule: { paymentSchedule: schedule },
          effectivePeriodProgress: progressOf(schedule, keeper.presentBlock(context)).toString(),
          rewardAssetTwap: keeper.twapOf(context).toString(),
          baseRevenueAmount: toWireCoin({ denom: params.rewardAsset, amount }),
        };
      },
      ValidatorStats: (context, { valOperAddress }) => {
        const info = keeper.infos.get(
          context,
          errors.orThrow(() => parseAddress(`${bech32Prefix}valoper`, valOperAddress), unknownValidator),
        );
        if (info === undefined) throw unknownValidator();
        return { stats: statsOf(context, info, keepers) };
      },
      ValidatorsStats: (context) => ({
        stats: keeper.infos.values(context).map((info) => statsOf(context, info, keepers)),
      }),
    },
    chainName,
  );
}

function unknownValidator(): errors.QueryError {
  return new errors.QueryError(errors.GrpcCode.InvalidArgument, "validator info not found");
}

/** Returns a validator's counts, rating and expected revenue. The expected revenue is for a full period at the current rating. */
function statsOf(context: Context, info: ValidatorInfo, keepers: keeper.Keepers): wire.ValidatorStats {
  const params = keeper.moduleParams.get(context);
  const performanceRating = keeper.rate(params, info);
  const totalProducedBlocksInPeriod = blocksOf(keeper.scheduleOf(context), keeper.presentBlock(context));
  const base = internal("", () => keeper.baseAmount(context, params, keepers));
  const { inActiveSet } = keeper.performanceOf(info);
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
    if (!(error instanceof errors.ModuleError)) throw error;
    throw new errors.QueryError(errors.GrpcCode.Internal, `${words}${error.message}`);
  }
}
