import type {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from "../../proto/gen/grpc/reflection/v1/reflection.ts";
import { toChainFile } from "../../proto/chain-files.ts";
import { type FileInfo, findFile, findFileOfSymbol, protoRegistry } from "../../proto/registry.ts";
import { toCanonicalTypeUrl, toChainRestPath } from "../../proto/type-urls.ts";
import { GRPC } from "./grpc-status.ts";

/** Answers reflection requests of one stream. A file goes out with all that it imports, once a stream. */
export interface ReflectionStream {
  readonly answer: (request: ServerReflectionRequest) => ServerReflectionResponse;
}

/** What reflection tells: the services that are served, and the definition files as a chain of this name has them. */
export interface ReflectionOptions {
  readonly serviceNames: readonly string[];
  readonly chainName: string;
}

type Answer = ServerReflectionResponse["messageResponse"];

/** Creates the state of one reflection stream. */
export function createReflectionStream(options: ReflectionOptions): ReflectionStream {
  const sent = new Set<string>();
  return {
    answer: (request) => ({
      validHost: request.host,
      originalRequest: request,
      messageResponse: answerOf(request.messageRequest, options, sent),
    }),
  };
}

function answerOf(
  request: ServerReflectionRequest["messageRequest"],
  { serviceNames, chainName }: ReflectionOptions,
  sent: Set<string>,
): Answer {
  switch (request?.$case) {
    case "listServices":
      return {
        $case: "listServicesResponse",
        value: { service: serviceNames.toSorted().map((name) => ({ name })) },
      };
    case "fileByFilename":
      return files(findFileOfChain(request.value, chainName), { chainName, sent });
    case "fileContainingSymbol":
      return files(findSymbol(request.value, chainName), { chainName, sent });
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = request.value;
      const found = extensionsOf(containingType, chainName)?.find(({ number }) => number === extensionNumber);
      return files(found === undefined ? undefined : findFile(found.file), { chainName, sent });
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
          errorCode: GRPC.invalidArgument,
          errorMessage: "invalid MessageRequest: nothing is asked for",
        },
      };
  }
}

function notFound(): Answer {
  return { $case: "errorResponse", value: { errorCode: GRPC.notFound, errorMessage: "not found" } };
}

interface FileScope {
  readonly chainName: string;
  readonly sent: Set<string>;
}

/** The file and what it imports, directly or not, without what the stream has sent; the file itself always, and first. */
function files(first: FileInfo | undefined, { chainName, sent }: FileScope): Answer {
  if (first === undefined) return notFound();
  sent.delete(first.name);
  const fileDescriptorProto: Uint8Array[] = [];
  const waiting = [first];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (sent.has(file.name)) continue;
    sent.add(file.name);
    fileDescriptorProto.push(toChainFile(file, chainName).bytes);
    waiting.push(...file.imports.flatMap((name) => findFile(name) ?? []));
  }
  return { $case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

/** A file by the path that it has on the chain. */
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

interface ExtensionPlace {
  readonly number: number;
  /** Canonical path of the declaring file. */
  readonly file: string;
}

/** Extensions of a message; undefined when there is no such message. */
function extensionsOf(typeName: string, chainName: string): readonly ExtensionPlace[] | undefined {
  const registry = protoRegistry();
  const canonical = toCanonicalTypeUrl(typeName, chainName);
  if (canonical === undefined || registry.getMessage(canonical) === undefined) return undefined;
  return [...registry].flatMap((desc) =>
    desc.kind === "extension" && desc.extendee.typeName === canonical
      ? [{ number: desc.number, file: `${desc.file.name}.proto` }]
      : [],
  );
}

/** Names of the services behind gRPC paths, in the chain's own name; reflection itself included. */
export function servedServices(paths: readonly string[]): readonly string[] {
  return [...new Set([...paths, ...REFLECTION_PATHS].map((path) => path.slice(1, path.lastIndexOf("/"))))];
}

/** The two versions of the reflection service; their messages are the same on the wire. */
export const REFLECTION_PATHS = [
  "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
] as const;
