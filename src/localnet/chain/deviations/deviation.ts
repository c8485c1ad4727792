import type { FieldChange } from "../../../cosmos/proto/variant.ts";

/**
 * A behaviour in which the specification and the deployed chain (release 6.0.3) differ, or which only one of the two defines. The
 * texts are Markdown and fill cells in the table in `docs/conformance.md`.
 */
export interface Deviation {
  readonly subject: string;
  /** The behaviour that the specification describes, or undefined if the specification does not cover this point. */
  readonly specification?: string;
  readonly deployed: string;
  /** How a chain with the `specification` profile behaves, and why. If `isSwitch` is not set, chains with any profile behave this way. */
  readonly here: string;
  /** Set if the behaviour depends on the profile. In this case, a chain with the `deployed` profile behaves like the deployed chain. */
  readonly isSwitch?: true;
  /** Protobuf fields whose number or name differs on the deployed chain. */
  readonly fields?: readonly FieldChange[];
}
