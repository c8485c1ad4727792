import { createProtoVariant } from "../../../cosmos/proto/variant.ts";
import { DIFFERENCE_AREAS, hasSwitch, type Profile, type ProfileName, SPECIFICATION } from "./profile.ts";

const DIFFERENCES = DIFFERENCE_AREAS.flatMap(({ differences }) => Object.values(differences));

const DEPLOYED: Profile = {
  name: "deployed",
  deployed: hasSwitch,
  proto: createProtoVariant(DIFFERENCES.flatMap(({ fields = [] }) => fields)),
};

/** Returns the profile of a chain. Two calls with one name return the same object. */
export function profileNamed(name: ProfileName = "specification"): Profile {
  return name === "deployed" ? DEPLOYED : SPECIFICATION;
}
