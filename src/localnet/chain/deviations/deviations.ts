import type { ProtoVariant } from "../../../cosmos/proto/variant.ts";
import { DEX_DEVIATIONS } from "./dex-deviations.ts";
import type { Deviation } from "./deviation.ts";
import {
  CONTRACT_DEVIATIONS,
  ICQ_DEVIATIONS,
  NODE_DEVIATIONS,
  SIDECAR_DEVIATIONS,
  TRANSFER_DEVIATIONS,
} from "./other-deviations.ts";

/**
 * Profile names. Where the specification and the deployed chain differ, a chain follows the profile that its genesis document
 * names.
 */
export const PROFILE_NAMES = ["specification", "deployed"] as const;

export type ProfileName = (typeof PROFILE_NAMES)[number];

type Tables = typeof ICQ_DEVIATIONS &
  typeof DEX_DEVIATIONS &
  typeof TRANSFER_DEVIATIONS &
  typeof CONTRACT_DEVIATIONS &
  typeof NODE_DEVIATIONS &
  typeof SIDECAR_DEVIATIONS;

/** Identifier of a deviation for which the chain's behaviour depends on its profile. */
type SwitchId = {
  [Id in keyof Tables]: Tables[Id] extends { readonly isSwitch: true } ? Id : never;
}[keyof Tables];

/** A chain's profile, which determines the chain's behaviour for each deviation. */
export interface Profile {
  readonly name: ProfileName;
  /** Returns whether the chain behaves like the deployed chain for this deviation. */
  readonly deployed: (id: SwitchId) => boolean;
  /** Field numbers and names in the chain's messages, or undefined if they are the same as in the generated code. */
  readonly proto: ProtoVariant | undefined;
}

/** The profile used by chains that do not name one. */
export const SPECIFICATION: Profile = { name: "specification", deployed: () => false, proto: undefined };

/** A group of deviations, and the heading of its section in `docs/conformance.md`. */
interface DeviationArea {
  /** Name that marks the generated section in `docs/conformance.md`, which `npm run generate` writes. */
  readonly name: string;
  readonly heading: string;
  readonly deviations: Readonly<Record<string, Deviation>>;
}

/** All deviations, in the order of `docs/conformance.md`. */
export const DEVIATION_AREAS: readonly DeviationArea[] = [
  { name: "interchainqueries", heading: "The `interchainqueries` module", deviations: ICQ_DEVIATIONS },
  { name: "dex", heading: "The `dex` module", deviations: DEX_DEVIATIONS },
  { name: "transfer", heading: "Transfers and their limits", deviations: TRANSFER_DEVIATIONS },
  { name: "contracts", heading: "Contracts", deviations: CONTRACT_DEVIATIONS },
  { name: "node", heading: "The node: blocks, RPC, WebSocket", deviations: NODE_DEVIATIONS },
  { name: "sidecar", heading: "The price sidecar", deviations: SIDECAR_DEVIATIONS },
];

/** A deviation as shown by `relaywatch localnet profile` and in `docs/conformance.md`. */
interface ListedDeviation extends Omit<Deviation, "isSwitch" | "fields"> {
  readonly area: string;
  /** The behaviour that the specification describes, or "–" if the specification does not cover this point. */
  readonly specification: string;
  /** Identifier of the deviation's switch, or null if the behaviour does not depend on the profile. */
  readonly switch: string | null;
  /** Heading of the section in `docs/conformance.md` that lists the deviation. */
  readonly documented: string;
}

/** Returns all deviations in the order of `docs/conformance.md`. */
export function listDeviations(): readonly ListedDeviation[] {
  return DEVIATION_AREAS.flatMap(({ name, heading, deviations }) =>
    Object.entries(deviations).map(([id, { isSwitch, subject, specification = "–", deployed, here }]) => ({
      area: name,
      switch: isSwitch === true ? id : null,
      subject,
      specification,
      deployed,
      here,
      documented: heading,
    })),
  );
}
