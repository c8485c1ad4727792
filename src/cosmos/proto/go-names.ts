import type { DescEnum, DescMessage } from "@bufbuild/protobuf";

/** Go package names by proto package. A proto package that is not listed has the Go package name "types". */
const GO_PACKAGES: Readonly<Record<string, string>> = {
  "cosmos.tx.v1beta1": "tx",
  "cosmos.tx.signing.v1beta1": "signing",
  "cosmos.crypto.secp256k1": "secp256k1",
  "cosmos.crypto.ed25519": "ed25519",
  "cosmos.crypto.multisig": "multisig",
  "cosmos.base.query.v1beta1": "query",
  "cosmos.base.tendermint.v1beta1": "cmtservice",
  "cosmos.base.node.v1beta1": "node",
  "cosmos.base.reflection.v1beta1": "reflection",
  "cosmos.ics23.v1": "ics23",
  "ibc.lightclients.tendermint.v1": "tendermint",
  "ibc.lightclients.localhost.v2": "localhost",
  "tendermint.crypto": "crypto",
  "tendermint.version": "version",
  "tendermint.p2p": "p2p",
};

/** Returns a message's Go type as `%T` prints it in the SDK's error messages, such as `*tx.ModeInfo_Single`. */
export function goTypeName(desc: DescMessage): string {
  return `*${goName(desc)}`;
}

/** Returns the Go name of a message or enum with its package, such as `tx.OrderBy`. */
export function goName({ file, typeName }: DescMessage | DescEnum): string {
  const protoPackage = file.proto.package;
  const name = typeName.slice(protoPackage.length + 1).replaceAll(".", "_");
  return `${GO_PACKAGES[protoPackage] ?? "types"}.${name}`;
}
