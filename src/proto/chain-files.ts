import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { FileInfo } from "./registry.ts";
import { CANONICAL_CHAIN_NAME, toChainRestPath, toChainTypeUrl } from "./type-urls.ts";

/**
 * A definition file as a chain of the given name serves it to gRPC reflection: its package, the types that it refers to and
 * the paths of the chain's own files carry that name. Comments and REST options keep the canonical one.
 */
export function toChainFile(file: FileInfo, chainName: string): FileInfo {
  if (chainName === CANONICAL_CHAIN_NAME) return file;
  const descriptor = fromBinary(FileDescriptorProtoSchema, file.bytes);
  renameTexts(reflect(FileDescriptorProtoSchema, descriptor), chainName);
  return {
    name: toChainName(file.name, chainName),
    imports: file.imports.map((path) => toChainName(path, chainName)),
    bytes: toBinary(FileDescriptorProtoSchema, descriptor),
  };
}

/** Renames in place every text of a descriptor that is a type name or a file path of the chain's own modules. */
function renameTexts(message: ReflectMessage, chainName: string): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const value: unknown = message.get(field);
    if (typeof value === "string") message.set(field, toChainName(value, chainName));
    else if (isReflectMessage(value)) renameTexts(value, chainName);
    else if (isReflectList(value)) renameItems(value, chainName);
  }
}

function renameItems(
  list: Iterable<unknown> & { readonly size: number; set(index: number, item: unknown): unknown },
  chainName: string,
): void {
  [...list].forEach((item, index) => {
    if (typeof item === "string") list.set(index, toChainName(item, chainName));
    else if (isReflectMessage(item)) renameTexts(item, chainName);
  });
}

/** Type names in a descriptor begin with a dot, packages and file paths do not. */
function toChainName(text: string, chainName: string): string {
  if (text.startsWith(".")) return `.${toChainTypeUrl(text.slice(1), chainName)}`;
  return text.endsWith(".proto") ? toChainRestPath(text, chainName) : toChainTypeUrl(text, chainName);
}
