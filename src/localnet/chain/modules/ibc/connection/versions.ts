import type { Version } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { ErrInvalidConnectionVersion, ErrVersionNegotiationFailed } from "../host/errors.ts";

/** The versions of connections that this chain supports: the only one of IBC. */
export const SUPPORTED_VERSIONS: readonly Version[] = [
  { identifier: "1", features: ["ORDER_ORDERED", "ORDER_UNORDERED"] },
];

/** Stateless checks of a version (ibc-go `ValidateVersion`). Throws connection/9. */
export function validateVersion(version: Version | undefined): void {
  if (version === undefined) throw ErrInvalidConnectionVersion("version cannot be nil");
  if (version.identifier.trim() === "")
    throw ErrInvalidConnectionVersion("version identifier cannot be blank");
  for (const [index, feature] of version.features.entries()) {
    if (feature.trim() === "") throw ErrInvalidConnectionVersion(`feature cannot be blank, index ${index}`);
  }
}

/** Whether one of the versions has this identifier and all these features, of which there must be one. */
export function isSupportedVersion(supported: readonly Version[], version: Version): boolean {
  const known = supported.find(({ identifier }) => identifier === version.identifier);
  return (
    known !== undefined &&
    version.features.length > 0 &&
    version.features.every((feature) => known.features.includes(feature))
  );
}

/** Chooses the first own version that the counterparty shares, with the features of both. Throws connection/10. */
export function pickVersion(counterparty: readonly Version[]): Version {
  for (const { identifier, features } of SUPPORTED_VERSIONS) {
    const other = counterparty.find((version) => version.identifier === identifier);
    const shared = features.filter((feature) => other?.features.includes(feature));
    if (shared.length > 0) return { identifier, features: shared };
  }
  throw ErrVersionNegotiationFailed(
    `failed to find a matching counterparty version (${goVersions(counterparty)}) from the supported version list (${goVersions(SUPPORTED_VERSIONS)})`,
  );
}

/** Prints versions as Go prints a list of these protobuf messages. */
export function goVersions(versions: readonly Version[]): string {
  return `[${versions.map(goVersion).join(" ")}]`;
}

/** Prints a version as Go prints the protobuf message: with a space at the end. */
export function goVersion({ identifier, features }: Version): string {
  const identity = identifier === "" ? "" : `identifier:${JSON.stringify(identifier)} `;
  return identity + features.map((feature) => `features:${JSON.stringify(feature)} `).join("");
}
