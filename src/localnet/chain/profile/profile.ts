import type { ProtoVariant } from "../../../cosmos/proto/variant.ts";
import { DEX_DIFFERENCES } from "./dex-differences.ts";
import type { Difference } from "./difference.ts";
import {
  CONTRACT_DIFFERENCES,
  ICQ_DIFFERENCES,
  NODE_DIFFERENCES,
  SIDECAR_DIFFERENCES,
  TRANSFER_DIFFERENCES,
} from "./other-differences.ts";

/**
 * Which side a chain takes where specification and deployed chain differ. A chain has its profile from its genesis document on, and
 * never changes it.
 */
export const PROFILE_NAMES = ["specification", "deployed"] as const;

export type ProfileName = (typeof PROFILE_NAMES)[number];

const TABLES = {
  ...ICQ_DIFFERENCES,
  ...DEX_DIFFERENCES,
  ...TRANSFER_DIFFERENCES,
  ...CONTRACT_DIFFERENCES,
  ...NODE_DIFFERENCES,
  ...SIDECAR_DIFFERENCES,
};

type Tables = typeof TABLES;

/** Identifier of a difference that the profile decides. */
export type SwitchId = {
  [Id in keyof Tables]: Tables[Id]["isSwitch"] extends true ? Id : never;
}[keyof Tables];

/** The profile of a chain as its code reads it. */
export interface Profile {
  readonly name: ProfileName;
  /** Returns whether the chain does what the deployed chain does in this difference. */
  readonly deployed: (id: SwitchId) => boolean;
  /** Field numbers and names of the chain's messages; undefined: those of the definitions, with which the code works. */
  readonly proto: ProtoVariant | undefined;
}

/** The profile of chains that do not name one. */
export const SPECIFICATION: Profile = { name: "specification", deployed: () => false, proto: undefined };

/** An area of differences with the heading of its section in `docs/conformance.md`. */
interface DifferenceArea {
  /** Name of the generated section. */
  readonly name: string;
  readonly heading: string;
  readonly differences: Readonly<Record<string, Difference>>;
}

/** All differences, in the order of `docs/conformance.md`. */
export const DIFFERENCE_AREAS: readonly DifferenceArea[] = [
  {
    name: "interchainqueries",
    heading: "The `interchainqueries` module",
    differences: ICQ_DIFFERENCES,
  },
  { name: "dex", heading: "The `dex` module", differences: DEX_DIFFERENCES },
  { name: "transfer", heading: "Transfers and their limits", differences: TRANSFER_DIFFERENCES },
  { name: "contracts", heading: "Contracts", differences: CONTRACT_DIFFERENCES },
  { name: "node", heading: "The node: blocks, RPC, WebSocket", differences: NODE_DIFFERENCES },
  { name: "sidecar", heading: "The price sidecar", differences: SIDECAR_DIFFERENCES },
];

/** Returns whether a difference has a switch. */
export function hasSwitch(id: SwitchId): boolean {
  return TABLES[id].isSwitch;
}

/** A difference as `relaywatch localnet profile` and `docs/conformance.md` show it. */
interface ListedDifference extends Omit<Difference, "isSwitch" | "fields"> {
  readonly area: string;
  /** Identifier of the switch; null for a difference in which all chains do the same. */
  readonly switch: string | null;
  /** Section of `docs/conformance.md`. */
  readonly documented: string;
}

/** Returns all differences in the order of `docs/conformance.md`. */
export function listDifferences(): readonly ListedDifference[] {
  return DIFFERENCE_AREAS.flatMap(({ name, heading, differences }) =>
    Object.entries(differences).map(([id, { isSwitch, subject, specification, deployed, here }]) => ({
      area: name,
      switch: isSwitch ? id : null,
      subject,
      specification,
      deployed,
      here,
      documented: heading,
    })),
  );
}
