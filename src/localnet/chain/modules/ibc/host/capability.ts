import type { Context } from "../../../runtime/context.ts";
import { chargeRead, chargeWrite } from "../../../runtime/gas.ts";
import { STORE_NAME } from "./keys.ts";
import type { ChannelEndpoint } from "./packet.ts";

// On the deployed chain, the module `capability` records the owners of each port and channel: `ibc`, which created the capability,
// and the application, which claimed it. The deployed module keeps the owners in the store and the names in memory. Accesses to
// both consume gas. This chain derives the owners from the ports and channels, but charges the same gas as the deployed module.

/** Length of a Go pointer in a key, which is printed as `0x` and 14 hex digits. */
const POINTER_BYTES = 16;
/** Length of a capability's index, in bytes. */
const INDEX_BYTES = 8;
/** Length of the key "index", under which the next capability index is stored. */
const NEXT_INDEX_KEY = 5;
/** Length of the key under which a capability's owners are stored, `capability_index` and the index. */
const OWNERS_KEY = 16 + INDEX_BYTES;

export function portCapability(portId: string): string {
  return `ports/${portId}`;
}

export function channelCapability({ portId, channelId }: ChannelEndpoint): string {
  return `capabilities/ports/${portId}/channels/${channelId}`;
}

/** Charges the gas that a module pays to read one of its capabilities by name. */
export function chargeCapability(context: Context, owner: string, name: string, isFound: boolean): void {
  chargeRead(context.gas, `${owner}/rev/${name}`.length, isFound ? INDEX_BYTES : 0);
}

/** Charges gas for finding the application that owns a capability. `owner` is that application, or undefined if there is none. */
export function chargeLookup(context: Context, name: string, owner: string | undefined): void {
  chargeCapability(context, STORE_NAME, name, owner !== undefined);
  if (owner === undefined) return;
  chargeCapability(context, STORE_NAME, name, true);
  chargeRead(context.gas, OWNERS_KEY, ownersBytes([STORE_NAME, owner], name));
}

/** Charges the gas that a module pays to prove that it owns a capability. */
export function chargeAuthentication(context: Context, owner: string, name: string, isOwner = true): void {
  chargeRead(context.gas, forwardKeyBytes(owner), isOwner ? name.length : 0);
}

/** Charges the gas that the `ibc` module pays to create a capability. */
export function chargeCreation(context: Context, name: string): void {
  chargeCapability(context, STORE_NAME, name, false);
  chargeRead(context.gas, NEXT_INDEX_KEY, INDEX_BYTES);
  chargeRead(context.gas, OWNERS_KEY, 0);
  chargeWrite(context.gas, OWNERS_KEY, ownersBytes([STORE_NAME], name));
  chargeWrite(context.gas, NEXT_INDEX_KEY, INDEX_BYTES);
  chargeNames(context, STORE_NAME, name);
}

/** Charges the gas that an application pays to claim a capability that the `ibc` module has created. */
export function chargeClaim(context: Context, owner: string, name: string): void {
  chargeRead(context.gas, OWNERS_KEY, ownersBytes([STORE_NAME], name));
  chargeWrite(context.gas, OWNERS_KEY, ownersBytes([STORE_NAME, owner], name));
  chargeNames(context, owner, name);
}

/** Charges the gas for binding a port: the `ibc` module creates the port's capability, and the application claims the capability. */
export function chargePort(context: Context, owner: string, portId: string): void {
  const name = portCapability(portId);
  chargeCapability(context, owner, name, false);
  chargeCapability(context, STORE_NAME, name, false);
  chargeCreation(context, name);
  chargeClaim(context, owner, name);
}

/** Charges gas for writing two in-memory entries: the name, keyed by pointer, and the capability's index, keyed by name. */
function chargeNames(context: Context, owner: string, name: string): void {
  chargeWrite(context.gas, forwardKeyBytes(owner), name.length);
  chargeWrite(context.gas, `${owner}/rev/${name}`.length, INDEX_BYTES);
}

function forwardKeyBytes(owner: string): number {
  return `${owner}/fwd/`.length + POINTER_BYTES;
}

/** Returns the length of the encoded `CapabilityOwners` message, in bytes. */
function ownersBytes(owners: readonly string[], name: string): number {
  return owners.reduce(
    (sum, owner) => sum + fieldBytes(fieldBytes(owner.length) + fieldBytes(name.length)),
    0,
  );
}

/** Returns the encoded length of a protobuf field (tag, length and content) whose content has `length` bytes. */
function fieldBytes(length: number): number {
  return (length < 0x80 ? 2 : 3) + length;
}
