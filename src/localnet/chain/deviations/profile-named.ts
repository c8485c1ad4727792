import { createProtoVariant } from "../../../cosmos/proto/variant.ts";
import { DEVIATION_AREAS, hasSwitch, type Profile, type ProfileName, SPECIFICATION } from "./deviations.ts";

const DEVIATIONS = DEVIATION_AREAS.flatMap(({ deviations }) => Object.values(deviations));

const DEPLOYED: Profile = {
  name: "deployed",
  deployed: hasSwitch,
  proto: createProtoVariant(DEVIATIONS.flatMap(({ fields = [] }) => fields)),
};

/** Returns a chain's profile. Calls with the same name return the same object. */
export function profileNamed(name: ProfileName = "specification"): Profile {
  return name === "deployed" ? DEPLOYED : SPECIFICATION;
}
