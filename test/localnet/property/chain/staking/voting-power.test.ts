import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../src/platform/base/json.ts";
import { quoDec18, truncateDec18 } from "../../../../../src/platform/base/decimal.ts";
import { byPair as delegations } from "../../../../../src/localnet/chain/modules/staking/delegations.ts";
import {
  isBonded,
  byOperator as validators,
} from "../../../../../src/localnet/chain/modules/staking/validators.ts";
import { formatAddress, parseAddress } from "../../../../../src/localnet/chain/runtime/address.ts";
import { ModuleError } from "../../../../../src/localnet/chain/runtime/errors.ts";
import {
  account,
  castBank,
  consensusKey,
  type Name,
  NAMES,
  operator,
  stakeMessages,
  stakeParams,
} from "../../../../support/stake-cast.ts";
import { AUTHORITY, type StakeWorld } from "../../../../support/stake-world.ts";
import { createVotingWorld, type VotingWorld } from "../../../../support/voting-world.ts";

const TIMEOUT_MS = 120_000;
const SECOND = 1_000_000_000n;
const UNBONDING_NS = 1_814_400n * SECOND;

/** One step: a message, or the end of a block with what happens to validators in the next one. */
type Step =
  | { readonly kind: "message"; readonly message: JsonObject }
  /** A delegator takes its whole stake from a validator. */
  | { readonly kind: "leave"; readonly pair: readonly [from: Name, to: Name] }
  | {
      readonly kind: "block";
      readonly absent: readonly Name[];
      readonly accused: readonly Name[];
      readonly waitNs: bigint;
    };

const name = fc.constantFrom(...NAMES);
const amount = fc.oneof(fc.integer({ min: 1, max: 3_000_000 }), fc.integer({ min: 1, max: 20 }));
const message = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(name, amount).map((all) => stakeMessages.create(...all)) },
  { weight: 4, arbitrary: fc.tuple(name, name, amount).map((all) => stakeMessages.delegate(...all)) },
  { weight: 4, arbitrary: fc.tuple(name, name, amount).map((all) => stakeMessages.undelegate(...all)) },
  {
    weight: 3,
    arbitrary: fc.tuple(name, fc.tuple(name, name), amount).map((all) => stakeMessages.redelegate(...all)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(name, name, amount, fc.bigInt({ min: 1n, max: 30n }))
      .map((all) => stakeMessages.cancel(...all)),
  },
  { weight: 1, arbitrary: name.map(stakeMessages.unjail) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }).map((max) => stakeParams(AUTHORITY, max)) },
);
const some = fc.subarray([...NAMES]);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: message.map((one): Step => ({ kind: "message", message: one })),
  },
  { weight: 1, arbitrary: fc.tuple(name, name).map((pair): Step => ({ kind: "leave", pair })) },
  {
    weight: 3,
    arbitrary: fc
      .record({
        absent: some,
        accused: fc.oneof({ weight: 6, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some }),
        waitNs: fc.constantFrom(SECOND, SECOND, SECOND, 700n * SECOND, UNBONDING_NS),
      })
      .map((one): Step => ({ kind: "block", ...one })),
  },
);

/** Two validators at the start, with the stake of all four. */
function genesis(): JsonObject {
  return {
    bank: castBank(50_000_000),
    slashing: {
      params: {
        signed_blocks_window: "3",
        min_signed_per_window: "0.5",
        downtime_jail_duration: "600s",
        slash_fraction_double_sign: "0.05",
        slash_fraction_downtime: "0.013",
      },
    },
  };
}

/** The tokens of a delegation, rounded down. */
function tokensOf(world: StakeWorld, from: Name, to: Name): bigint {
  const pair = {
    delegator: parseAddress("neutron", account(from)),
    validator: parseAddress("neutronvaloper", operator(to)),
  };
  const validator = validators.get(world.context(), pair.validator);
  const delegation = delegations.get(world.context(), pair);
  if (validator === undefined || delegation === undefined) return 0n;
  return truncateDec18(quoDec18(delegation.shares * validator.tokens, validator.delegatorShares));
}

/** At least 1: the chain refuses 0. */
function stakeOf(world: StakeWorld, from: Name, to: Name): number {
  return Math.max(1, Number(tokensOf(world, from, to)));
}

interface Power {
  readonly total: string;
  readonly validators: readonly unknown[];
  readonly delegators: readonly string[];
}

