import { toHex } from "../../base/bytes.ts";
import type { Validator, ValidatorSet } from "../../comet/block-types.ts";
import { rotateProposer } from "../../comet/proposer-rotation.ts";
import { totalPower } from "../../comet/validator-set.ts";
import { NodeError } from "../errors.ts";

/** Who proposes a height, in which round: rounds pass while the proposer is absent. */
export interface Turn {
  readonly round: number;
  readonly proposer: Validator;
}

/** Rounds tried before the set is held to be broken; priorities bring every validator to its turn far earlier. */
const MAX_ROUNDS = 10_000;

/**
 * The first round whose proposer is present. Throws `NodeError` `no-quorum` when those present do not hold more than
 * two thirds of the power: such a chain stands still.
 */
export function chooseProposer(
  set: ValidatorSet,
  height: bigint,
  isPresent: (address: Uint8Array) => boolean,
): Turn {
  const power = totalPower(set.validators.filter((one) => isPresent(one.address)));
  if (power * 3n <= totalPower(set.validators) * 2n) {
    throw new NodeError(
      { code: "no-quorum", height },
      `block ${height} cannot be made: the present validators do not hold more than two thirds of the power`,
    );
  }
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
