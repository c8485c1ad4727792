import {
  createFileRegistry,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  type FileRegistry,
  fromBinary,
  getOption,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { fromBase64 } from "../../platform/base/bytes.ts";
import { getOrCreate } from "../../platform/base/caches.ts";
import { CodedError, unreachable } from "../../platform/base/errors.ts";
import { DESCRIPTOR_SET_BASE64 } from "./gen/descriptor-set.ts";

/** The chain name in the definitions, which is the first part of the package names and REST paths of the chain's own modules. */
export const CANONICAL_CHAIN_NAME = "neutron";

/** First parts of the other packages in the definitions. A chain with one of these names would claim the types in these packages. */
const RESERVED_ROOTS: ReadonlySet<string> = new Set(
  "amino connect cosmos cosmos_proto cosmwasm feemarket gaia google grpc ibc osmosis relaywatch slinky tendermint".split(
    " ",
  ),
);

/** Type URLs that the program uses, with the canonical chain name for the chain's own modules. */
export const TYPE_URL = {
  tx: "/cosmos.tx.v1beta1.Tx",
  secp256k1PubKey: "/cosmos.crypto.secp256k1.PubKey",
  ed25519PubKey: "/cosmos.crypto.ed25519.PubKey",
  multisigPubKey: "/cosmos.crypto.multisig.LegacyAminoPubKey",
  baseAccount: "/cosmos.auth.v1beta1.BaseAccount",
  moduleAccount: "/cosmos.auth.v1beta1.ModuleAccount",
  permanentLockedAccount: "/cosmos.vesting.v1beta1.PermanentLockedAccount",
  send: "/cosmos.bank.v1beta1.MsgSend",
  multiSend: "/cosmos.bank.v1beta1.MsgMultiSend",
  createClient: "/ibc.core.client.v1.MsgCreateClient",
  updateClient: "/ibc.core.client.v1.MsgUpdateClient",
  submitMisbehaviour: "/ibc.core.client.v1.MsgSubmitMisbehaviour",
  tendermintClientState: "/ibc.lightclients.tendermint.v1.ClientState",
  tendermintConsensusState: "/ibc.lightclients.tendermint.v1.ConsensusState",
  tendermintHeader: "/ibc.lightclients.tendermint.v1.Header",
  tendermintMisbehaviour: "/ibc.lightclients.tendermint.v1.Misbehaviour",
  transfer: "/ibc.applications.transfer.v1.MsgTransfer",
  storeCode: "/cosmwasm.wasm.v1.MsgStoreCode",
  instantiateContract: "/cosmwasm.wasm.v1.MsgInstantiateContract",
  executeContract: "/cosmwasm.wasm.v1.MsgExecuteContract",
  submitProposal: "/cosmos.adminmodule.adminmodule.MsgSubmitProposal",
  registerInterchainQuery: "/neutron.interchainqueries.MsgRegisterInterchainQuery",
  updateInterchainQuery: "/neutron.interchainqueries.MsgUpdateInterchainQueryRequest",
  removeInterchainQuery: "/neutron.interchainqueries.MsgRemoveInterchainQueryRequest",
  submitQueryResult: "/neutron.interchainqueries.MsgSubmitQueryResult",
  updateInterchainQueriesParams: "/neutron.interchainqueries.MsgUpdateParams",
  manageHookSubscription: "/neutron.harpoon.MsgManageHookSubscription",
  updateRateLimitParams: "/neutron.ibcratelimit.v1beta1.MsgUpdateParams",
} as const;

/** Returns `name` if it can be a chain's own name. Otherwise throws ProtoError `bad-chain-name`. */
export function parseChainName(name: string): string {
  if (!/^[a-z][a-z0-9]{0,31}$/.test(name) || RESERVED_ROOTS.has(name)) {
    throw new ProtoError(
      { code: "bad-chain-name", chainName: name },
      `${JSON.stringify(name)} cannot be a chain's own name: expected at most 32 lower-case letters and digits, and not a module's package`,
    );
  }
  return name;
}

/**
 * Translates a canonical type name (`neutron.x.Y`), type URL or gRPC path (`/neutron.x.Y`) to the chain's own name. Names from
 * other modules are returned unchanged.
 */
export function toChainTypeUrl(canonical: string, chainName: string): string {
  return swapRoot(canonical, ".", CANONICAL_CHAIN_NAME, chainName);
}

/**
 * Translates a chain's type name, type URL or gRPC path to its canonical name. Names from other modules are returned unchanged.
 * Returns undefined for a canonical name on a chain with another name, because that chain has no such type.
 */
export function toCanonicalTypeUrl(own: string, chainName: string): string | undefined {
  if (chainName !== CANONICAL_CHAIN_NAME && hasRoot(own, ".", CANONICAL_CHAIN_NAME)) return undefined;
  return swapRoot(own, ".", chainName, CANONICAL_CHAIN_NAME);
}

/** Translates a canonical REST path, path template or file path (`/neutron/…`) to the chain's name. Other paths are unchanged. */
export function toChainRestPath(canonical: string, chainName: string): string {
  return swapRoot(canonical, "/", CANONICAL_CHAIN_NAME, chainName);
}

/** Returns the message name in a type URL. As in Go, this is the part after the last slash, or the entire string if there is no slash. */
export function typeNameOf(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

function hasRoot(path: string, separator: string, root: string): boolean {
  return path.startsWith(`${root}${separator}`) || path.startsWith(`/${root}${separator}`);
}

function swapRoot(path: string, separator: string, from: string, to: string): string {
  if (!hasRoot(path, separator, from)) return path;
  const start = path.startsWith("/") ? 1 : 0;
  return `${path.slice(0, start)}${to}${path.slice(start + from.length)}`;
}

/**
 * Codes and facts of {@link ProtoError}. `path` names the JSON field, such as `result.kv_results[0].key`, or is "" for the message.
 */
type ProtoErrorFacts =
  | { readonly code: "unknown-message"; readonly typeName: string }
  | { readonly code: "unknown-method"; readonly path: string }
  | { readonly code: "unresolvable-type-url"; readonly typeUrl: string }
  | { readonly code: "bad-bytes"; readonly typeName: string }
  | { readonly code: "bad-json"; readonly path: string }
  | { readonly code: "unknown-field"; readonly typeName: string; readonly fieldNumber: number }
  | { readonly code: "wrong-wire-type"; readonly typeName: string; readonly fieldNumber: number }
  | { readonly code: "no-amino-json"; readonly typeName: string }
  | { readonly code: "too-deep" }
  | { readonly code: "bad-chain-name"; readonly chainName: string };

/** Thrown for an unusable message type, encoding or JSON format. */
export class ProtoError extends CodedError<ProtoErrorFacts> {}

export type ServiceInfo = ReturnType<typeof serviceInfo>;

/** One definition file as served by gRPC reflection. */
export interface FileInfo {
  /** Path of the file with its extension, such as `cosmos/tx/v1beta1/tx.proto`. */
  readonly name: string;
  /** Paths of the imported files. */
  readonly imports: readonly string[];
  /** The encoded FileDescriptorProto. */
  readonly bytes: Uint8Array;
}

let shared: FileRegistry | undefined;

/**
 * Returns the descriptors for all definitions. The first call takes tens of milliseconds to build the descriptors. Later calls
 * return the same registry.
 */
export function protoRegistry(): FileRegistry {
  shared ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(DESCRIPTOR_SET_BASE64)));
  return shared;
}

