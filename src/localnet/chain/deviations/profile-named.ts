import { createProtoVariant } from "../../../cosmos/proto/variant.ts";
import { DEVIATION_AREAS, type Profile, type ProfileName, SPECIFICATION } from "./deviations.ts";

const FIELDS = DEVIATION_AREAS.flatMap(({ deviations }) =>
  Object.values(deviations).flatMap(({ fields = [] }) => fields),
);

const DEPLOYED: Profile = {
  name: "deployed",
  deployed: () => true,
  proto: createProtoVariant(FIELDS),
};

/** Returns the profile with this name. Calls with the same name return the same object. */
export function profileNamed(name: ProfileName = "specification"): Profile {
  return name === "deployed" ? DEPLOYED : SPECIFICATION;
}
