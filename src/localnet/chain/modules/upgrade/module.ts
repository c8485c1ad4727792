import type {
  ChainNames,
  ChainModule,
  MessageHandler,
  QueryHandler,
  Context,
} from "../../runtime/context.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/upgrade/v1beta1/query.ts";
import * as tx from "../../../../cosmos/proto/gen/cosmos/upgrade/v1beta1/tx.ts";
import { Plan } from "../../../../cosmos/proto/gen/cosmos/upgrade/v1beta1/upgrade.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { GO_ZERO_TIME_NS, joinNs } from "../../../../platform/base/time.ts";
import { ErrInvalidRequest, ErrInvalidSigner } from "../../runtime/errors.ts";
import { atPath, genesisSchema } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { createItem, createMap, messageCodec, textCodec, uint64Codec } from "../../store/collections.ts";

const MODULE_NAME = "upgrade";

const plan = createItem(MODULE_NAME, Uint8Array.of(0), messageCodec(Plan));
const done = createMap(MODULE_NAME, Uint8Array.of(1), textCodec, uint64Codec);

/** `authority` is the account that may plan upgrades. */
type UpgradeOptions = Pick<ChainNames, "authority">;

/**
 * Creates the `upgrade` module, which stores upgrade plans. At a plan's height, the module marks the plan as done and does nothing
 * else.
 */
export function createUpgradeModule(options: UpgradeOptions): ChainModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(options),
    queries: createQueries(options),
    beginBlock: (context) => {
      const due = plan.get(context);
      if (due === undefined || due.height > context.height) return;
      done.set(context, due.name, context.height);
      plan.delete(context);
    },
    initGenesis: (context, json) => {
      const given = SCHEMA.read(json)?.plan;
      if (given !== undefined) atPath(`app_state.${MODULE_NAME}.plan`, () => schedule(context, given));
    },
    exportGenesis: (context): JsonValue => SCHEMA.print({ plan: plan.get(context) }),
  };
}

/** The SDK's `upgrade` module has no genesis, so this module uses the query response's schema, `{"plan": …}`. */
const SCHEMA = genesisSchema(
  MODULE_NAME,
  "cosmos.upgrade.v1beta1.QueryCurrentPlanResponse",
  wire.QueryCurrentPlanResponse,
);

const EMPTY_PLAN: Plan = Plan.decode(new Uint8Array(0));

function createHandlers({ authority }: UpgradeOptions): readonly MessageHandler[] {
  const requireAuthority = (signer: string): void => {
    if (signer !== authority) throw ErrInvalidSigner(`expected ${authority} got ${signer}`);
  };
  return messageHandlers(tx.Msg, {
    SoftwareUpgrade: (context, message) => {
      requireAuthority(message.authority);
      schedule(context, message.plan ?? EMPTY_PLAN);
    },
    CancelUpgrade: (context, message) => {
      requireAuthority(message.authority);
      plan.delete(context);
    },
  });
}

/** Replaces the upgrade plan. Throws sdk/18 if the new plan is invalid, its height is in the past, or its name has already been used. */
function schedule(context: Context, next: Plan): void {
  if (next.time !== undefined && joinNs(next.time) !== GO_ZERO_TIME_NS)
    throw ErrInvalidRequest("time-based upgrades have been deprecated in the SDK");
  if (next.upgradedClientState !== undefined)
    throw ErrInvalidRequest("upgrade logic for IBC has been moved to the IBC module");
  if (next.name === "") throw ErrInvalidRequest("name cannot be empty");
  if (next.height <= 0n) throw ErrInvalidRequest("height must be greater than 0");
  if (next.height < context.height) throw ErrInvalidRequest("upgrade cannot be scheduled in the past");
  if (done.has(context, next.name))
    throw ErrInvalidRequest(`upgrade with name ${next.name} has already been completed`);
  plan.set(context, next);
}

function createQueries({ authority }: UpgradeOptions): readonly QueryHandler[] {
  return queryHandlers(wire.Query, {
    CurrentPlan: (context) => ({ plan: plan.get(context) }),
    AppliedPlan: (context, { name }) => ({ height: done.get(context, name) ?? 0n }),
    Authority: () => ({ address: authority }),
  });
}