/**
 * Returns the registry for all definitions if it has been built. Otherwise returns a smaller registry for the file that declares
 * the message, extension or service, and for its imports. A small registry is enough for a command, because a command needs few
 * files. Returns undefined for an unknown name.
 */
function registryOf(symbol: string): FileRegistry | undefined {
  if (shared !== undefined) return shared;
  const path = pathOf(symbol);
  return path === undefined ? undefined : registryAt(path);
}

/** Returns a message's descriptor by canonical full name. Throws ProtoError `unknown-message` if there is none. */
export function requireMessage(typeName: string): DescMessage {
  const found = findMessage(typeName);
  if (found === undefined) {
    throw new ProtoError({ code: "unknown-message", typeName }, `unknown message type ${typeName}`);
  }
  return found;
}

function findMessage(typeName: string): DescMessage | undefined {
  return registryOf(typeName)?.getMessage(typeName);
}

/** Returns an option in the definitions by name, such as `amino.name`. */
export function extensionOf(name: string): DescExtension {
  return registryOf(name)?.getExtension(name) ?? unreachable(`no option ${name} in the definitions`);
}

/** Returns a service's descriptor by canonical full name. */
export function requireService(name: string): DescService {
  return registryOf(name)?.getService(name) ?? unreachable(`no service ${name}`);
}

