import { toHex } from "../../../platform/base/bytes.ts";
import type { Validator, ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import { rotateProposer, totalPower } from "../../../cosmos/comet/validator-set.ts";
import { NodeError } from "../errors.ts";

/** The consensus round in which a block is decided, and its proposer. */
export interface Turn {
  readonly round: number;
  readonly proposer: Validator;
}

/**
 * Guards against an endless loop. Priorities span at most twice the total power, and each round costs its proposer more
 * than two thirds of the total power when it is absent (absent validators hold less than a third). A present validator
 * therefore proposes after a few rounds per absent validator.
 */
const MAX_ROUNDS = 10_000;

/**
 * Returns the first round whose proposer is present. Throws `NodeError` `no-quorum` when the present validators hold at
 * most two thirds of the power.
 */
export function chooseProposer(
  set: ValidatorSet,
  height: bigint,
  isPresent: (address: Uint8Array) => boolean,
): Turn {
  const power = totalPower(set.validators.filter((one) => isPresent(one.address)));
  // Integer form of `power / total > 2 / 3`: exactly two thirds is no quorum.
  if (power * 3n <= totalPower(set.validators) * 2n) {
    throw new NodeError(
      { code: "no-quorum", height },
      `block ${height} cannot be made: the present validators do not hold more than two thirds of the power`,
    );
  }
  // As in CometBFT, rounds rotate a copy. The next height starts from the set of round 0.
  let turn = set;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (turn.proposer !== undefined && isPresent(turn.proposer.address)) {
      return { round, proposer: turn.proposer };
    }
    turn = rotateProposer(turn, 1);
  }
  throw new Error(
    `this is a bug: nobody proposes height ${height} of ${toHex(set.validators[0]?.address ?? new Uint8Array())}`,
  );
}
