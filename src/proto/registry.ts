import {
  createFileRegistry,
  type DescFile,
  type DescMessage,
  type DescService,
  type FileRegistry,
  fromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { fromBase64 } from "../base/bytes.ts";
import { ProtoError } from "./errors.ts";
import { DESCRIPTOR_SET_BASE64 } from "./gen/descriptor-set.ts";
import { CANONICAL_CHAIN_NAME, toCanonicalTypeUrl, typeNameOf } from "./type-urls.ts";

/** One rpc. `path` is its gRPC path, e.g. `/cosmos.bank.v1beta1.Query/Balance`; type names have no leading slash. */
interface MethodInfo {
  readonly name: string;
  readonly path: string;
  readonly requestType: string;
  readonly responseType: string;
  readonly streaming: boolean;
}

/** One gRPC service by full name, with its methods in order. */
export interface ServiceInfo {
  readonly name: string;
  readonly methods: readonly MethodInfo[];
}

/** One definition file as gRPC reflection serves it: an encoded FileDescriptorProto and the files that it imports. */
export interface FileInfo {
  readonly name: string;
  readonly imports: readonly string[];
  readonly bytes: Uint8Array;
}

let built: FileRegistry | undefined;

/** All definitions. Built on first use (tens of ms), then shared. */
export function protoRegistry(): FileRegistry {
  built ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(DESCRIPTOR_SET_BASE64)));
  return built;
}

/** The descriptor of a message by canonical full name. Throws ProtoError `unknown-message`. */
export function requireMessage(typeName: string): DescMessage {
  const found = protoRegistry().getMessage(typeName);
  if (found === undefined) {
    throw new ProtoError({ code: "unknown-message", typeName }, `there is no message type ${typeName}`);
  }
  return found;
}

/** The descriptor behind a type URL as written on a chain of the given name, or undefined. Go resolves by what follows the last slash. */
export function findMessageByTypeUrl(
  typeUrl: string,
  chainName: string = CANONICAL_CHAIN_NAME,
): DescMessage | undefined {
  const name = toCanonicalTypeUrl(typeNameOf(typeUrl), chainName);
  return name === undefined ? undefined : protoRegistry().getMessage(name);
}

/** Every service of the definitions, by canonical name, in the order of the files. */
export function listServices(): readonly ServiceInfo[] {
  return [...protoRegistry()].filter((desc) => desc.kind === "service").map(serviceInfo);
}

/** One service by canonical full name, or undefined. */
export function findService(name: string): ServiceInfo | undefined {
  const found = protoRegistry().getService(name);
  return found === undefined ? undefined : serviceInfo(found);
}

/** A definition file by its path, e.g. `cosmos/tx/v1beta1/tx.proto`, or undefined. */
export function findFile(path: string): FileInfo | undefined {
  const name = path.replace(/\.proto$/, "");
  for (const file of protoRegistry().files) if (file.name === name) return fileInfo(file);
  return undefined;
}

/** The file that declares a message, enum, extension, service, or a service's method; by canonical full name. */
export function findFileOfSymbol(symbol: string): FileInfo | undefined {
  const registry = protoRegistry();
  const found = registry.get(symbol) ?? registry.getService(symbol.slice(0, symbol.lastIndexOf(".")));
  return found === undefined ? undefined : fileInfo(found.file);
}

function serviceInfo(desc: DescService): ServiceInfo {
  return {
    name: desc.typeName,
    methods: desc.methods.map((method) => ({
      name: method.name,
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