/** Returns the fields that contain a message's signers, from its option `cosmos.msg.v1.signer`. The list may be empty. */
export function signerFields(message: DescMessage): readonly string[] {
  const names = getOption(message, extensionOf("cosmos.msg.v1.signer"));
  return Array.isArray(names) ? names.map(String) : [];
}

/** Returns the descriptor for a type URL as written on a chain called `chainName`, or undefined if the chain has no such type. */
export function findMessageByTypeUrl(
  typeUrl: string,
  chainName: string = CANONICAL_CHAIN_NAME,
): DescMessage | undefined {
  const name = toCanonicalTypeUrl(typeNameOf(typeUrl), chainName);
  return name === undefined ? undefined : findMessage(name);
}

/**
 * Like {@link findMessageByTypeUrl}, but throws ProtoError `unresolvable-type-url`. `path` is the type URL's location in a JSON
 * document.
 */
export function requireMessageByTypeUrl(typeUrl: string, chainName: string, path?: string): DescMessage {
  return findMessageByTypeUrl(typeUrl, chainName) ?? unresolvable(typeUrl, path);
}

/** Throws ProtoError `unresolvable-type-url` for this type URL. */
export function unresolvable(typeUrl: string, path?: string): never {
  const place = path === undefined ? "" : `${path}: `;
  const text = `${place}unable to resolve type URL ${typeUrl}`;
  throw new ProtoError({ code: "unresolvable-type-url", typeUrl }, text);
}

/** Returns a service by canonical full name, or undefined if there is none. */
export function findService(name: string): ServiceInfo | undefined {
  const found = registryOf(name)?.getService(name);
  return found === undefined ? undefined : serviceInfo(found);
}

/** Returns a method's response type by its canonical gRPC path. Throws ProtoError `unknown-method` for an unknown path. */
export function responseTypeOf(path: string): string {
  const [, service = "", rpc = ""] = path.split("/");
  const method = findService(service)?.methods.find(({ name }) => name === rpc);
  if (method !== undefined) return method.responseType;
  throw new ProtoError({ code: "unknown-method", path }, `no service in the definitions has ${path}`);
}

/**
 * Returns a definition file by its path, such as `cosmos/tx/v1beta1/tx.proto`, or undefined if there is none. Takes time linear in
 * the number of files.
 */
export function findFile(path: string): FileInfo | undefined {
  const name = path.replace(/\.proto$/, "");
  for (const file of protoRegistry().files) if (file.name === name) return fileInfo(file);
  return undefined;
}

/**
 * Returns the file that declares a message, enum, extension, service or method, by canonical full name, or undefined if there is
 * none.
 */
export function findFileOfSymbol(symbol: string): FileInfo | undefined {
  const registry = protoRegistry();
  // The registry has no entries for methods, so look up the service, whose name is the symbol without its last part.
  const found = registry.get(symbol) ?? registry.getService(symbol.slice(0, symbol.lastIndexOf(".")));
  return found === undefined ? undefined : fileInfo(found.file);
}

function serviceInfo(desc: DescService) {
  return {
    /** Canonical full name of the service, such as `cosmos.bank.v1beta1.Query`. */
    name: desc.typeName,
    /** The service's methods, in definition order. */
    methods: desc.methods.map((method) => ({
      name: method.name,
      /** gRPC path, such as `/cosmos.bank.v1beta1.Query/Balance`. */
      path: `/${desc.typeName}/${method.name}`,
      requestType: method.input.typeName,
      responseType: method.output.typeName,
      streaming: method.methodKind !== "unary",
    })),
  };
}

