import {
  createFileRegistry,
  create,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { type FileInfo, protoRegistry, requireMessage } from "./registry.ts";
import { fieldsIn } from "./wire-fields.ts";

/** A field with a different number or name in a variant of the definitions. */
export interface FieldChange {
  /** Canonical full name of the message. */
  readonly message: string;
  /** Name of the field in the definitions. */
  readonly field: string;
  /** Field number in the variant. Default: as in the definitions. */
  readonly number?: number;
  /** Field name in the variant. Default: as in the definitions. */
  readonly name?: string;
}

export type ProtoVariant = ReturnType<typeof createProtoVariant>;

/**
 * Creates the definitions for a chain whose messages have different field numbers or names. The rest of the code works with the
 * original definitions. Building the variant's descriptors, on first use, takes tens of milliseconds.
 */
export function createProtoVariant(changes: readonly FieldChange[]) {
  let registry: FileRegistry | undefined;
  let numbers: Numbers | undefined;
  const numbersOf = (): Numbers => (numbers ??= readNumbers(changes));
  return {
    /** Returns a message's descriptor in the variant. Throws ProtoError `unknown-message` if there is none. */
    message: (typeName: string): DescMessage => {
      registry ??= variantRegistry(changes);
      return registry.getMessage(typeName) ?? requireMessage(typeName);
    },
    /** Returns a definition file with the variant's names and numbers. */
    file: (file: FileInfo): FileInfo => {
      const descriptor = fromBinary(FileDescriptorProtoSchema, file.bytes);
      changeFile(descriptor, changes);
      return { ...file, bytes: toBinary(FileDescriptorProtoSchema, descriptor) };
    },
    /** Converts an encoded message to the variant's field numbers. Bytes that are not a message are returned unchanged. */
    encode: (typeName: string, bytes: Uint8Array): Uint8Array =>
      renumber(requireMessage(typeName), bytes, numbersOf().encode) ?? bytes,
    /** Converts an encoded message in the variant to the definitions' field numbers, like `encode`. */
    decode: (typeName: string, bytes: Uint8Array): Uint8Array =>
      renumber(requireMessage(typeName), bytes, numbersOf().decode) ?? bytes,
    /** Returns true if an encoded message contains a field number that only the variant defines. */
    recognizes: (typeName: string, bytes: Uint8Array): boolean =>
      hasOwnNumber(requireMessage(typeName), bytes, numbersOf().decode),
  };
}

function variantRegistry(changes: readonly FieldChange[]): FileRegistry {
  const files = [...protoRegistry().files].map(({ proto }) => {
    // Modify a copy, because the shared registry must not change.
    const copy = fromBinary(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, proto));
    changeFile(copy, changes);
    return copy;
  });
  return createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
}

/** Changes the fields of a file's messages in place. Fields stay in numerical order, the order in which Go prints them. */
function changeFile(file: FileDescriptorProto, changes: readonly FieldChange[]): void {
  for (const message of file.messageType) {
    const own = changes.filter((change) => change.message === `${file.package}.${message.name}`);
    for (const change of own) changeField(message, change);
    if (own.length > 0) message.field.sort((a, b) => a.number - b.number);
  }
}

function changeField(message: DescriptorProto, { field: name, ...change }: FieldChange): void {
  // Two fields may have swapped numbers, so only the name identifies a field.
  const field = message.field.find((each) => each.name === name);
  if (field === undefined) throw new Error(`this is a bug: ${message.name} has no field ${name}`);
  field.number = change.number ?? field.number;
  if (change.name === undefined) return;
  field.name = change.name;
  field.jsonName = change.name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** One direction of the conversion between the definitions' and the variant's bytes. */
interface Direction {
  /** Maps each full message name to a map from old field numbers to new ones. */
  readonly renumbered: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Returns true if a message is renumbered or contains a renumbered message. */
  readonly isAffected: (message: DescMessage) => boolean;
  /** True if the old numbers are the variant's numbers instead of the descriptor's numbers. */
  readonly isDecoding: boolean;
}

interface Numbers {
  readonly encode: Direction;
  readonly decode: Direction;
}

function readNumbers(changes: readonly FieldChange[]): Numbers {
  const encode = new Map<string, Map<number, number>>();
  const decode = new Map<string, Map<number, number>>();
  for (const { message, field, number } of changes) {
    const own = requireMessage(message).fields.find(({ name }) => name === field)?.number;
    if (own === undefined || number === undefined) continue;
    encode.set(message, (encode.get(message) ?? new Map<number, number>()).set(own, number));
    decode.set(message, (decode.get(message) ?? new Map<number, number>()).set(number, own));
  }
  const isAffected = containing(new Set(encode.keys()));
  return {
    encode: { renumbered: encode, isAffected, isDecoding: false },
    decode: { renumbered: decode, isAffected, isDecoding: true },
  };
}

/** Returns a predicate that is true for messages with these names and for messages that contain one, directly or nested. */
function containing(names: ReadonlySet<string>): (message: DescMessage) => boolean {
  const known = new Map<string, boolean>();
  const reaches = ({ typeName, fields }: DescMessage, seen: Set<string>): boolean => {
    if (names.has(typeName)) return true;
    if (seen.has(typeName)) return false;
    seen.add(typeName);
    return fields.some(({ message }) => message !== undefined && reaches(message, seen));
  };
  return (message) => {
    const found = known.get(message.typeName) ?? reaches(message, new Set());
    known.set(message.typeName, found);
    return found;
  };
}

/**
 * Renumbers the fields and sorts them by their new numbers, as Go does. Returns undefined for bytes that are not a sequence of
 * fields.
 */
function renumber(desc: DescMessage, bytes: Uint8Array, direction: Direction): Uint8Array | undefined {
  if (!direction.isAffected(desc)) return bytes;
  const numbers = direction.renumbered.get(desc.typeName);
  const fields: { readonly number: number; readonly bytes: Uint8Array }[] = [];
  for (const field of fieldsIn(bytes)) {
    if (field === undefined) return undefined;
    const { fieldNumber, wireType, value, content } = field;
    const number = numbers?.get(fieldNumber) ?? fieldNumber;
    const canonical = direction.isDecoding ? number : fieldNumber;
    const { message } = desc.fields.find((each) => each.number === canonical) ?? {};
    const writer = new BinaryWriter().uint32(((number << 3) | wireType) >>> 0);
    if (message === undefined || content === undefined) writer.raw(value);
    else {
      const inner = renumber(message, content, direction);
      if (inner === undefined) return undefined;
      writer.bytes(inner);
    }
    fields.push({ number, bytes: writer.finish() });
  }
  const writer = new BinaryWriter();
  const ordered = numbers === undefined ? fields : fields.toSorted((a, b) => a.number - b.number);
  for (const field of ordered) writer.raw(field.bytes);
  return writer.finish();
}

function hasOwnNumber(desc: DescMessage, bytes: Uint8Array, direction: Direction): boolean {
  if (!direction.isAffected(desc)) return false;
  const numbers = direction.renumbered.get(desc.typeName);
  for (const field of fieldsIn(bytes)) {
    if (field === undefined) return false;
    const { fieldNumber, content } = field;
    const isKnown = desc.fields.some(({ number }) => number === fieldNumber);
    if (!isKnown && numbers?.has(fieldNumber) === true) return true;
    const canonical = numbers?.get(fieldNumber) ?? fieldNumber;
    const { message } = desc.fields.find(({ number }) => number === canonical) ?? {};
    if (message !== undefined && content !== undefined && hasOwnNumber(message, content, direction))
      return true;
  }
  return false;
}