/** The voting power as the staking module has it. */
function powerOfState(world: StakeWorld): Power {
  const context = world.context();
  const known = NAMES.map((one) => validators.get(context, parseAddress("neutronvaloper", operator(one))));
  const bonded = known.map((one) => (one !== undefined && isBonded(one) ? one.tokens : 0n));
  const delegators = NAMES.map((from) =>
    NAMES.map((to, index) => {
      const validator = known[index];
      return validator !== undefined && isBonded(validator) ? tokensOf(world, from, to) : 0n;
    }).reduce((sum, one) => sum + one, 0n),
  );
  return {
    total: bonded.reduce((sum, one) => sum + one, 0n).toString(),
    validators: known.map((one) =>
      one === undefined
        ? null
        : { tokens: `${one.tokens}`, shares: `${one.delegatorShares}`, bonded: isBonded(one) },
    ),
    delegators: delegators.map(String),
  };
}

const REMOVED = { tokens: "0", shares: "0", bonded: false };

/** The voting power as the contract has it. A validator that was removed is none. */
function powerOfContract({ ask, world }: VotingWorld, height?: bigint): Power {
  const at = height === undefined ? {} : { height: Number(height) };
  const power = (asked: JsonObject): string => JSON.parse(JSON.stringify(ask(asked))).power;
  const isThere = (one: Name): boolean =>
    height !== undefined || validators.has(world.context(), parseAddress("neutronvaloper", operator(one)));
  return {
    total: power({ total_power_at_height: at }),
    validators: NAMES.map((one) =>
      isThere(one) ? ask({ validator_at_height: { address: operator(one), ...at } }) : null,
    ),
    delegators: NAMES.map((one) => power({ voting_power_at_height: { address: account(one), ...at } })),
  };
}

/** A history knows a removed validator, the state does not. */
function withoutRemoved(power: Power): Power {
  const isRemoved = (one: unknown): boolean => JSON.stringify(one) === JSON.stringify(REMOVED);
  return { ...power, validators: power.validators.map((one) => (isRemoved(one) ? null : one)) };
}

interface Run {
  readonly voting: VotingWorld;
  readonly history: ReadonlyMap<bigint, Power>;
  readonly accepted: number;
  readonly slashes: number;
  readonly leaves: number;
}

function run(steps: readonly Step[], compare: (voting: VotingWorld, height: bigint) => void): Run {
  const voting = createVotingWorld(genesis());
  const { world } = voting;
  voting.subscribe();
  const history = new Map<bigint, Power>();
  let [height, timeNs, accepted] = [0n, UNBONDING_NS, 0];
  const first = [stakeMessages.create("a", 9_000_000), stakeMessages.create("b", 5_000_000)];
  let messages: (() => JsonObject)[] = first.map((one) => () => one);
  for (const one of [...steps, END_OF_BLOCK]) {
    if (one.kind === "message") {
      messages.push(() => one.message);
      continue;
    }
    if (one.kind === "leave") {
      messages.push(() => stakeMessages.undelegate(...one.pair, stakeOf(world, ...one.pair)));
      continue;
    }
    height += 1n;
    timeNs += one.waitNs;
    const place = { height, timeNs };
    const votes = votesOf(world, one.absent);
    const misbehavior = one.accused.map((who) => ({
      address: consensusKey(who).address,
      height: height - 1n,
      timeNs: timeNs - one.waitNs,
      power: powerIn(world, who),
    }));
    world.block(
      place,
      votes,
      () => {
        for (const sent of messages) accepted += isAccepted(world, sent()) ? 1 : 0;
      },
      height > 1n ? misbehavior : [],
    );
    messages = [];
    history.set(height, powerOfState(world));
    compare(voting, height);
  }
  const callsOf = (hook: string): number =>
    world.calls.filter(([, text]) => text.startsWith(`{"${hook}"`)).length;
  const [slashes, leaves] = [callsOf("before_validator_slashed"), callsOf("before_delegation_removed")];
  return { voting, history, accepted, slashes, leaves };
}

const END_OF_BLOCK: Step = { kind: "block", absent: [], accused: [], waitNs: SECOND };

function isAccepted(world: StakeWorld, sent: JsonObject): boolean {
  try {
    world.atomically(() => world.run(sent));
    return true;
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    return false;
  }
}

function powerIn(world: StakeWorld, who: Name): bigint {
  const validator = validators.get(world.context(), parseAddress("neutronvaloper", operator(who)));
  return (validator?.tokens ?? 0n) / 1_000_000n;
}

