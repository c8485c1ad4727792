import { MsgSubmitProposal } from "../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import {
  QueryCurrentPlanRequest,
  QueryCurrentPlanResponse,
} from "../../cosmos/proto/gen/cosmos/upgrade/v1beta1/query.ts";
import { MsgCancelUpgrade, MsgSoftwareUpgrade } from "../../cosmos/proto/gen/cosmos/upgrade/v1beta1/tx.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { ChainProfile } from "../accounts/chains.ts";
import { createLocalAccount, type LocalAccount, type LocalDraft } from "../accounts/local-account.ts";
import { MODULE_NAME as AUTHORITY } from "../chain/modules/adminmodule/module.ts";
import { formatAddress, moduleAddress } from "../chain/runtime/address.ts";
import type { NodeView } from "../node/base/node-view.ts";

/** Number of blocks between planning an upgrade and the upgrade height, i.e. two hours at one block per second. */
const AHEAD = 7_200n;
/** Prefix of the upgrade plans' names, which are all different, because a chain accepts a plan name only once. */
const NAME_PREFIX = "fault-";
const GAS_LIMIT = 400_000n;
/** Fee for the proposal's transaction, which is sufficient even while blocks are full. */
const FEE_AMOUNT = 1_000_000n;
/** Number of blocks after which the planner treats a transaction as lost if it is not in a block. */
const WAIT_BLOCKS = 5n;

/** Plans an upgrade while `isWanted` is true, and cancels the upgrade afterwards. Must be called after each block. */
export type PlannedUpgrade = (view: NodeView, isWanted: boolean) => Promise<void>;

/**
 * Creates a planner that proposes and cancels upgrades as the chain's first admin. The planner never changes plans whose names do
 * not start with {@link NAME_PREFIX}.
 */
export function createPlannedUpgrade(chain: ChainProfile, logger: Logger): PlannedUpgrade {
  const [admin] = chain.settings.admins;
  const authority = formatAddress(chain.bech32Prefix, moduleAddress(AUTHORITY));
  let account: LocalAccount | undefined;
  let notBefore = 0n;
  return async (view, isWanted) => {
    const { latestHeight } = view.status();
    if (latestHeight < notBefore || view.block(latestHeight) === undefined) return;
    const plan = readPlan(view);
    const isOurs = plan?.name.startsWith(NAME_PREFIX) === true;
    if (isWanted ? plan !== undefined : !isOurs) return;
    if (!chain.keys.some(({ name }) => name === admin) || admin === undefined) {
      if (notBefore === 0n) logger.warn("no upgrade can be planned: no account of the chain is an admin");
      notBefore = latestHeight + AHEAD;
      return;
    }
    notBefore = latestHeight + WAIT_BLOCKS;
    account ??= createLocalAccount(chain, admin);
    const height = latestHeight + AHEAD;
    const { check } = await account.broadcast(view, {
      messages: [
        proposal(account.address, isWanted ? planMessage(authority, height) : cancelMessage(authority)),
      ],
      memo: NAME_PREFIX,
      gasLimit: GAS_LIMIT,
      fee: { denom: chain.denom, amount: FEE_AMOUNT },
    });
    if (check.code !== 0) logger.warn("transaction rejected", { code: check.code, log: check.log });
  };
}

type Message = LocalDraft["messages"][number];

function planMessage(authority: string, height: bigint): Message {
  const plan = {
    name: `${NAME_PREFIX}${height}`,
    time: undefined,
    height,
    info: "planned by relaywatch localnet fault upgrade-planned",
    upgradedClientState: undefined,
  };
  return {
    typeUrl: "/cosmos.upgrade.v1beta1.MsgSoftwareUpgrade",
    value: MsgSoftwareUpgrade.encode({ authority, plan }).finish(),
  };
}

function cancelMessage(authority: string): Message {
  return {
    typeUrl: "/cosmos.upgrade.v1beta1.MsgCancelUpgrade",
    value: MsgCancelUpgrade.encode({ authority }).finish(),
  };
}

function proposal(proposer: string, message: Message): Message {
  return {
    typeUrl: "/cosmos.adminmodule.adminmodule.MsgSubmitProposal",
    value: MsgSubmitProposal.encode({ proposer, messages: [message] }).finish(),
  };
}

function readPlan(view: NodeView): QueryCurrentPlanResponse["plan"] {
  const data = QueryCurrentPlanRequest.encode({}).finish();
  const path = "/cosmos.upgrade.v1beta1.Query/CurrentPlan";
  const response = view.query({ path, data, height: 0n, prove: false });
  return response.code === 0 ? QueryCurrentPlanResponse.decode(response.value).plan : undefined;
}
