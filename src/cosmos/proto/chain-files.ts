import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { type FileInfo, CANONICAL_CHAIN_NAME, toChainRestPath, toChainTypeUrl } from "./registry.ts";

/**
 * Returns a definition file as served to gRPC reflection by a chain called `chainName`. The package, type names and paths of the
 * chain's own files contain that name. The REST options keep the canonical name.
 */
export function toChainFile(file: FileInfo, chainName: string): FileInfo {
  if (chainName === CANONICAL_CHAIN_NAME) return file;
  // Decode a copy, because the names in the shared registry must not change.
  const descriptor = fromBinary(FileDescriptorProtoSchema, file.bytes);
  renameStrings(reflect(FileDescriptorProtoSchema, descriptor), chainName);
  return {
    name: toChainName(file.name, chainName),
    imports: file.imports.map((path) => toChainName(path, chainName)),
    bytes: toBinary(FileDescriptorProtoSchema, descriptor),
  };
}

/** Renames, in place, every string in a descriptor that is a type name or file path from the chain's own modules. */
function renameStrings(message: ReflectMessage, chainName: string): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const value: unknown = message.get(field);
    if (typeof value === "string") message.set(field, toChainName(value, chainName));
    else if (isReflectMessage(value)) renameStrings(value, chainName);
    else if (isReflectList(value)) renameItems(value, chainName);
  }
}

function renameItems(
  list: Iterable<unknown> & { readonly size: number; set(index: number, item: unknown): unknown },
  chainName: string,
): void {
  [...list].forEach((item, index) => {
    if (typeof item === "string") list.set(index, toChainName(item, chainName));
    else if (isReflectMessage(item)) renameStrings(item, chainName);
  });
}

/**
 * Renames one string in a descriptor. A type reference starts with a dot (`.neutron.x.Y`), but a package or file path does not.
 * Other strings are left unchanged, because a field name contains neither a dot nor a slash.
 */
function toChainName(value: string, chainName: string): string {
  if (value.startsWith(".")) return `.${toChainTypeUrl(value.slice(1), chainName)}`;
  return value.endsWith(".proto") ? toChainRestPath(value, chainName) : toChainTypeUrl(value, chainName);
}
