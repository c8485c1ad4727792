import { unreachable } from "../base/errors.ts";
import type { Service } from "../base/service.ts";
import type { ListenAddress } from "../ops/config-fields.ts";
import { createDeferred } from "../ops/deferred.ts";
import type { Faces } from "./listeners.ts";
import type { FaultBoard } from "./fault-routes.ts";
import { type FaultName, listFaults } from "./faults.ts";
import { createLife, type Life, type LifeOptions } from "./process-state.ts";
import { DEFAULT_MARKETS } from "./markets.ts";
import { createSidecarListeners } from "./sidecar-listeners.ts";
import type { SidecarDeps, SidecarOptions } from "./sidecar-options.ts";
import { pageFamilies } from "./sidecar-families.ts";

/** The bound addresses. */
interface SidecarAddresses {
  readonly prices: ListenAddress;
  readonly oracleMetrics: ListenAddress;
  readonly sidecarMetrics: ListenAddress;
}

/** A sidecar with its fault switchboard. */
export interface Sidecar extends Service, FaultBoard {
  /** The addresses, once all three listen; rejects when one cannot be had. */
  readonly ready: Promise<SidecarAddresses>;
}

interface SidecarState {
  readonly on: Set<FaultName>;
  life: Life;
  running: boolean;
  /** The last opening or closing of the ports; they take turns. */
  turn: Promise<unknown>;
}

/** Creates the sidecar; it listens and ticks while it runs. `sidecar-down` ends its life; clearing it begins a new one. */
export function createSidecar(options: SidecarOptions, deps: SidecarDeps): Sidecar {
  const settings = lifeOptions(options);
  const state: SidecarState = {
    on: new Set(),
    life: createLife(settings),
    running: false,
    turn: Promise.resolve(),
  };
  const faces = connectFaces(options, deps, state, settings);
  const ready = createDeferred<SidecarAddresses>();
  const run = async (signal: AbortSignal): Promise<void> => {
    state.running = true;
    try {
      ready.resolve(namedAddresses(await inTurn(state, faces.open)));
      await tickUntil(signal, options, deps, async () => tickOnce(state, faces, deps));
    } catch (error) {
      ready.reject(error);
      throw error;
    } finally {
      state.running = false;
      await settle(state, faces);
    }
  };
  return {
    name: "sidecar",
    run,
    ready: ready.promise,
    faults: () => listFaults(state.on),
    setFault: async (name, on) => {
      if (state.on.has(name) === on) return;
      if (on) state.on.add(name);
      else state.on.delete(name);
      if (name === "sidecar-down" && !on) state.life = createLife(settings);
      deps.logger.info("sidecar fault switched", { name, on });
      await settle(state, faces);
    },
  };
}

/** Opens or closes the ports as the faults want it. */
function settle(state: SidecarState, faces: Faces): Promise<void> {
  return inTurn(state, async () => {
    if (state.running && !state.on.has("sidecar-down")) await faces.open();
    else await faces.close();
  });
}

/** Does `work` after the opening or closing that is under way. */
function inTurn<T>(state: SidecarState, work: () => Promise<T>): Promise<T> {
  const next = state.turn.then(work);
  state.turn = next.catch(() => {});
  return next;
}

/** One tick of a sidecar that is up; tries again to open ports that could not be had back. */
async function tickOnce(state: SidecarState, faces: Faces, { clock, logger }: SidecarDeps): Promise<void> {
  if (state.on.has("sidecar-down")) return;
  state.life.tick(clock.nowMs(), state.on);
  await settle(state, faces).catch((error: unknown) => logger.warn("sidecar cannot listen yet", { error }));
}

/** Ticks at most every update interval until the signal fires. */
async function tickUntil(
  signal: AbortSignal,
  options: SidecarOptions,
  { clock }: SidecarDeps,
  tick: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await tick();
    await clock.sleep(options.updateIntervalMs ?? 250, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

function lifeOptions(options: SidecarOptions): LifeOptions {
  return {
    chainId: options.chainId,
    seed: options.seed,
    markets: options.markets ?? DEFAULT_MARKETS,
    maxPriceAgeMs: options.maxPriceAgeMs ?? 120_000,
    missingPairs: options.missingPairs ?? ["TIA/USD"],
    metricNames: options.metricNames ?? "connect",
    version: options.version ?? "",
  };
}

function connectFaces(
  options: SidecarOptions,
  deps: SidecarDeps,
  state: SidecarState,
  { markets, version, metricNames }: LifeOptions,
): Faces {
  const prices = {
    snapshot: () => state.life.loop.snapshot(),
    oracle: () => state.life.oracle,
    faults: state.on,
    markets,
    clock: deps.clock,
    chainId: options.chainId,
    version,
    slowMs: options.slowMs ?? 3000,
  };
  return createSidecarListeners(options, deps, prices, {
    oracleFamilies: () => Object.values(state.life.oracle),
    sidecarFamilies: () => pageFamilies(state.life.sidecar, metricNames),
  });
}

function namedAddresses([prices, oracleMetrics, sidecarMetrics]: readonly ListenAddress[]): SidecarAddresses {
  if (prices === undefined || oracleMetrics === undefined || sidecarMetrics === undefined)
    return unreachable("a sidecar has three ports");
  return { prices, oracleMetrics, sidecarMetrics };
}