function fileInfo(file: DescFile): FileInfo {
  return {
    name: `${file.name}.proto`,
    imports: [...file.proto.dependency],
    bytes: toBinary(FileDescriptorProtoSchema, file.proto),
  };
}

const built = new Map<string, FileRegistry>();

function registryAt(path: string): FileRegistry {
  return getOrCreate(built, path, () => {
    const proto = fromBinary(FileDescriptorProtoSchema, fileBytes(path));
    return createFileRegistry(proto, (imported) => registryAt(imported).getFile(imported));
  });
}

let encoded: ReadonlyMap<string, Uint8Array> | undefined;

/** Returns the encoded files by path, which is the first field of each file in the FileDescriptorSet. */
function files(): ReadonlyMap<string, Uint8Array> {
  if (encoded !== undefined) return encoded;
  const found = new Map<string, Uint8Array>();
  for (const [, file] of lengthDelimited(fromBase64(DESCRIPTOR_SET_BASE64))) found.set(nameIn(file), file);
  return (encoded = found);
}

function fileBytes(path: string): Uint8Array {
  return files().get(path) ?? unreachable(`no file ${path}`);
}

let packages: ReadonlyMap<string, readonly string[]> | undefined;

function pathsByPackage(): ReadonlyMap<string, readonly string[]> {
  if (packages !== undefined) return packages;
  const found = new Map<string, string[]>();
  for (const [path, file] of files()) {
    const scope = packageOf(file);
    found.set(scope, [...(found.get(scope) ?? []), path]);
  }
  return (packages = found);
}

/** Field numbers of `google.protobuf.FileDescriptorProto`. */
const FILE = { package: 2, message: 4, service: 6, extension: 7 } as const;

function packageOf(file: Uint8Array): string {
  const [, name] = lengthDelimited(file).find(([number]) => number === FILE.package) ?? [];
  return new TextDecoder().decode(name);
}

/** Returns the path of the file that declares a message, service or extension, or undefined if no file declares it. */
function pathOf(symbol: string): string | undefined {
  for (let scope = symbol; scope.includes("."); ) {
    scope = scope.slice(0, scope.lastIndexOf("."));
    const path = pathsByPackage()
      .get(scope)
      ?.find((one) => symbolsIn(one).has(symbol));
    if (path !== undefined) return path;
  }
  return undefined;
}

const declared = new Map<string, ReadonlySet<string>>();

/** Returns the messages, services and extensions in a file. Names inside a message start with the message's name. */
function symbolsIn(path: string): ReadonlySet<string> {
  return getOrCreate(declared, path, () => {
    const file = fileBytes(path);
    const scope = packageOf(file);
    const found = new Set<string>();
    for (const [number, content] of lengthDelimited(file)) {
      if (number === FILE.message) addMessages(found, scope, content);
      else if (number === FILE.service || number === FILE.extension) found.add(`${scope}.${nameIn(content)}`);
    }
    return found;
  });
}

/** Field number of `google.protobuf.DescriptorProto.nested_type`. */
const NESTED_TYPE = 3;

function addMessages(found: Set<string>, scope: string, message: Uint8Array): void {
  const name = `${scope}.${nameIn(message)}`;
  found.add(name);
  for (const [number, content] of lengthDelimited(message))
    if (number === NESTED_TYPE) addMessages(found, name, content);
}

/** Returns a descriptor's name, which is field 1 in every descriptor. */
function nameIn(descriptor: Uint8Array): string {
  const [, name] = lengthDelimited(descriptor).find(([number]) => number === 1) ?? [];
  return new TextDecoder().decode(name);
}

/** Returns the length-delimited fields of an encoded message, with their numbers. */
function lengthDelimited(message: Uint8Array): readonly (readonly [number, Uint8Array])[] {
  const found: (readonly [number, Uint8Array])[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < message.length) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited) found.push([number, reader.bytes()]);
    else reader.skip(wireType, number);
  }
  return found;
}
