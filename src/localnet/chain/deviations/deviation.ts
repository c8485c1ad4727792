import type { FieldChange } from "../../../cosmos/proto/variant.ts";

/**
 * A subject on which the specification and the deployed chain (release 6.0.3) differ, or on which one of them is silent. The texts are
 * Markdown for a table cell; "–" means silent.
 */
export interface Deviation {
  readonly subject: string;
  readonly specification: string;
  readonly deployed: string;
  /** What a chain with the profile `specification` does, and why. Without a switch, every chain does this. */
  readonly here: string;
  /** True: a chain with the profile `deployed` does what the deployed chain does. */
  readonly isSwitch: boolean;
  /** Protobuf fields that have another number or name on the deployed chain. */
  readonly fields?: readonly FieldChange[];
}
