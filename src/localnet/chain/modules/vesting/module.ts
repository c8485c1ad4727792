import type { AuthKeeper } from "../auth/keeper.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import type { Period } from "../../../../cosmos/proto/gen/cosmos/vesting/v1beta1/vesting.ts";
import * as tx from "../../../../cosmos/proto/gen/cosmos/vesting/v1beta1/tx.ts";
import { splitNs } from "../../../../platform/base/time.ts";
import { isRecord, type JsonValue } from "../../../../platform/base/json.ts";
import { arePositive, type Coin, formatCoins, parseCoins, sumCoins } from "../../runtime/coins.ts";
import type { Context, ChainModule } from "../../runtime/context.ts";
import { GenesisError } from "../../runtime/genesis.ts";
import { messageHandlers } from "../../runtime/handlers.ts";
import * as errors from "../../runtime/errors.ts";
import * as schedules from "../../runtime/vesting.ts";

/**
 * Name of the module and of its empty member in the genesis document. The module has no store, because the `auth` module stores the
 * accounts.
 */
const MODULE_NAME = "vesting";

export interface VestingDeps {
  readonly accounts: Pick<AuthKeeper, "parseAddress" | "get" | "createVesting">;
  readonly bank: Pick<BankKeeper, "requireSendEnabled" | "isBlocked" | "send">;
}

/** Creates the `vesting` module, whose messages create accounts with vesting coins. */
export function createVestingModule(deps: VestingDeps): ChainModule {
  return {
    name: MODULE_NAME,
    stores: [],
    messages: messageHandlers(tx.Msg, {
      CreateVestingAccount: (context, message) => createByTime(context, message, deps),
      CreatePermanentLockedAccount: (context, message) => createPermanent(context, message, deps),
      CreatePeriodicVestingAccount: (context, message) => createPeriodic(context, message, deps),
    }),
    queries: [],
    initGenesis: (_context, json) => requireEmpty(json),
    exportGenesis: () => ({}),
  };
}

function requireEmpty(json: JsonValue | undefined): void {
  if (json === undefined || json === null) return;
  const path = `app_state.${MODULE_NAME}`;
  if (!isRecord(json)) throw new GenesisError(path, "expected an object");
  const [unknown] = Object.keys(json);
  if (unknown !== undefined) throw new GenesisError(`${path}.${unknown}`, "no such field");
}

// The checks run in the SDK's order, because the first failed check determines a message's error.

function createByTime(context: Context, message: tx.MsgCreateVestingAccount, deps: VestingDeps): void {
  const ends = readEnds(message, deps);
  const coins = readAmount(message.amount);
  const { endTime, delayed } = message;
  if (endTime <= 0n) throw errors.ErrInvalidRequest("invalid end time");
  deps.bank.requireSendEnabled(context, coins);
  requireNew(context, ends, deps);
  // As on the deployed chain, an end time before the block time is accepted. In this case, all coins have vested one second later.
  const schedule: schedules.VestingSchedule = delayed
    ? { kind: "delayed" }
    : { kind: "continuous", startTime: splitNs(context.timeNs).seconds };
  fund(context, ends, newVesting(coins, endTime, schedule), deps);
}

function createPermanent(
  context: Context,
  message: tx.MsgCreatePermanentLockedAccount,
  deps: VestingDeps,
): void {
  const ends = readEnds(message, deps);
  const coins = readAmount(message.amount);
  deps.bank.requireSendEnabled(context, coins);
  requireNew(context, ends, deps);
  fund(context, ends, newVesting(coins, 0n, { kind: "permanent" }), deps);
}

function createPeriodic(
  context: Context,
  message: tx.MsgCreatePeriodicVestingAccount,
  deps: VestingDeps,
): void {
  const ends = readEnds(message, deps);
  const { startTime, vestingPeriods } = message;
  if (startTime < 1n)
    throw errors.ErrInvalidRequest(`invalid start time of ${startTime}, length must be greater than 0`);
  const periods = vestingPeriods.map(readPeriod);
  const coins = sumCoins(periods.flatMap(({ amount }) => amount));
  requireNew(context, ends, deps);
  deps.bank.requireSendEnabled(context, coins);
  const endTime = schedules.endOfPeriods(startTime, periods);
  const vesting = newVesting(coins, endTime, { kind: "periodic", startTime, periods });
  errors.orThrow(() => schedules.validateVesting(vesting), errors.ErrInvalidRequest);
  fund(context, ends, vesting, deps);
}

interface Ends {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  /** Bech32 address of the new account. */
  readonly toText: string;
}

function readEnds(
  { fromAddress, toAddress }: { readonly fromAddress: string; readonly toAddress: string },
  { accounts }: VestingDeps,
): Ends {
  const read = (name: string, text: string): Uint8Array =>
    errors.orThrowWith(errors.ErrInvalidAddress, `invalid '${name}' address`, () =>
      accounts.parseAddress(text),
    );
  return { from: read("from", fromAddress), to: read("to", toAddress), toText: toAddress };
}

function readAmount(amount: tx.MsgCreateVestingAccount["amount"]): readonly Coin[] {
  const coins = parseCoins(amount);
  if (!arePositive(coins)) throw errors.ErrInvalidCoins(formatCoins(coins));
  return coins;
}

function readPeriod({ length, amount }: Period, index: number): schedules.VestingPeriod {
  if (length < 1n)
    throw errors.ErrInvalidRequest(
      `invalid period length of ${length} in period ${index}, length must be greater than 0`,
    );
  return { lengthSeconds: length, amount: readAmount(amount) };
}

function requireNew(context: Context, { to, toText }: Ends, { accounts, bank }: VestingDeps): void {
  if (bank.isBlocked(to)) throw errors.ErrUnauthorized(`${toText} is not allowed to receive funds`);
  if (accounts.get(context, to) !== undefined)
    throw errors.ErrInvalidRequest(`account ${toText} already exists`);
}

function newVesting(
  original: readonly Coin[],
  endTime: bigint,
  schedule: schedules.VestingSchedule,
): schedules.Vesting {
  return { original, delegatedFree: [], delegatedVesting: [], endTime, schedule };
}

function fund(
  context: Context,
  { from, to }: Ends,
  vesting: schedules.Vesting,
  { accounts, bank }: VestingDeps,
): void {
  accounts.createVesting(context, to, vesting);
  bank.send(context, from, to, vesting.original);
}
