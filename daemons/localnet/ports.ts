/** Where everything of a laptop's localnet listens (DESIGN: "Faces and defaults"), all on loopback. */
const DEFAULT_PORTS = {
  localRpc: 26_657,
  localRest: 1_317,
  localGrpc: 9_090,
  localMetrics: 26_660,
  remoteRpc: 26_757,
  remoteRest: 1_417,
  prices: 8_080,
  oracleMetrics: 8_001,
  sidecarMetrics: 8_002,
  relayer: 9_999,
  watchdog: 9_998,
  control: 9_997,
} as const;

/** Ports by face. */
export type Ports = Readonly<Record<keyof typeof DEFAULT_PORTS, number>>;

/** The highest offset that keeps every port valid. */
export const MAX_PORT_OFFSET: number = 65_535 - Math.max(...Object.values(DEFAULT_PORTS));

/** All ports moved by `offset`; throws a RangeError when one would leave 1 … 65535. */
export function portsAt(offset: number): Ports {
  if (!Number.isInteger(offset) || offset < 0 || offset > MAX_PORT_OFFSET) {
    throw new RangeError(`port offset ${offset} is not a whole number from 0 to ${MAX_PORT_OFFSET}`);
  }
  const moved = Object.entries(DEFAULT_PORTS).map(([face, port]) => [face, port + offset]);
  return { ...DEFAULT_PORTS, ...Object.fromEntries(moved) };
}
