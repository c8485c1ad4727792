import type { RegisteredQuery } from "../../../src/relayer/chain/registered-query.ts";
import { bankKey, type RemoteFault } from "./sim-remote.ts";
import type { SimWorld } from "./sim-world.ts";

type Kind =
  | "remote down"
  | "remote hangs"
  | "remote lags"
  | "validators change"
  | "local down"
  | "no events"
  | "events shuffled"
  | "full blocks"
  | "loses transactions"
  | "no funds"
  | "refuses some"
  | "no answers"
  | "late transactions"
  | "shared account"
  | "contract refuses";

/** A fault in the seconds `from` to `to` (exclusive). */
interface Fault {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
  /** Index of the remote chain. */
  readonly target: number;
}

export interface FaultPlan {
  readonly faults: readonly Fault[];
  /** Second in which all chains are reset; undefined: never. */
  readonly resetAt: number | undefined;
}

/** Sets a fault for these targets and clears it for all others. A fault of the local chain is set with any target. */
const EFFECTS: Readonly<Record<Kind, (world: SimWorld, targets: readonly number[]) => void>> = {
  "remote down": (world, targets) => setRemotes(world, "down", targets),
  "remote hangs": (world, targets) => setRemotes(world, "hangs", targets),
  "remote lags": (world, targets) => setRemotes(world, "lags", targets),
  "validators change": (world, targets) => setRemotes(world, "rotates validators", targets),
  "local down": ({ local }, targets) => local.set("down", targets.length > 0),
  "no events": ({ local }, targets) => local.set("no-events", targets.length > 0),
  "events shuffled": ({ local }, targets) => local.set("events-shuffled", targets.length > 0),
  "full blocks": ({ local }, targets) => local.set("full-blocks", targets.length > 0),
  "loses transactions": ({ local }, targets) => local.set("loses-txs", targets.length > 0),
  "no funds": ({ local }, targets) => local.set("no-funds", targets.length > 0),
  "refuses some": ({ local }, targets) => local.set("refuses-some", targets.length > 0),
  "no answers": ({ local }, targets) => local.set("no-answers", targets.length > 0),
  "late transactions": ({ local }, targets) => local.set("late-txs", targets.length > 0),
  "shared account": ({ local }, targets) => local.set("shared-account", targets.length > 0),
  "contract refuses": ({ local }, targets) => {
    for (const { id, type } of local.registered())
      if (type === "kv") local.reject(id, targets.includes(Number(id % 5n)));
  },
};

function setRemotes({ remotes }: SimWorld, fault: RemoteFault, targets: readonly number[]): void {
  for (const [index, remote] of remotes.entries()) remote.set(fault, targets.includes(index));
}

const KINDS = Object.keys(EFFECTS).filter((kind): kind is Kind => kind in EFFECTS);

/** Time after which the relayer has noticed a reset of the chains. */
const NOTICE_SECONDS = 8;

/** Draws a random plan for the first `seconds` of a simulation. */
export function drawPlan({ random }: SimWorld, seconds: number): FaultPlan {
  const faults = Array.from({ length: 3 + random.int(8) }, (): Fault => {
    const from = random.int(seconds - 10);
    const to = Math.min(seconds, from + 1 + random.int(25));
    return { kind: KINDS[random.int(KINDS.length)] ?? "no events", from, to, target: random.int(2) };
  });
  const resetAt = random.chance(0.2) ? 60 + random.int(20) : undefined;
  if (resetAt === undefined) return { faults, resetAt: undefined };
  // The relayer recognises a reset by the lower height, so no fault may hide it.
  const others = faults.filter(({ from, to }) => to <= resetAt || from > resetAt + NOTICE_SECONDS);
  return { faults: others, resetAt };
}

/** Applies the plan for one second. Registers, changes or removes a query at random. */
export function applyPlan(world: SimWorld, plan: FaultPlan, second: number): void {
  const active = plan.faults.filter(({ from, to }) => from <= second && second < to);
  for (const kind of KINDS)
    EFFECTS[kind](
      world,
      active.filter((one) => one.kind === kind).map(({ target }) => target),
    );
  if (plan.resetAt === second) reset(world);
  changeQueries(world);
}

/** Clears all faults. */
export function clearFaults(world: SimWorld): void {
  for (const kind of KINDS) EFFECTS[kind](world, []);
}

function reset({ local, remotes }: SimWorld): void {
  for (const remote of remotes) {
    remote.reset();
    remote.tick([]);
  }
  local.reset();
  local.set("no-events", true);
  local.set("no-events", false);
}

function changeQueries({ local, random }: SimWorld): void {
  const kv = local.registered().filter(({ type }) => type === "kv");
  const any = (): RegisteredQuery | undefined => kv[random.int(kv.length)];
  if (random.chance(0.05)) local.remove(any()?.id ?? 0n);
  if (random.chance(0.05)) local.update(any()?.id ?? 0n, BigInt(1 + random.int(9)));
  if (!random.chance(0.1)) return;
  const connectionId = `connection-${random.int(2)}`;
  const keys = [{ path: "bank", key: bankKey(random.int(9)) }];
  local.register({ type: "kv", connectionId, updatePeriod: BigInt(1 + random.int(5)), keys });
}
