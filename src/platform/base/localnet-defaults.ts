/** Default loopback ports of all servers that run on one machine: a localnet's servers, the relayer and the watchdog. */
export const DEFAULT_PORTS = {
  localRpc: 26_657,
  localRest: 1_317,
  localGrpc: 9_090,
  localMetrics: 26_660,
  remoteRpc: 26_757,
  remoteRest: 1_417,
  remoteGrpc: 9_190,
  prices: 8_080,
  oracleMetrics: 8_001,
  sidecarMetrics: 8_002,
  relayer: 9_999,
  watchdog: 9_998,
  control: 9_997,
  sidecarControl: 9_996,
} as const;

export type Ports = Readonly<Record<keyof typeof DEFAULT_PORTS, number>>;

/** Largest offset for which every port is valid. */
export const MAX_PORT_OFFSET: number = 65_535 - Math.max(...Object.values(DEFAULT_PORTS));

/**
 * Returns all default ports plus `offset`. Throws a RangeError unless the offset is an integer from 0 to {@link MAX_PORT_OFFSET}.
 */
export function portsAt(offset: number): Ports {
  if (!Number.isInteger(offset) || offset < 0 || offset > MAX_PORT_OFFSET) {
    throw new RangeError(`port offset must be an integer from 0 to ${MAX_PORT_OFFSET}, got ${offset}`);
  }
  const moved = Object.entries(DEFAULT_PORTS).map(([server, port]) => [server, port + offset]);
  return { ...DEFAULT_PORTS, ...Object.fromEntries(moved) };
}

/** Mnemonic of the account that signs for a localnet's relayer. PUBLIC TEST KEY: never send anything of value to it. */
export const LOCALNET_RELAYER_MNEMONIC =
  "prosper snake lottery address final budget popular monster inmate gown inform match desert pistol peace expand fame march hen engine response twelve soda tobacco";