function votesOf(world: StakeWorld, absent: readonly Name[]) {
  return NAMES.flatMap((who) => {
    const validator = validators.get(world.context(), parseAddress("neutronvaloper", operator(who)));
    if (validator === undefined || !isBonded(validator)) return [];
    const power = powerIn(world, who);
    return [{ address: consensusKey(who).address, power, signed: !absent.includes(who) }];
  });
}

describe("the voting-power contract", () => {
  it(
    "agrees with the staking module after every block, and remembers every height",
    () => {
      let [accepted, slashes, leaves, blocks] = [0, 0, 0, 0];
      fc.assert(
        fc.property(fc.array(step, { minLength: 20, maxLength: 70 }), (steps) => {
          const result = run(steps, (voting) => {
            expect(powerOfContract(voting)).toEqual(powerOfState(voting.world));
          });
          for (const [height, power] of result.history)
            expect(withoutRemoved(powerOfContract(result.voting, height))).toEqual(withoutRemoved(power));
          accepted += result.accepted;
          slashes += result.slashes;
          leaves += result.leaves;
          blocks += result.history.size;
        }),
        { numRuns: 30, seed: 13 },
      );
      expect(accepted).toBeGreaterThan(100);
      expect(slashes).toBeGreaterThan(10);
      expect(leaves).toBeGreaterThan(10);
      expect(blocks).toBeGreaterThan(200);
    },
    TIMEOUT_MS,
  );

  it("follows a validator that existed before the subscription only after sync", () => {
    const voting = createVotingWorld(genesis());
    const { world, ask, execute } = voting;
    const block = (height: bigint, ...sent: readonly JsonObject[]): void => {
      world.block({ height, timeNs: height * SECOND }, [], () => sent.forEach((one) => world.run(one)));
    };
    block(1n, stakeMessages.create("a", 9_000_000), stakeMessages.delegate("b", "a", 1_000_000));
    voting.subscribe();
    block(2n, stakeMessages.delegate("c", "a", 500_000));
    expect(ask({ total_power_at_height: {} })).toEqual({ power: "0", height: 2 });
    expect(execute({ sync: { val_addr: operator("a") } })).toEqual([
      { key: "method", value: "sync" },
      { key: "delegations", value: "3" },
    ]);
    expect(powerOfContract(voting)).toEqual(powerOfState(world));
    block(3n, stakeMessages.undelegate("b", "a", 400_000));
    expect(powerOfContract(voting)).toEqual(powerOfState(world));
    expect(ask({ voting_power_at_height: { address: account("b"), height: 2 } })).toEqual({
      power: "1000000",
      height: 2,
    });
    expect(() => execute({ sync: { val_addr: operator("a") } })).toThrow("is followed already");
  });

  it("reads all pages of the delegations", () => {
    const { balances } = castBank(50_000_000);
    const many = Array.from({ length: 101 }, (_, index) =>
      formatAddress("neutron", new Uint8Array(20).fill(100 + index)),
    );
    const coins = [{ denom: "untrn", amount: "10" }];
    const voting = createVotingWorld({
      ...genesis(),
      bank: { balances: [...balances, ...many.map((address) => ({ address, coins }))] },
    });
    const { world, ask, execute } = voting;
    world.block({ height: 1n, timeNs: SECOND }, [], () => {
      world.run(stakeMessages.create("a", 9_000_000));
      for (const delegator_address of many)
        world.run({ ...stakeMessages.delegate("b", "a", 10), delegator_address });
    });
    execute({ sync: { val_addr: operator("a") } });
    const powers = many.map((address) => ask({ voting_power_at_height: { address } }));
    expect(powers).toEqual(many.map(() => ({ power: "10", height: 1 })));
  });

  it("refuses unknown messages and heights of the future", () => {
    const { world, ask, execute } = createVotingWorld(genesis());
    expect(() => world.onSudo(world.context(), "", '{"x":{}}')).toThrow(
      "unknown variant `x`, expected one of",
    );
    expect(() => world.onSudo(world.context(), "", '{"after_delegation_modified":{}}')).toThrow(
      "del_addr: not present",
    );
    expect(() => execute({ x: {} })).toThrow("unknown variant `x`");
    expect(() => ask({ x: {} })).toThrow("unknown variant `x`");
    expect(() => ask({ total_power_at_height: { height: 1 } })).toThrow("height 1 is in the future");
  });
});
