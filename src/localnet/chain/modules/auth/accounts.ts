import { BaseAccount, ModuleAccount } from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/vesting/v1beta1/vesting.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import type { Account } from "../../runtime/ante-step.ts";
import { parseCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Vesting, VestingPeriod, VestingSchedule } from "../../runtime/vesting.ts";

/** Converts an account to the protobuf message that is stored and returned by queries. */
export function toAny({ base, module, vesting }: Account): Any {
  if (vesting !== undefined) return vestingToAny(base, vesting);
  if (module === undefined)
    return { typeUrl: TYPE_URL.baseAccount, value: BaseAccount.encode(base).finish() };
  const message = { baseAccount: base, name: module.name, permissions: [...module.permissions] };
  return { typeUrl: TYPE_URL.moduleAccount, value: ModuleAccount.encode(message).finish() };
}

function vestingToAny(baseAccount: BaseAccount, vesting: Vesting): Any {
  const { original, delegatedFree, delegatedVesting, endTime, schedule } = vesting;
  const baseVestingAccount = {
    baseAccount,
    originalVesting: original.map(toWireCoin),
    delegatedFree: delegatedFree.map(toWireCoin),
    delegatedVesting: delegatedVesting.map(toWireCoin),
    endTime,
  };
  const typeUrl = VESTING_TYPE_URLS[schedule.kind];
  switch (schedule.kind) {
    case "continuous": {
      const { startTime } = schedule;
      return {
        typeUrl,
        value: wire.ContinuousVestingAccount.encode({ baseVestingAccount, startTime }).finish(),
      };
    }
    case "delayed":
      return { typeUrl, value: wire.DelayedVestingAccount.encode({ baseVestingAccount }).finish() };
    case "periodic": {
      const { startTime, periods } = schedule;
      const vestingPeriods = periods.map(toWirePeriod);
      const message = { baseVestingAccount, startTime, vestingPeriods };
      return { typeUrl, value: wire.PeriodicVestingAccount.encode(message).finish() };
    }
    case "permanent":
      return { typeUrl, value: wire.PermanentLockedAccount.encode({ baseVestingAccount }).finish() };
  }
}

const VESTING_TYPE_URLS: Readonly<Record<VestingSchedule["kind"], string>> = {
  continuous: "/cosmos.vesting.v1beta1.ContinuousVestingAccount",
  delayed: "/cosmos.vesting.v1beta1.DelayedVestingAccount",
  periodic: "/cosmos.vesting.v1beta1.PeriodicVestingAccount",
  permanent: TYPE_URL.permanentLockedAccount,
};

/** Decodes a stored account. Throws a plain error if this chain does not support the account type. */
export function fromAny({ typeUrl, value }: Any): Account {
  switch (typeUrl) {
    case TYPE_URL.baseAccount:
      return { base: BaseAccount.decode(value) };
    case TYPE_URL.moduleAccount: {
      const { baseAccount, name, permissions } = ModuleAccount.decode(value);
      if (baseAccount === undefined) throw new Error(`module account ${name} has no base_account`);
      return { base: baseAccount, module: { name, permissions } };
    }
    case VESTING_TYPE_URLS.continuous: {
      const { baseVestingAccount, startTime } = wire.ContinuousVestingAccount.decode(value);
      return vestingAccount(baseVestingAccount, { kind: "continuous", startTime });
    }
    case VESTING_TYPE_URLS.delayed:
      return vestingAccount(wire.DelayedVestingAccount.decode(value).baseVestingAccount, { kind: "delayed" });
    case VESTING_TYPE_URLS.periodic: {
      const { baseVestingAccount, startTime, vestingPeriods } = wire.PeriodicVestingAccount.decode(value);
      const periods = vestingPeriods.map(fromWirePeriod);
      return vestingAccount(baseVestingAccount, { kind: "periodic", startTime, periods });
    }
    case VESTING_TYPE_URLS.permanent:
      return vestingAccount(wire.PermanentLockedAccount.decode(value).baseVestingAccount, {
        kind: "permanent",
      });
    default:
      throw new Error(`accounts of type ${typeUrl} are not supported`);
  }
}

function vestingAccount(account: wire.BaseVestingAccount | undefined, schedule: VestingSchedule): Account {
  if (account?.baseAccount === undefined)
    throw new Error("a vesting account has no base_vesting_account with a base_account");
  return {
    base: account.baseAccount,
    vesting: {
      original: parseCoins(account.originalVesting),
      delegatedFree: parseCoins(account.delegatedFree),
      delegatedVesting: parseCoins(account.delegatedVesting),
      endTime: account.endTime,
      schedule,
    },
  };
}

/** Converts a vesting period to protobuf. */
function toWirePeriod({ lengthSeconds, amount }: VestingPeriod): wire.Period {
  return { length: lengthSeconds, amount: amount.map(toWireCoin) };
}

/** Reads a vesting period from a message. Throws sdk/2 if an amount is not an integer. */
function fromWirePeriod({ length, amount }: wire.Period): VestingPeriod {
  return { lengthSeconds: length, amount: parseCoins(amount) };
}
