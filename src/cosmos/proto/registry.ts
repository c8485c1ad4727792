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
import { fromBase64 } from "../../platform/base/bytes.ts";
import { ProtoError } from "./errors.ts";
import { DESCRIPTOR_SET_BASE64 } from "./gen/descriptor-set.ts";
import { CANONICAL_CHAIN_NAME, toCanonicalTypeUrl, typeNameOf } from "./type-urls.ts";

interface MethodInfo {
  readonly name: string;
  /** gRPC path, e.g. `/cosmos.bank.v1beta1.Query/Balance`. */
  readonly path: string;
  readonly requestType: string;
  readonly responseType: string;
  readonly streaming: boolean;
}

export interface ServiceInfo {
  /** Canonical full name, e.g. `cosmos.bank.v1beta1.Query`. */
  readonly name: string;
  /** In the order of the definition. */
  readonly methods: readonly MethodInfo[];
}

/** One definition file as gRPC reflection serves it. */
export interface FileInfo {
  /** Path with its ending, e.g. `cosmos/tx/v1beta1/tx.proto`. */
  readonly name: string;
  /** Paths of the files that it imports. */
  readonly imports: readonly string[];
  /** The encoded FileDescriptorProto. */
  readonly bytes: Uint8Array;
}

let shared: FileRegistry | undefined;

/** Returns the descriptors of all definitions. The first call builds them (tens of ms); later calls share them. */
export function protoRegistry(): FileRegistry {
  shared ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(DESCRIPTOR_SET_BASE64)));
  return shared;
}

/** Returns the descriptor of a message by canonical full name. Throws ProtoError `unknown-message`. */
export function requireMessage(typeName: string): DescMessage {
  const found = protoRegistry().getMessage(typeName);
  if (found === undefined) {
    throw new ProtoError({ code: "unknown-message", typeName }, `unknown message type ${typeName}`);
  }
  return found;
}

/** Returns the descriptor for a type URL as written on a chain called `chainName`, or undefined if the chain has no such type. */
export function findMessageByTypeUrl(
  typeUrl: string,
  chainName: string = CANONICAL_CHAIN_NAME,
): DescMessage | undefined {
  const name = toCanonicalTypeUrl(typeNameOf(typeUrl), chainName);
  return name === undefined ? undefined : protoRegistry().getMessage(name);
}

/** Returns a service by canonical full name, or undefined. */
export function findService(name: string): ServiceInfo | undefined {
  const found = protoRegistry().getService(name);
  return found === undefined ? undefined : serviceInfo(found);
}

/** Returns a definition file by its path, e.g. `cosmos/tx/v1beta1/tx.proto`, or undefined. Linear in the number of files. */
export function findFile(path: string): FileInfo | undefined {
  const name = path.replace(/\.proto$/, "");
  for (const file of protoRegistry().files) if (file.name === name) return fileInfo(file);
  return undefined;
}

/** Returns the file that declares a message, enum, extension, service or method, by canonical full name, or undefined. */
export function findFileOfSymbol(symbol: string): FileInfo | undefined {
  const registry = protoRegistry();
  // The registry has no entry for a method: without its last part the symbol names the service.
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
