import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { toChainFile } from "../../../cosmos/proto/chain-files.ts";
import type {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../../cosmos/proto/gen/grpc/reflection/v1/reflection.ts";
import {
  type FileInfo,
  findFile,
  findFileOfSymbol,
  protoRegistry,
  toCanonicalTypeUrl,
  toChainRestPath,
} from "../../../cosmos/proto/registry.ts";
import type { ProtoVariant } from "../../../cosmos/proto/variant.ts";
import { GrpcCode } from "../../chain/runtime/errors.ts";

export interface ReflectionOptions {
  /** gRPC paths of the server's methods, except reflection, with the chain's own name. */
  readonly paths: readonly string[];
  /** Chain name in the chain's own file names and symbols. */
  readonly chainName: string;
  /** Field numbers and names in the chain's messages. Default: as in the `.proto` files. */
  readonly proto?: ProtoVariant | undefined;
}

type MessageResponse = ServerReflectionResponse["messageResponse"];

/** Creates a reflection stream. The stream sends each file together with its imports, but sends each import only once. */
export function createReflectionStream(options: ReflectionOptions) {
  const sent = new Set<string>();
  const served = new Set([...options.paths, ...REFLECTION_PATHS]);
  const { chainName, proto } = options;
  return {
    respond: (request: ServerReflectionRequest): ServerReflectionResponse => ({
      validHost: request.host,
      originalRequest: request,
      messageResponse: messageResponse(request.messageRequest, { chainName, proto, served, sent }),
    }),
  };
}

function messageResponse(
  request: ServerReflectionRequest["messageRequest"],
  scope: StreamScope,
): MessageResponse {
  const { chainName, served } = scope;
  switch (request?.$case) {
    case "listServices": {
      const names = new Set([...served].map((path) => path.slice(1, path.lastIndexOf("/"))));
      return {
        $case: "listServicesResponse",
        value: { service: [...names].toSorted().map((name) => ({ name })) },
      };
    }
    case "fileByFilename":
      return files(findFileOfChain(request.value, chainName), scope);
    case "fileContainingSymbol":
      return files(findSymbol(request.value, chainName), scope);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = request.value;
      const found = extensionsOf(containingType, chainName)?.find(({ number }) => number === extensionNumber);
      return files(found === undefined ? undefined : findFile(found.file), scope);
    }
    case "allExtensionNumbersOfType": {
      const extensions = extensionsOf(request.value, chainName);
      if (extensions === undefined) return notFound();
      const extensionNumber = extensions.map(({ number }) => number).toSorted((a, b) => a - b);
      return {
        $case: "allExtensionNumbersResponse",
        value: { baseTypeName: request.value, extensionNumber },
      };
    }
    case undefined:
      return {
        $case: "errorResponse",
        value: {
          errorCode: GrpcCode.InvalidArgument,
          errorMessage: "invalid MessageRequest: nothing is asked for",
        },
      };
  }
}

function notFound(): MessageResponse {
  return { $case: "errorResponse", value: { errorCode: GrpcCode.NotFound, errorMessage: "not found" } };
}

interface StreamScope {
  readonly chainName: string;
  readonly proto: ProtoVariant | undefined;
  /** gRPC paths of the served methods. */
  readonly served: ReadonlySet<string>;
  /** Names of the files already sent on this stream. */
  readonly sent: Set<string>;
}

/**
 * Returns the file and its direct and indirect imports. Files that were already sent on this stream are omitted. Like grpc-go,
 * always includes the file itself, because clients expect the requested file in the first entry.
 */
function files(
  first: FileInfo | undefined,
  { chainName, proto, served, sent }: StreamScope,
): MessageResponse {
  if (first === undefined) return notFound();
  sent.delete(first.name);
  const fileDescriptorProto: Uint8Array[] = [];
  const pending = [first];
  for (let file = pending.shift(); file !== undefined; file = pending.shift()) {
    if (sent.has(file.name)) continue;
    sent.add(file.name);
    fileDescriptorProto.push(
      withServedMethods(toChainFile(proto?.file(file) ?? file, chainName).bytes, served),
    );
    pending.push(...file.imports.flatMap((name) => findFile(name) ?? []));
  }
  return { $case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

/**
 * Removes unserved methods from each service. A service without any served method stays unchanged, so that clients can find a module's
 * transaction messages in its `Msg` service.
 */
function withServedMethods(file: Uint8Array, served: ReadonlySet<string>): Uint8Array {
  const descriptor = fromBinary(FileDescriptorProtoSchema, file);
  let isComplete = true;
  for (const service of descriptor.service) {
    const path = `/${descriptor.package}.${service.name}`;
    const methods = service.method.filter(({ name }) => served.has(`${path}/${name}`));
    if (methods.length === 0 || methods.length === service.method.length) continue;
    isComplete = false;
    service.method = methods;
  }
  return isComplete ? file : toBinary(FileDescriptorProtoSchema, descriptor);
}

function findFileOfChain(path: string, chainName: string): FileInfo | undefined {
  for (const { name } of protoRegistry().files) {
    if (toChainRestPath(`${name}.proto`, chainName) === path) return findFile(`${name}.proto`);
  }
  return undefined;
}

function findSymbol(symbol: string, chainName: string): FileInfo | undefined {
  const canonical = toCanonicalTypeUrl(symbol, chainName);
  return canonical === undefined ? undefined : findFileOfSymbol(canonical);
}

/** Returns a message's extensions, with their files' canonical paths, or undefined if the message does not exist. */
function extensionsOf(typeName: string, chainName: string) {
  const registry = protoRegistry();
  const canonical = toCanonicalTypeUrl(typeName, chainName);
  if (canonical === undefined || registry.getMessage(canonical) === undefined) return undefined;
  return [...registry].flatMap((desc) =>
    desc.kind === "extension" && desc.extendee.typeName === canonical
      ? [{ number: desc.number, file: `${desc.file.name}.proto` }]
      : [],
  );
}

/** gRPC paths of the reflection service's two versions, whose messages have the same encoding. */
export const REFLECTION_PATHS = [
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
] as const;
