import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Misbehavior } from "../../runtime/abci.ts";
import type { Context } from "../../runtime/context.ts";
import { jailed, slashed } from "./events.ts";
import { fractionOf, paramsOf } from "./params.ts";
import { publicKeys, signingInfos } from "./signing-infos.ts";
import type { Environment } from "./types.ts";

/** The SDK jails for a double sign until the last second of the year 9999. */
const JAIL_END_NS = 253_402_300_799n * 1_000_000_000n;
/** Validators of a height were set one block before it. */
const UPDATE_DELAY = 1n;

/**
 * Handles evidence that a validator signed two blocks of one height: slashes, jails and tombstones it. Ignores evidence against
 * validators that are unknown, unbonded or tombstoned, and evidence that is too old.
 */
export function punishDoubleSign(context: Context, environment: Environment, evidence: Misbehavior): void {
  const { address, height, power } = evidence;
  const { staking, format } = environment;
  const validator = staking.byConsensus(context, address);
  if (validator === undefined || validator.status === BondStatus.BOND_STATUS_UNBONDED) return;
  const info = signingInfos.get(context, address);
  const isKnown = publicKeys.has(context, address);
  if (!isKnown || info === undefined || info.tombstoned || isTooOld(context, environment, evidence)) return;
  const fraction = fractionOf(paramsOf(context).slashFractionDoubleSign);
  const burned = staking.slash(context, {
    consensus: address,
    height: height - UPDATE_DELAY,
    power,
    fraction,
  });
  context.emit(slashed({ address: format(address), power, reason: "double_sign", burned }));
  if (!validator.jailed) {
    staking.jail(context, address);
    context.emit(jailed(format(address)));
  }
  signingInfos.set(context, address, { ...info, jailedUntilNs: JAIL_END_NS, tombstoned: true });
}

function isTooOld(context: Context, { evidenceAge }: Environment, { height, timeNs }: Misbehavior): boolean {
  const most = evidenceAge(context);
  return context.height - height > most.blocks && context.timeNs - timeNs > most.timeNs;
}
