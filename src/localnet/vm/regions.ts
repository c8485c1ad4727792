import { vmError, type VmError } from "./errors.ts";

/**
 * A byte range in a contract's memory, through which the contract and the host exchange data. A region pointer is the address of
 * the region's offset, capacity and length.
 */
export interface Region {
  readonly offset: number;
  readonly capacity: number;
  readonly length: number;
}

const REGION_SIZE = 12;

/**
 * Returns a view of a region's offset, capacity and length. `pointer` may be signed or unsigned, because V8 passes an i32 as a
 * signed number although addresses are unsigned. Sums of addresses and lengths stay far below 2^53.
 */
function descriptionAt(buffer: ArrayBuffer, pointer: number): DataView {
  const address = pointer >>> 0;
  if (address + REGION_SIZE > buffer.byteLength)
    throw vmError(
      "communication",
      `The Wasm memory address ${address} provided by the contract could not be dereferenced: Could not dereference this pointer to a Region`,
    );
  return new DataView(buffer, address, REGION_SIZE);
}

/** Reads and validates the region at a pointer. `buffer` must be current, because growing the memory replaces the buffer. */
export function regionAt(buffer: ArrayBuffer, pointer: number): Region {
  const view = descriptionAt(buffer, pointer);
  const region = {
    offset: view.getUint32(0, true),
    capacity: view.getUint32(4, true),
    length: view.getUint32(8, true),
  };
  const problem = problemOf(region);
  if (problem !== undefined) throw vmError("communication", `Got an invalid region: ${problem}`);
  return region;
}

function problemOf({ offset, capacity, length }: Region): string | undefined {
  if (offset === 0) return "Got a zero Wasm address in the offset";
  if (length > capacity) return `Region length exceeds capacity. Length ${length}, capacity ${capacity}`;
  if (capacity > 0xffffffff - offset)
    return `Region exceeds address space. Offset ${offset}, capacity ${capacity}`;
  return undefined;
}

export function readRegion(buffer: ArrayBuffer, region: Region): Uint8Array {
  if (region.offset + region.length > buffer.byteLength) throw accessError(region, buffer);
  return new Uint8Array(buffer, region.offset, region.length).slice();
}

/** Copies `data` to the region at a pointer, and sets the region's length. */
export function writeRegion(buffer: ArrayBuffer, pointer: number, data: Uint8Array): void {
  const region = regionAt(buffer, pointer);
  if (data.length > region.capacity)
    throw vmError("communication", `Region too small. Got ${region.capacity}, required ${data.length}`);
  if (region.offset + data.length > buffer.byteLength) throw accessError(region, buffer);
  new Uint8Array(buffer, region.offset, data.length).set(data);
  // Write the length last, because a contract may have placed the region over the region's description.
  const view = descriptionAt(buffer, pointer);
  view.setUint32(0, region.offset, true);
  view.setUint32(4, region.capacity, true);
  view.setUint32(8, data.length, true);
}

function accessError({ offset, capacity, length }: Region, buffer: ArrayBuffer): VmError {
  return vmError(
    "communication",
    `Tried to access memory of region Region { offset: ${offset}, capacity: ${capacity}, length: ${length} } in Wasm memory of size ${buffer.byteLength} bytes. This typically happens when the given Region pointer does not point to a proper Region struct.`,
  );
}

/** Joins byte arrays, each followed by its length (4 bytes, big-endian), as cosmwasm-std encodes lists of byte arrays. */
export function encodeSections(sections: readonly Uint8Array[]): Uint8Array {
  const total = sections.reduce((sum, section) => sum + section.length + 4, 0);
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const section of sections) {
    bytes.set(section, at);
    view.setUint32(at + section.length, section.length);
    at += section.length + 4;
  }
  return bytes;
}

/** Splits the output of {@link encodeSections} into byte arrays. Throws a `VmError` if a length is invalid. */
export function decodeSections(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const sections: Uint8Array[] = [];
  let end = bytes.length;
  while (end >= 4) {
    const length = view.getUint32(end - 4);
    if (length > end - 4) throw vmError("communication", "Got an invalid section: section length overflow");
    sections.push(bytes.subarray(end - 4 - length, end - 4));
    end -= length + 4;
  }
  if (end > 0) throw vmError("communication", "Got an invalid section: extra data outside of any section");
  return sections.toReversed();
}
